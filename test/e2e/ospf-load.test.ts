// 10,000 sender prefixes across two real FRR routers: packed into few LSAs, and each in the same one for as long as it
// is declared, so that one change floods one LSA, which a second router shows.
import { byKind, origination } from '../../src/model/advertisement.fixture.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { address, formatAddress } from '../../src/model/address.ts';
import type { AdvertisementKinds } from '../../src/model/advertisement.ts';
import { formatPrefix, prefix } from '../../src/model/prefix.ts';
import type { OspfVersion } from '../../src/carriers/ospf/version.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { FrrNetwork, type FrrRouter } from './support/frr.ts';
import { DAEMON, VERSIONS, ospfConfig } from './support/ospf.ts';
import { CarrierAgent, areaLink, carrierOptions } from './support/ospf-carrier.ts';
import { is, until } from '../support/until.ts';

const A = '192.0.2.101';
const B = '192.0.2.102';
const SENDERS = 10_000;
const LIMIT = 60_000;

let net: FrrNetwork;
let poller: Poller;
let agents: CarrierAgent[];
let errors: unknown[];

beforeEach(() => {
  net = new FrrNetwork('t-ospfl');
  [agents, errors] = [[], []];
  poller = Poller.open({ onError: (error) => errors.push(error) });
});
afterEach(async () => {
  for (const { carrier } of agents) await carrier.stop();
  poller.close();
  await net.remove();
  expect(errors).toEqual([]);
});

function router(version: OspfVersion, n: number, toOther: string): FrrRouter {
  const frr = net.router(`r${n}`, '');
  frr.configureOspf(DAEMON(version), ospfConfig(version, { routerId: `192.0.2.${n}`, links: [areaLink(0), toOther] }));
  return frr;
}

async function agent(version: OspfVersion, frr: FrrRouter, routerId: string): Promise<CarrierAgent> {
  const started = new CarrierAgent(carrierOptions(version.version, routerId), { poller, netns: frr.netns });
  agents.push(started);
  await started.carrier.start();
  return started;
}

/** The nth sender prefix. */
const sender = (version: OspfVersion, n: number): AdvertisementKinds['sender-prefix'] =>
  version.version === 2
    ? { prefix: prefix(`10.${n >> 8}.${n & 255}.0/24`), proxy: address('198.51.100.1') }
    : { prefix: prefix(`2001:db8:${n.toString(16)}::/48`), proxy: address('2001:db8:ffff::1') };

/**
 * What a router's FRR lists of an agent's LSAs with prefixes: link-state ID and sequence number, as FRR writes them.
 */
async function listed(version: OspfVersion, frr: FrrRouter, of: string): Promise<Map<string, string>> {
  const text = await frr.show(
    version.version === 2 ? 'show ip ospf database' : 'show ipv6 ospf6 database',
    DAEMON(version),
  );
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/));
  // OSPFv2: ID, router, age, sequence number, checksum. OSPFv3: type, ID, router, age, sequence number, payload.
  if (version.version === 2)
    return new Map(rows.filter(([id, adv]) => adv === of && id!.startsWith('7.0.')).map((row) => [row[0]!, row[3]!]));
  return new Map(
    rows.filter(([type, , adv]) => adv === of && !['Rtr', 'Lnk'].includes(type!)).map((row) => [row[1]!, row[4]!]),
  );
}

test.each(VERSIONS)(
  '%s: 10,000 prefixes cross two routers in packed LSAs, and one that changes floods one of them',
  async (_name, version) => {
    const [r1, r2] = [router(version, 1, 'to2'), router(version, 2, 'to1')];
    net.link(r1, 'to2', r2, 'to1');
    r1.ip('addr', 'add', '10.99.1.1/30', 'dev', 'to2');
    r2.ip('addr', 'add', '10.99.1.2/30', 'dev', 'to1');
    const [a, b] = [await agent(version, r1, A), await agent(version, r2, B)];
    const declare = (proxies: readonly AdvertisementKinds['sender-prefix'][]): void =>
      a.carrier.originate(origination({ proxies }));
    const all = Array.from({ length: SENDERS }, (_, n) => sender(version, n));
    declare(all);
    await net.start();
    /** What the agent behind the second router holds with the flag, as `prefix proxy`. */
    const flagged = (): string[] =>
      [...b.reports.values()].flatMap(({ advertisements }) =>
        byKind(advertisements)
          .prefixes.filter(({ pnc }) => pnc)
          .map((p) => `${formatPrefix(p.prefix)} ${p.proxy ? formatAddress(p.proxy) : 'none'}`),
      );
    const desired = (proxies: readonly AdvertisementKinds['sender-prefix'][]): string[] =>
      proxies.map((p) => `${formatPrefix(p.prefix)} ${formatAddress(p.proxy!)}`).sort();
    await until('all arrived', () => flagged().length, is(SENDERS), LIMIT);
    expect(flagged().sort()).toEqual(desired(all));
    const before = await listed(version, r2, A);
    expect(before.size).toBeGreaterThan(100);
    expect(before.size).toBeLessThan(version.version === 2 ? 280 : 420);

    const changed = all.with(5000, sender(version, 20_000));
    declare(changed);
    const [gone, come] = [desired([all[5000]!])[0]!, desired([changed[5000]!])[0]!];
    await until(
      'the change arrived',
      () => flagged(),
      (now) => now.includes(come) && !now.includes(gone),
      LIMIT,
    );
    const after = await listed(version, r2, A);
    expect([...after].filter(([id, sequence]) => before.get(id) !== sequence)).toHaveLength(1);
    expect([...after.keys()]).toEqual([...before.keys()]);
    expect(flagged().sort()).toEqual(desired(changed));
    expect(a.count(`${version.name}.own.issued`)).toBe(before.size + 1 + (version.version === 2 ? 1 : 2));
  },
);
