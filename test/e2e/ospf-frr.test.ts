// The OSPF core against real ospfd and ospf6d: adjacency, database exchange in both directions, flags across FRR byte
// for byte, authentication, MTU, restart.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prefix } from '../../src/model/prefix.ts';
import { address, formatAddress } from '../../src/model/address.ts';
import { OSPFV2, type OspfVersion, type OwnLsa } from '../../src/carriers/ospf/version.ts';
import { type KernelChange, openMonitor } from '../../src/kernel/netlink/monitor.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { askDaemon } from '../../src/frr/vty.ts';
import type { AuthenticationKey } from '../../src/packet/ospf/digest.ts';
import { encodeLsa } from '../../src/packet/ospf/lsa.ts';
import { toHex } from '../../src/packet/hex.ts';
import { opaqueLsId } from '../../src/packet/ospf/lsa-type.ts';
import { extendedFlags } from '../../src/packet/ospf/prefix-sub-tlvs.ts';
import { lsaKeyText, parseId } from '../../src/packet/ospf/router-id.ts';
import { FrrNetwork, type FrrRouter } from './support/frr.ts';
import { type AgentOptions, DAEMON, LINK, OspfAgent, VERSIONS, ospfConfig } from './support/ospf.ts';
import { atLeast, contains, is, matches, moreThan, until } from '../support/until.ts';

const A = '192.0.2.101';
const B = '192.0.2.102';
const secret = new TextEncoder().encode('s3cret');

let net: FrrNetwork;
let poller: Poller;
let agents: OspfAgent[];
let errors: unknown[];

beforeEach(() => {
  net = new FrrNetwork('t-ospf');
  agents = [];
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
});

afterEach(async () => {
  for (const agent of agents) await agent.remove();
  poller.close();
  await net.remove();
  expect(errors).toEqual([]);
});

interface RouterOptions {
  readonly links?: readonly string[];
  readonly linkLines?: readonly string[];
  readonly lines?: readonly string[];
}

function router(version: OspfVersion, n: number, { links = [], ...rest }: RouterOptions = {}): FrrRouter {
  const frr = net.router(`r${n}`, '');
  frr.configureOspf(
    DAEMON(version),
    ospfConfig(version, { routerId: `192.0.2.${n}`, links: [LINK, ...links], ...rest }),
  );
  return frr;
}

async function agent(version: OspfVersion, frr: FrrRouter, options: AgentOptions): Promise<OspfAgent> {
  const started = await OspfAgent.start(version, frr, options, poller);
  agents.push(started);
  return started;
}

const full = (a: OspfAgent): Promise<unknown> => until('full', () => a.state, is('full'), 60_000);

/** A sender prefix with the P-flag and its proxy. */
function sender(version: OspfVersion, n: number): OwnLsa {
  const flags = { kind: 'prefix-extended-flags' as const, flags: extendedFlags(2) };
  if (version.version === 2) {
    const subTlvs = [flags, { kind: 'source-router-address' as const, address: address('192.0.2.101') }];
    const tlv = {
      kind: 'extended-prefix' as const,
      routeType: 1,
      flags: 0,
      prefix: prefix(`10.${n >> 8}.${n & 255}.0/24`),
      subTlvs,
    };
    return { type: 10, lsId: opaqueLsId(7, n), body: { kind: 'extended-prefix-lsa', tlvs: [tlv] } };
  }
  const subTlvs = [flags, { kind: 'source-router-address' as const, address: address('2001:db8:ffff::1') }];
  const tlv = {
    kind: 'intra-area-prefix-tlv' as const,
    flags: 0,
    metric: 1,
    prefixOptions: 0,
    prefix: prefix(`2001:db8:${n.toString(16)}::/48`),
    subTlvs,
  };
  const referenced = { type: 0x2001, lsId: 0, advertisingRouter: parseId(A)! };
  return { type: 0xa029, lsId: n, body: { kind: 'e-intra-area-prefix', referenced, tlvs: [tlv] } };
}

const keyOf = (id: string, { type, lsId }: OwnLsa): string =>
  lsaKeyText({ type, lsId, advertisingRouter: parseId(id)! });
const contents = (version: OspfVersion, lsa: OwnLsa): string =>
  toHex(
    encodeLsa(version.version, { age: 0, options: 0, advertisingRouter: 0, sequence: 1, ...lsa }, lsa.body).subarray(
      20,
    ),
  );

/** Two agents behind two routers. */
async function pair(version: OspfVersion): Promise<{ a: OspfAgent; b: OspfAgent; r1: FrrRouter; r2: FrrRouter }> {
  const r1 = router(version, 1, { links: ['to2'] });
  const r2 = router(version, 2, { links: ['to1'] });
  net.link(r1, 'to2', r2, 'to1');
  if (version.version === 2) {
    r1.ip('addr', 'add', '10.12.0.1/30', 'dev', 'to2');
    r2.ip('addr', 'add', '10.12.0.2/30', 'dev', 'to1');
  }
  const a = await agent(version, r1, { routerId: A });
  const b = await agent(version, r2, { routerId: B });
  await net.start();
  await Promise.all([full(a), full(b)]);
  return { a, b, r1, r2 };
}

const neighborTable = (version: OspfVersion, frr: FrrRouter): Promise<string> =>
  frr.show(version.version === 2 ? 'show ip ospf neighbor' : 'show ipv6 ospf6 neighbor', DAEMON(version));

describe.each(VERSIONS)('%s', (_name, version) => {
  test.each([
    ['slave', '192.0.2.200'],
    ['master', '0.0.0.9'],
  ] as const)('FRR as %s: both are Full, and FRR has our LSAs', async (_role, routerId) => {
    const r1 = router(version, 1);
    const a = await agent(version, r1, { routerId });
    await net.start();
    await full(a);
    await until(
      'FRR shows Full',
      () => neighborTable(version, r1),
      matches(new RegExp(`${routerId.replaceAll('.', '\\.')} .*Full`)),
      60_000,
    );
    const command = version.version === 2 ? 'show ip ospf database' : 'show ipv6 ospf6 database';
    await until('our Router-LSA', () => r1.show(command, DAEMON(version)), contains(routerId));
  });

  test('PNC-5.2-a PNC-5.3-a: prefix, flag and proxy cross two FRR routers byte for byte; a change and a withdrawal follow', async () => {
    const { a, b } = await pair(version);
    const lsas = [0, 1, 2].map((n) => sender(version, n));
    a.originate(lsas);
    for (const lsa of lsas)
      await until(
        'arrived',
        () => b.learned.get(keyOf(A, lsa)),
        (is) => is === contents(version, lsa),
        60_000,
      );
    a.originate(lsas.slice(1));
    await until(
      'withdrawn',
      () => b.learned,
      (all) => !all.has(keyOf(A, lsas[0]!)),
      60_000,
    );
    expect(b.learned.get(keyOf(A, lsas[1]!))).toBe(contents(version, lsas[1]!));
    expect(await a.runner.stop()).toBe(true);
    await until(
      'all gone',
      () => [...b.learned.keys()],
      (all) => !all.some((key) => key.endsWith(`/${parseId(A)}`)),
      60_000,
    );
  });

  test('killed and started again: the stale LSA goes, the others are kept', async () => {
    const { a, b, r1 } = await pair(version);
    const lsas = [0, 1].map((n) => sender(version, n));
    a.originate(lsas);
    await until(
      'arrived',
      () => lsas,
      (all) => all.every((lsa) => b.learned.has(keyOf(A, lsa))),
      60_000,
    );
    await a.remove();
    agents = agents.filter((other) => other !== a);
    let lost = false;
    const again = await agent(version, r1, { routerId: A });
    again.originate(lsas.slice(1));
    await until(
      'full again, the stale one gone',
      () => {
        lost ||= !b.learned.has(keyOf(A, lsas[1]!));
        return { state: again.state, learned: [...b.learned.keys()] };
      },
      ({ state, learned }) => state === 'full' && !learned.includes(keyOf(A, lsas[0]!)),
      60_000,
    );
    expect(lost).toBe(false);
    expect(b.learned.get(keyOf(A, lsas[1]!))).toBe(contents(version, lsas[1]!));
  });

  test('the interface is deleted: it is made again, and the adjacency comes up again', async () => {
    const r1 = router(version, 1);
    const a = await agent(version, r1, { routerId: A });
    await net.start();
    await full(a);
    r1.ip('link', 'del', LINK);
    await until(
      'noticed',
      () => [a.count(`${version.name}.interface.vanished`), a.state] as const,
      ([a, b]) => a === 1 && b !== 'full',
    );
    await full(a);
  });

  test('the addresses of FRR’s end are announced once more: zebra drops one that it reads before the interface', async () => {
    const r1 = router(version, 1);
    const seen: string[] = [];
    const onChange = (c: KernelChange): void =>
      void (c.kind === 'address' && !c.removed && seen.push(formatAddress(c.address.address)));
    const monitor = openMonitor(
      { netns: r1.netns },
      { poller, onChange, onResync: () => undefined, onError: (error) => errors.push(error) },
    );
    await agent(version, r1, { routerId: A });
    const routerAddress = version.version === 2 ? '169.254.89.0' : 'fe80::63:6eff:fe70:301';
    await until('twice', () => seen.filter((each) => each === routerAddress).length, atLeast(2));
    expect(r1.ip('-o', 'addr', 'show', 'dev', LINK).split(`${routerAddress}/`)).toHaveLength(2);
    monitor.close();
  });

  test('FRR is killed and started again: the adjacency comes up again, and it has our LSAs', async () => {
    const { a, b, r2 } = await pair(version);
    const lsa = sender(version, 0);
    a.originate([lsa]);
    await until(
      'arrived',
      () => b.learned.get(keyOf(A, lsa)),
      (is) => is === contents(version, lsa),
      60_000,
    );
    await r2.stop(DAEMON(version), 'SIGKILL');
    await until('lost', () => b.state, is('none'), 60_000);
    await r2.start();
    await full(b);
    expect(b.learned.get(keyOf(A, lsa))).toBe(contents(version, lsa));
  });

  const algorithm = version.version === 2 ? ('md5' as const) : ('hmac-sha-256' as const);
  const keyLines = (text: string): string[] =>
    version.version === 2
      ? ['ip ospf authentication message-digest', `ip ospf message-digest-key 7 md5 ${text}`]
      : [`ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key ${text}`];
  const key: AuthenticationKey = { id: 7, algorithm, secret };

  test('authentication: the right key comes to Full', async () => {
    const r1 = router(version, 1, { linkLines: keyLines('s3cret') });
    const a = await agent(version, r1, { routerId: A, area: { keys: [key] } });
    await net.start();
    await full(a);
    await until('FRR shows Full', () => neighborTable(version, r1), matches(/Full/), 60_000);
  });

  // ospf6d has one key a link, and 8.4.4 does not always outlive its removal.
  test.runIf(version.version === 2)('authentication: keys change in flight, and the adjacency lives on', async () => {
    const r1 = router(version, 1, { linkLines: keyLines('s3cret') });
    const a = await agent(version, r1, { routerId: A, area: { keys: [key] } });
    await net.start();
    await full(a);
    const { neighbor } = a.runner.speaker.areas.get(0)!;
    const since = neighbor!.since;
    const next: AuthenticationKey = { id: 8, algorithm, secret: new TextEncoder().encode('n3xt') };
    const vtysh = async (line: string): Promise<void> => {
      const replies = await askDaemon(r1.vtyDir, DAEMON(version), [
        'enable',
        'configure terminal',
        `interface ${LINK}`,
        line,
      ]);
      expect(replies.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    };
    // As an operator does it. ospfd 8.4.4 accepts only the key that it was given last, so that ours has to follow
    // within the dead interval.
    const change = async (): Promise<void> => {
      await vtysh('ip ospf message-digest-key 8 md5 n3xt');
      a.keys([next, key]);
    };
    const steps: (() => void | Promise<void>)[] = [
      () => a.keys([key, next]),
      change,
      () => vtysh('no ip ospf message-digest-key 7'),
      () => a.keys([next]),
    ];
    for (const step of steps) {
      await step();
      const heard = a.count(`${version.name}.rx.hello`);
      await until('hellos with it', () => a.count(`${version.name}.rx.hello`), moreThan(heard + 5));
    }
    expect({ state: a.state, since: a.runner.speaker.areas.get(0)!.neighbor!.since }).toEqual({ state: 'full', since });
    expect(await neighborTable(version, r1)).toMatch(/Full/);
    expect([...a.counters.keys()].filter((name) => name.includes('authentication'))).toEqual([]);
  });

  test('authentication: a wrong key does not, and is counted', async () => {
    const r1 = router(version, 1, { linkLines: keyLines('other') });
    const a = await agent(version, r1, { routerId: A, area: { keys: [key] } });
    await net.start();
    await until('counted', () => a.count(`${version.name}.authentication.wrong`), moreThan(2));
    expect(a.state).toBe('none');
  });

  test('an MTU that is larger at FRR keeps the exchange from beginning, and is counted', async () => {
    const r1 = router(version, 1);
    const a = await agent(version, r1, { routerId: A, mtu: 1400, frrMtu: 1500 });
    await net.start();
    await until('counted', () => a.count(`${version.name}.exchange.mtu-mismatch`), moreThan(0));
    expect(a.state).toBe('ex-start');
  });
});

// Not OSPFv3: ospf6d reads no more than the MTU of a packet, and keeps its own LSAs below it.
describe('OSPFv2, an LSA of twice the MTU', () => {
  test('goes out and comes in, in fragments, byte for byte', async () => {
    const { a, b } = await pair(OSPFV2);
    const container = Uint8Array.from({ length: 3000 }, (_, i) => i & 255);
    const large: OwnLsa = { type: 10, lsId: opaqueLsId(240, 1), body: { kind: 'private', container } };
    a.originate([large]);
    await until(
      'arrived',
      () => b.learned.get(keyOf(A, large)),
      (is) => is === toHex(container),
      60_000,
    );
  });
});

describe('OSPFv2 beside an ospfd without "capability opaque"', () => {
  test('is Full without a loop, and shows what is missing', async () => {
    const r1 = router(OSPFV2, 1, { lines: [] });
    const a = await agent(OSPFV2, r1, { routerId: A });
    a.originate([sender(OSPFV2, 0)]);
    await net.start();
    await full(a);
    expect(a.count('ospfv2.neighbor.no-opaque')).toBe(1);
    expect(a.count('ospfv2.neighbor.sequence-number-mismatch')).toBe(0);
    expect(a.count('ospfv2.tx.database-description')).toBeLessThan(10);
  });
});
