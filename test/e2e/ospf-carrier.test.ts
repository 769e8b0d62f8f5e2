// The OSPF carriers, whole, beside real ospfd, ospf6d and BIRD: what one agent declares another learns, across routers
// that know nothing of it; END.CON; withdrawal; a killed agent; areas.
import { byKind, origination, type Declared } from '../../src/model/advertisement.fixture.ts';
import type { ChildProcess } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Origination } from '../../src/model/advertisement.ts';
import { askDaemon } from '../../src/frr/vty.ts';
import { address, formatAddress } from '../../src/model/address.ts';
import { topologyText } from '../../src/model/topology.fixture.ts';
import { prefix } from '../../src/model/prefix.ts';
import { understood } from '../../src/model/understood.ts';
import { rawLsa } from '../../src/carriers/ospf/carrier.fixture.ts';
import type { OspfCarrierOptions } from '../../src/carriers/ospf/carrier.ts';
import type { OspfVersion } from '../../src/carriers/ospf/version.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { toHex } from '../../src/packet/hex.ts';
import { parseId } from '../../src/packet/ospf/router-id.ts';
import { FrrNetwork, type FrrRouter } from './support/frr.ts';
import { DAEMON, VERSIONS, ospfConfig } from './support/ospf.ts';
import { BirdRouter, CarrierAgent, areaLink, carrierOptions } from './support/ospf-carrier.ts';
import { Processes } from './support/processes.ts';
import { is, moreThan, until } from '../support/until.ts';

const A = '192.0.2.101';
const B = '192.0.2.102';
const BORDER = '192.0.2.103';
const LIMIT = 60_000;
const UNDERSTOOD = understood(['long-haul-roce'])!;

let net: FrrNetwork;
let poller: Poller;
let agents: CarrierAgent[];
let processes: Processes;
let birds: BirdRouter[];
let errors: unknown[];

beforeEach(() => {
  net = new FrrNetwork('t-ospfc');
  [agents, birds, errors, processes] = [[], [], [], new Processes()];
  poller = Poller.open({ onError: (error) => errors.push(error) });
});

afterEach(async () => {
  await processes.end();
  for (const { carrier } of agents) await carrier.stop();
  poller.close();
  for (const bird of birds) await bird.remove();
  await net.remove();
  expect(errors).toEqual([]);
});

/** A router whose OSPF runs on these links; areas other than the backbone are given by link. */
function router(
  version: OspfVersion,
  n: number,
  links: readonly string[],
  areas: Readonly<Record<string, string>> = {},
): FrrRouter {
  const frr = net.router(`r${n}`, '');
  frr.configureOspf(DAEMON(version), ospfConfig(version, { routerId: `192.0.2.${n}`, links, areas }));
  return frr;
}

function connect(
  a: Pick<FrrRouter, 'name' | 'ip'>,
  nameA: string,
  b: Pick<FrrRouter, 'name' | 'ip'>,
  nameB: string,
  n: number,
): void {
  net.link(a, nameA, b, nameB);
  a.ip('addr', 'add', `10.99.${n}.1/30`, 'dev', nameA);
  b.ip('addr', 'add', `10.99.${n}.2/30`, 'dev', nameB);
}

async function agent(
  version: OspfVersion,
  frr: FrrRouter,
  routerId: string,
  areas?: readonly string[],
  rest: Partial<OspfCarrierOptions> = {},
): Promise<CarrierAgent> {
  const started = new CarrierAgent(
    { ...carrierOptions(version.version, routerId, areas), ...rest },
    { poller, netns: frr.netns },
  );
  agents.push(started);
  await started.carrier.start();
  return started;
}

const text = (version: OspfVersion, n: number): string =>
  version.version === 2 ? `10.${n}.0.0/16` : `2001:db8:${n}::/48`;
const proxyText = (version: OspfVersion, n: number): string =>
  version.version === 2 ? `198.51.100.${n}` : `2001:db8:ffff::${n}`;
const declaration = (
  version: OspfVersion,
  prefixes: readonly number[],
  proxy: number,
  rest: Declared = {},
): Origination =>
  origination({
    proxies: prefixes.map((n) => ({ prefix: prefix(text(version, n)), proxy: address(proxyText(version, proxy)) })),
    ...rest,
  });

/** Agents A and B behind routers r1 and r2. */
async function line(version: OspfVersion): Promise<{ r1: FrrRouter; r2: FrrRouter }> {
  const [r1, r2] = [router(version, 1, [areaLink(0), 'to2']), router(version, 2, [areaLink(0), 'to1'])];
  connect(r1, 'to2', r2, 'to1', 1);
  return { r1, r2 };
}

/** Contents of an agent's LSAs that carry entries, by type and link-state ID, as `at` has them. */
function copies(at: CarrierAgent, of: string, areaId = 0): string[] {
  const rows = at.carrier
    .database()
    .filter(({ router: id, type }) => id === of && !['router', 'Router', 'Link'].includes(type));
  const types: Readonly<Record<string, number>> = {
    'extended-prefix': 10,
    cnpd: 10,
    'traffic-engineering': 10,
    'E-Intra-Area-Prefix': 0xa029,
    'E-Inter-Area-Prefix': 0xa023,
    'SRv6-Locator': 0xa02a,
    'Router-Information': 0xa00c,
    'Intra-Area-TE': 0xa00a,
  };
  return rows.map(({ type, lsId }) => {
    const raw = rawLsa(at.carrier, areaId, {
      type: types[type]!,
      lsId: parseId(lsId)!,
      advertisingRouter: parseId(of)!,
    })!;
    // Without age and the header's options, which routers may not change either, the LSA is the same everywhere.
    return `${type} ${lsId} ${toHex(raw.subarray(2))}`;
  });
}

describe.each(VERSIONS)('%s', (_name, version) => {
  const sid = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 };

  test('PNC-5-b PNC-5.2-a PNC-5.3-a: what one agent declares the other learns, across two FRR routers, byte for byte; FRR installs no route', async () => {
    const { r1, r2 } = await line(version);
    const [a, b] = [await agent(version, r1, A), await agent(version, r2, B)];
    a.carrier.originate(
      declaration(version, [1, 2], 1, { sids: [sid], routerAddresses: [address(proxyText(version, 1))] }),
    );
    // The last one has no proxy: only what its senders understand.
    const [both, alone] = [3, 4].map((n) => ({ prefix: prefix(text(version, n)), supports: UNDERSTOOD }));
    b.carrier.originate(origination({ proxies: [{ ...both!, proxy: address(proxyText(version, 2)) }, alone!] }));
    await net.start();
    await until(
      'learned',
      () =>
        [
          b.flagged(text(version, 1)).length,
          b.flagged(text(version, 2)).length,
          a.flagged(text(version, 3)).length,
        ] as const,
      ([a, b, c]) => a > 0 && b > 0 && c > 0,
      LIMIT,
    );
    expect(b.learned(text(version, 1))).toEqual([`0.0.0.0 ${A} ${proxyText(version, 1)}`]);
    expect(a.learned(text(version, 3))).toEqual([`0.0.0.0 ${B} ${proxyText(version, 2)}`]);
    await until('what senders understand', () => a.supports(text(version, 4)), is([UNDERSTOOD]), LIMIT);
    expect(a.supports(text(version, 3))).toEqual([UNDERSTOOD]);
    expect(a.flagged(text(version, 4))).toEqual([]);
    await until(
      'SID and router address',
      () => [...b.reports.values()].map((r) => byKind(r.advertisements)),
      (reports) =>
        reports.some(({ sids }) => sids.length === 1) &&
        reports.some(({ routerAddresses }) => routerAddresses.length === 1),
      LIMIT,
    );
    expect(
      [...b.reports.values()]
        .flatMap((r) => byKind(r.advertisements).sids)
        .map((s) => [formatAddress(s.sid), s.behavior]),
    ).toEqual([['2001:db8:c::1', 0x8002]]);
    expect(copies(b, A)).toEqual(copies(a, A));
    expect(copies(a, A).length).toBe(version.version === 2 ? 3 : 4);
    const family = version.version === 2 ? '-4' : '-6';
    for (const frr of [r1, r2])
      for (const n of [1, 2, 3]) expect(frr.ip(family, 'route', 'show', text(version, n))).toBe('');
    expect(frrSafe(a.counters)).toEqual([]);
  });

  test('D5: an ordinary prefix of FRR is learned without flag; a withdrawal and a clean stop reach the other agent', async () => {
    const { r1, r2 } = await line(version);
    const [a, b] = [await agent(version, r1, A), await agent(version, r2, B)];
    a.carrier.originate(declaration(version, [1, 2], 1));
    await net.start();
    if (version.version === 2)
      await until(
        'FRR’s link',
        () => b.learned('10.99.1.0/30'),
        (all) => all.some((row) => row.endsWith(' -')),
        LIMIT,
      );
    await until('learned', () => b.flagged(text(version, 1)).length, moreThan(0), LIMIT);
    a.carrier.originate(declaration(version, [2], 1));
    await until('withdrawn', () => b.learned(text(version, 1)).length, is(0), LIMIT);
    expect(b.flagged(text(version, 2))).toHaveLength(1);
    await a.carrier.stop();
    await until('all gone', () => b.learned(text(version, 2)).length, is(0), LIMIT);
    expect(r1.ip('link', 'show')).not.toContain(areaLink(0));
  });

  test('both agents report the same topology: costs, originators, and the cnpd beside each router', async () => {
    const { r1, r2 } = await line(version);
    const asked = { reportsTopology: true };
    const [a, b] = [await agent(version, r1, A, undefined, asked), await agent(version, r2, B, undefined, asked)];
    await net.start();
    const name = (id: string): string => `r${parseId(id)!}`;
    const node = (id: string, ...links: readonly (readonly [string, number])[]): string =>
      `${name(id)} (0.0.0.0 ${id}): ${links
        .map(([to, cost]) => `${name(to)} ${cost}`)
        .sort()
        .join(', ')}`;
    const shown = (): string[][] => [a, b].map(({ topology }) => topology.flatMap(topologyText));
    const cost = (ofA: CarrierAgent): number =>
      ofA.topology[0]?.nodes.get(name('192.0.2.1'))?.links.find(({ to }) => to === name(A))?.cost ?? NaN;
    const expected = (toR2: number): string[] =>
      [
        node('192.0.2.1', [A, cost(a)], ['192.0.2.2', toR2]),
        node('192.0.2.2', [B, cost(a)], ['192.0.2.1', cost(a)]),
        `stub ${node(A, ['192.0.2.1', 0xffff])}`,
        `stub ${node(B, ['192.0.2.2', 0xffff])}`,
      ].sort();
    const both = (what: string, toR2: () => number): Promise<unknown> =>
      until(what, shown, (seen) => isDeepStrictEqual(seen, [expected(toR2()), expected(toR2())]), LIMIT);
    await both('the same', () => cost(a));
    expect([a, b].map(({ topology }) => topology.map(({ area, self }) => [area, self]))).toEqual([
      [['0.0.0.0', name(A)]],
      [['0.0.0.0', name(B)]],
    ]);
    const command = version.version === 2 ? 'ip ospf cost 77' : 'ipv6 ospf6 cost 77';
    await askDaemon(r1.vtyDir, DAEMON(version), ['configure terminal', 'interface to2', command]);
    await both('a cost', () => 77);
  });

  test('kill -9 and restart: the stale prefix goes, the other is never lost', async () => {
    const { r1, r2 } = await line(version);
    const b = await agent(version, r2, B);
    await net.start();
    const first = await run(version, r1, [1, 2]);
    await until(
      'learned',
      () => [b.flagged(text(version, 1)).length, b.flagged(text(version, 2)).length] as const,
      ([a, b]) => a > 0 && b > 0,
      LIMIT,
    );
    await processes.kill(first);
    const advertised = (): string[] =>
      [...b.reports.values()].flatMap(({ advertisements }) =>
        byKind(advertisements)
          .prefixes.filter((p) => p.pnc && p.proxy)
          .map((p) => `${formatAddress(p.prefix.address)}/${p.prefix.length}`),
      );
    await run(version, r1, [2]);
    await until(
      'the stale one is gone',
      () => {
        expect(advertised()).toContain(text(version, 2));
        return advertised();
      },
      (prefixes) => !prefixes.includes(text(version, 1)),
      LIMIT,
    );
    await until('reachable again', () => b.flagged(text(version, 2)).length, is(1), LIMIT);
    expect(b.flagged(text(version, 2))).toEqual([`0.0.0.0 ${A} ${proxyText(version, 1)}`]);
  });

  test('PNC-5.2-b PNC-5.2-c PNC-5.3-b PNC-5.3-c A15: an agent in two areas leaks flag and proxy address in both directions; a withdrawal follows', async () => {
    const leaf = router(version, 1, [areaLink(0), 'to2'], { [areaLink(0)]: '0.0.0.1', to2: '0.0.0.1' });
    const abr = router(version, 2, [areaLink(0), areaLink(1), 'to1', 'to3'], {
      [areaLink(1)]: '0.0.0.1',
      to1: '0.0.0.1',
    });
    const core = router(version, 3, [areaLink(0), 'to2']);
    connect(leaf, 'to2', abr, 'to1', 1);
    connect(abr, 'to3', core, 'to2', 2);
    const [a, border, b] = [
      await agent(version, leaf, A, ['0.0.0.1']),
      await agent(version, abr, BORDER, ['0.0.0.0', '0.0.0.1']),
      await agent(version, core, B),
    ];
    a.carrier.originate(declaration(version, [1], 1));
    b.carrier.originate(declaration(version, [2], 2));
    border.carrier.originate(declaration(version, [], 3));
    await net.start();
    await until(
      'leaked',
      () => [b.flagged(text(version, 1)).length, a.flagged(text(version, 2)).length] as const,
      ([a, b]) => a > 0 && b > 0,
      LIMIT,
    );
    expect(b.flagged(text(version, 1))).toEqual([`0.0.0.0 ${BORDER} ${proxyText(version, 1)}`]);
    expect(a.flagged(text(version, 2))).toEqual([`0.0.0.1 ${BORDER} ${proxyText(version, 2)}`]);
    // No echo.
    expect(a.learned(text(version, 1))).toEqual([]);
    expect(b.learned(text(version, 2))).toEqual([]);
    a.carrier.originate(declaration(version, [], 1));
    await until('withdrawn', () => b.learned(text(version, 1)).length, is(0), LIMIT);
    expect(border.count(`${version.name}.carry.withdrawn`)).toBe(1);
  });
});

/** Counters that would say that FRR was given something it does not like. */
const frrSafe = (counters: ReadonlyMap<string, number>): string[] =>
  [...counters.keys()].filter((name) => /bad-request|sequence-number-mismatch|no-opaque/.test(name));

/** An agent in a process of its own. */
function run(version: OspfVersion, frr: FrrRouter, prefixes: readonly number[]): Promise<ChildProcess> {
  const args = [String(version.version), A, proxyText(version, 1), ...prefixes.map((n) => text(version, n))];
  return processes.launch('ospf-agent', frr, args);
}

test.each(VERSIONS)(
  'PNC-5.2-a PNC-5.3-a: %s across FRR, BIRD and FRR: byte for byte, in both directions',
  async (_name, version) => {
    const [r1, r2] = [router(version, 1, [areaLink(0), 'tobird']), router(version, 2, [areaLink(0), 'tobird'])];
    const bird = new BirdRouter(`${r1.name}-bird`);
    birds.push(bird);
    connect(r1, 'tobird', bird, 'to1', 1);
    connect(bird, 'to2', r2, 'tobird', 2);
    bird.start('192.0.2.50', ['to1', 'to2'], { version: version.version });
    const [a, b] = [await agent(version, r1, A), await agent(version, r2, B)];
    const sid = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 };
    a.carrier.originate(declaration(version, [1, 2], 1, { sids: [sid] }));
    b.carrier.originate(declaration(version, [3], 2));
    await net.start();
    await until(
      'learned',
      () => [b.flagged(text(version, 1)).length, a.flagged(text(version, 3)).length] as const,
      ([a, b]) => a > 0 && b > 0,
      LIMIT,
    );
    await until(
      'SID',
      () => [...b.reports.values()],
      (all) => all.some((r) => byKind(r.advertisements).sids.length === 1),
      LIMIT,
    );
    expect(copies(b, A)).toEqual(copies(a, A));
    expect(copies(a, B)).toEqual(copies(b, B));
    expect(bird.show('route')).not.toContain(text(version, 1));
  },
);
