// SIDs and router addresses: what is declared, what an LSP contains, what is learned from it, and what is leaked.
import { type Declared, byKind, origination } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import type { CodePointValues } from '../../../model/code-points.ts';
import { prefix } from '../../../model/prefix.ts';
import { hasFlag } from '../../../packet/bit-string.ts';
import { fromHex } from '../../../packet/hex.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import { encodeTlv } from '../../../packet/isis/tlvs.ts';
import type { IsisTlv, Locator, PrefixSubTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { PROXY_LSP } from '../../../packet/isis/vectors.fixture.ts';
import { readByKind } from './reading.fixture.ts';
import { C, adjacency, lsp, reachedOnce } from '../hostile.fixture.ts';
import { Router } from '../router.fixture.ts';
import { END_CON, Agent, Simulation, endCon, originate, proxied, testConfig } from '../simulation.fixture.ts';

const SID = '2001:db8:c::1';
const LOCATOR = '2001:db8:c::/48';
const [ORIGIN, AGENT_A, AGENT_B, LEARNER] = [
  '0000.0000.0001',
  '0000.0000.00aa',
  '0000.0000.00bb',
  '0000.0000.00ff',
] as const;

const sid = (text: string, behavior = END_CON): PrefixSubTlv => ({
  kind: 'srv6-end-sid',
  flags: 0,
  behavior,
  sid: address(text),
  subSubTlvs: new Uint8Array(),
});
const locator = (text: string, subTlvs: readonly PrefixSubTlv[], rest: Partial<Locator> = {}): Locator => ({
  prefix: prefix(text),
  metric: 10,
  flags: 0,
  algorithm: 0,
  subTlvs,
  ...rest,
});
const tlv27 = (locators: readonly Locator[], mtId = 0): IsisTlv => ({ kind: 'srv6-locator', mtId, locators });
const sidsOf = (agent: Agent): string[] => agent.sids().map((s) => `${formatAddress(s.sid)} ${s.behavior}`);

/** One router of both levels with stubs around it. */
function net() {
  const simulation = new Simulation();
  const router = new Router(simulation, '0000.0000.1111');
  let seed = 10;
  const add = (system: string, levels: readonly Level[]): Agent => {
    const agent = new Agent(simulation, testConfig(system, { levels, seed: seed++ }));
    simulation.wire(agent.attach, router.attach);
    return agent;
  };
  return { simulation, router, add };
}

/** The TLVs of a system in a level, as stored by the router. */
function tlvs(router: Router, level: Level, system: string): IsisTlv[] {
  return [...router.lsps[level]]
    .filter(([key, held]) => key.startsWith(system) && held.lifetime > 0)
    .flatMap(([, held]) => {
      const decoded = decodePdu(held.raw);
      return decoded.ok && decoded.value.kind === 'lsp' ? [...decoded.value.tlvs] : [];
    });
}

const locators = (router: Router, level: Level, system: string): Locator[] =>
  tlvs(router, level, system).flatMap((t) => (t.kind === 'srv6-locator' ? t.locators : []));

describe('declared SIDs and router addresses', () => {
  test('FCN-4.2.2-a: TLV 27 with the locator at the signaling metric and the SID with its behavior; the other end learns it', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const learner = add(LEARNER, [2]);
    origin.event(originate([], { sids: [endCon(SID, LOCATOR)] }));
    simulation.run(10_000);
    expect(locators(router, 2, ORIGIN)).toEqual([locator(LOCATOR, [sid(SID)], { metric: 0xfe000001 })]);
    expect(sidsOf(learner)).toEqual([`${SID} ${END_CON}`]);
    origin.event(originate([]));
    simulation.run(3000);
    expect(locators(router, 2, ORIGIN)).toEqual([]);
    expect(sidsOf(learner)).toEqual([]);
  });

  test('the SIDs of one locator share an entry, next to prefixes; a change affects only its fragment', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const sids = [endCon(SID, LOCATOR), endCon('2001:db8:d::1', '2001:db8:d::/48'), endCon('2001:db8:c::2', LOCATOR)];
    origin.event(originate([proxied('2001:db8:1::/64'), proxied('10.0.0.0/8')], { sids }));
    simulation.run(10_000);
    expect(locators(router, 2, ORIGIN)).toMatchObject([
      { prefix: prefix(LOCATOR), subTlvs: [sid(SID), sid('2001:db8:c::2')] },
      { prefix: prefix('2001:db8:d::/48'), subTlvs: [sid('2001:db8:d::1')] },
    ]);
    const issued = origin.count('isis.own.issued');
    origin.event(originate([proxied('2001:db8:1::/64'), proxied('10.0.0.0/8')], { sids: sids.slice(0, 2) }));
    simulation.run(3000);
    expect(locators(router, 2, ORIGIN)).toMatchObject([{ subTlvs: [sid(SID)] }, { subTlvs: [sid('2001:db8:d::1')] }]);
    expect(origin.count('isis.own.issued')).toBe(issued + 1);
  });

  test('500 SIDs of one locator are spread over as many TLVs and fragments as needed', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const learner = add(LEARNER, [2]);
    const sids = Array.from({ length: 500 }, (_, i) => endCon(`2001:db8:c::${(i + 1).toString(16)}`, LOCATOR));
    origin.event(originate([], { sids }));
    simulation.run(20_000);
    expect(new Set(sidsOf(learner)).size).toBe(500);
    const sent = tlvs(router, 2, ORIGIN).filter((t) => t.kind === 'srv6-locator');
    // 253 bytes after the topology hold a /48 locator and ten SIDs.
    expect(sent.map((t) => t.locators.map((l) => l.subTlvs.length))).toContainEqual([10]);
    for (const t of sent) expect(t.locators).toHaveLength(1);
    expect(Math.max(...sent.map((t) => encodeTlv(t).length))).toBeLessThanOrEqual(257);
    expect(origin.count('isis.originate.no-room')).toBe(0);
  });

  test.each([
    ['outside its locator', endCon('2001:db8:d::1', LOCATOR)],
    ['whose locator has length 0', endCon(SID, '::/0')],
    ['that is multicast', endCon('ff02::1', 'ff00::/8')],
    ['that is not an IPv6 address', endCon('192.0.2.1', '192.0.2.0/24')],
  ])('a SID %s is not advertised, and counted', (_claim, bad) => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    origin.event(originate([], { sids: [bad] }));
    simulation.run(10_000);
    expect(tlvs(router, 2, ORIGIN).map((t) => t.kind)).not.toContain('srv6-locator');
    expect(origin.count('isis.originate.unusable-sid')).toBe(1);
  });

  test('router addresses are TLVs 134 and 140, and a router with SIDs advertises SRv6 Capabilities (RFC 9352 §2)', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const learner = add(LEARNER, [2]);
    origin.event(
      originate([], {
        routerAddresses: [address('192.0.2.1'), address('2001:db8:ffff::1')],
        sids: [endCon(SID, LOCATOR)],
      }),
    );
    simulation.run(10_000);
    expect(tlvs(router, 2, ORIGIN)).toEqual(
      expect.arrayContaining([
        { kind: 'ipv4-te-router-id', address: address('192.0.2.1') },
        { kind: 'ipv6-te-router-id', address: address('2001:db8:ffff::1') },
        { kind: 'router-capability', routerId: address('192.0.2.1'), flags: 0, subTlvs: Uint8Array.of(25, 2, 0, 0) },
      ]),
    );
    const learned = (): string[] =>
      [...learner.reports.values()].flatMap((r) =>
        byKind(r.advertisements).routerAddresses.map((a) => `${r.originator} ${formatAddress(a)}`),
      );
    expect(learned()).toEqual([`L2 ${ORIGIN} 192.0.2.1`, `L2 ${ORIGIN} 2001:db8:ffff::1`]);
    origin.event(originate([], { routerAddresses: [address('2001:db8:ffff::2')], sids: [endCon(SID, LOCATOR)] }));
    simulation.run(3000);
    // Without IPv4 the IPv6 router ID is in sub-TLV 12 (RFC 7981 §2).
    const subTlvs = fromHex('0c10 20010db8ffff00000000000000000002 19020000');
    expect(tlvs(router, 2, ORIGIN)).toContainEqual({
      kind: 'router-capability',
      routerId: address('0.0.0.0'),
      flags: 0,
      subTlvs,
    });
    origin.event(originate([], { routerAddresses: [address('2001:db8:ffff::2')] }));
    simulation.run(3000);
    expect(learned()).toEqual([`L2 ${ORIGIN} 2001:db8:ffff::2`]);
    expect(tlvs(router, 2, ORIGIN).map((t) => t.kind)).not.toContain('router-capability');
    origin.event(originate([]));
    simulation.run(3000);
    expect(learned()).toEqual([]);
  });

  test.each<[string, Declared, string, string]>([
    [
      'the IPv4 loopback, although it does not answer probes',
      { identity: ['192.0.2.1', '2001:db8:ffff::1'].map(address) },
      '192.0.2.1',
      '',
    ],
    [
      'the IPv6 loopback',
      { identity: [address('2001:db8:ffff::1')] },
      '0.0.0.0',
      '0c10 20010db8ffff00000000000000000001',
    ],
    ['without loopbacks, the SID', {}, '0.0.0.0', '0c10 20010db8000c00000000000000000001'],
    [
      'and not an address that is not a host',
      { identity: [address('::1')], proxies: [proxied('10.0.0.0/8', '192.0.2.9')] },
      '192.0.2.9',
      '',
    ],
  ])('FCN-4.2.2-a: TLV 242 always identifies this router: %s (RFC 7981 §2)', (_claim, more, routerId, subTlvs) => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    origin.event({
      type: 'originate',
      origination: origination({ sids: [endCon(SID, LOCATOR)], ...more }),
    });
    simulation.run(10_000);
    const expected = {
      kind: 'router-capability',
      routerId: address(routerId),
      flags: 0,
      subTlvs: fromHex(`${subTlvs} 19020000`),
    };
    expect(tlvs(router, 2, ORIGIN).filter((t) => t.kind === 'router-capability')).toEqual([expected]);
  });

  test('a second router address of a family, or a non-unicast one, is not advertised but counted', () => {
    const { simulation, add } = net();
    const origin = add(ORIGIN, [2]);
    const learner = add(LEARNER, [2]);
    origin.event(originate([], { routerAddresses: ['fe80::1', '2001:db8:ffff::1', '2001:db8:ffff::2'].map(address) }));
    simulation.run(10_000);
    expect([...learner.reports.values()].flatMap((r) => byKind(r.advertisements).routerAddresses)).toEqual([
      address('2001:db8:ffff::1'),
    ]);
    expect(origin.count('isis.originate.router-address-left-out')).toBe(1);
  });
});

describe('the SIDs of an LSP', () => {
  const read = (list: readonly IsisTlv[]) => {
    const decoded = decodePdu(lsp({ tlvs: list }));
    if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
    return readByKind(decoded.value, false);
  };

  test('FCN-4.2.2-a: only SIDs with a configured behavior are kept', () => {
    const decoded = decodePdu(PROXY_LSP);
    if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
    const of = (codePoints: Partial<CodePointValues>) =>
      readByKind(decoded.value as Parameters<typeof readByKind>[0], false, codePoints).sids;
    expect(of({ 'end-mt-behavior': 32769 })).toMatchObject([
      { sid: address('fc00:1:1::1'), behavior: 32769, locator: prefix('fc00:1:1::/48'), down: false },
    ]);
    for (const name of ['end-con-behavior', 'replication-behavior'] as const)
      expect(of({ 'end-mt-behavior': 9, [name]: 32769 }), name).toHaveLength(1);
    expect(of({ 'end-mt-behavior': 9 })).toEqual([]);
  });

  test('topologies 0 and 2 count, management and multicast topologies do not; any algorithm counts', () => {
    const sids = [0, 1, 2, 3, 4, 5].map((mtId) =>
      tlv27([locator(`2001:db8:${mtId}::/48`, [sid(`2001:db8:${mtId}::1`)], { algorithm: 128 })], mtId),
    );
    expect(read(sids).sids.map((s) => formatAddress(s.sid))).toEqual(['2001:db8::1', '2001:db8:2::1']);
  });

  test('a SID that is listed twice counts once', () => {
    const twice = [tlv27([locator(LOCATOR, [sid(SID), sid(SID)]), locator(LOCATOR, [sid(SID)])])];
    expect(read(twice).sids).toHaveLength(1);
  });

  test.each([
    ['sid-outside-locator', locator(LOCATOR, [sid('2001:db8:d::1'), sid(SID)])],
    ['sid-not-unicast', locator('ff00::/8', [sid('ff02::1')])],
    ['sid-not-unicast', locator('fe80::/10', [sid('fe80::1')])],
    ['sid-not-unicast', locator('::/1', [sid('::')])],
  ])('%s: ignored and reported; valid SIDs beside it are used', (code, bad) => {
    const { sids, badTlvs } = read([tlv27([bad, locator('2001:db8:e::/48', [sid('2001:db8:e::1')])])]);
    expect(badTlvs).toMatchObject([{ subType: 5, error: { code } }]);
    expect(sids.at(-1)).toMatchObject({ sid: address('2001:db8:e::1') });
  });

  test('a wrong SID with another behavior is not reported', () => {
    expect(read([tlv27([locator(LOCATOR, [sid('2001:db8:d::1', 1)])])]).badTlvs).toEqual([]);
  });
});

describe('hostile TLV 27', () => {
  const raw = (hex: string): IsisTlv => ({ kind: 'unknown', type: 27, value: fromHex(hex) });
  const head = '0000 00000000 00 00';

  test.each([
    ['isis.tlv.bad-length', '00'],
    ['isis.tlv.bad-prefix-length', `${head} 00 00`],
    ['isis.tlv.bad-prefix-length', `${head} ff ${'00'.repeat(33)}`],
    ['isis.tlv.locator-overrun', `${head} 30 20010db8000c`],
    ['isis.tlv.sub-tlv-overrun', `${head} 30 20010db8000c ff 05`],
    ['isis.tlv.sub-tlv-overrun', `${head} 30 20010db8000c 02 0514`],
    ['isis.sub-tlv.bad-length', `${head} 30 20010db8000c 03 0501 00`],
    ['isis.sub-tlv.sub-sub-tlv-overrun', `${head} 30 20010db8000c 16 0514 008002 20010db8000c00000000000000000001 ff`],
    [
      'isis.sub-tlv.bad-sid-structure',
      `${head} 30 20010db8000c 1c 051a 008002 20010db8000c00000000000000000001 06 0104ffffffff`,
    ],
    ['isis.sub-tlv.sid-outside-locator', `${head} 30 20010db8000c 16 0514 008002 20010db8000d00000000000000000001 00`],
  ])('%s: counted, no SID learned; the adjacency and the rest of the LSP stay', (name, hex) => {
    const { a, give } = adjacency();
    reachedOnce(a);
    give(lsp({ tlvs: [raw(hex), { kind: 'ipv6-te-router-id', address: address('2001:db8:ffff::9') }] }));
    expect(a.count(name)).toBe(1);
    expect(a.sids()).toEqual([]);
    expect(a.state).toBe('up');
    expect([...a.reports.values()].flatMap((r) => byKind(r.advertisements).routerAddresses)).toEqual([
      address('2001:db8:ffff::9'),
    ]);
  });

  test('a full LSP of SIDs, then the same LSP without: all learned, all withdrawn', () => {
    const { a, give } = adjacency();
    reachedOnce(a);
    const many = Array.from({ length: 54 }, (_, i) => sid(`2001:db8:c::${(i + 1).toString(16)}`));
    const full = Array.from({ length: 6 }, (_, i) => tlv27([locator(LOCATOR, many.slice(i * 9, i * 9 + 9))]));
    expect(Math.max(...full.map((t) => encodeTlv(t).length))).toBeLessThanOrEqual(257);
    give(lsp({ tlvs: full }));
    expect(a.sids()).toHaveLength(54);
    give(lsp({ tlvs: [], sequence: 9 }));
    expect(a.sids()).toEqual([]);
    expect([...a.reports.keys()].filter((source) => source.includes(C))).toEqual([]);
  });
});

describe('SIDs between levels (RFC 9352 §7.1)', () => {
  test.each([
    [1, 2, 0],
    [2, 1, 0x80],
  ] as const)(
    'FCN-4.2.2-a: level %d to level %d keeps SID, behavior and locator, sets R; the D bit is %d',
    (from, to, flags) => {
      const { simulation, router, add } = net();
      const origin = add(ORIGIN, [from]);
      add(AGENT_A, [1, 2]);
      const learner = add(LEARNER, [to]);
      origin.event(originate([], { sids: [endCon(SID, LOCATOR)] }));
      simulation.run(10_000);
      const [copy, ...more] = locators(router, to, AGENT_A);
      expect(more).toEqual([]);
      expect(copy).toMatchObject({ prefix: prefix(LOCATOR), metric: 0xfe000001, flags, algorithm: 0 });
      expect(copy!.subTlvs.at(-1)).toEqual(sid(SID));
      const attributes = copy!.subTlvs.find((t) => t.kind === 'prefix-attribute-flags')!;
      expect(hasFlag(attributes.flags, 1)).toBe(true);
      expect(locators(router, from, AGENT_A)).toEqual([]);
      expect(sidsOf(learner)).toEqual([`${SID} ${END_CON}`]);
      origin.event(originate([]));
      simulation.run(3000);
      expect(locators(router, to, AGENT_A)).toEqual([]);
      expect(sidsOf(learner)).toEqual([]);
    },
  );

  test.each([1, 2] as const)(
    'two agents of both levels do not echo a SID of level %d, and withdraw it with its origin',
    (from) => {
      const to = from === 1 ? 2 : 1;
      const { simulation, router, add } = net();
      const origin = add(ORIGIN, [from]);
      const [a, b] = [add(AGENT_A, [1, 2]), add(AGENT_B, [1, 2])];
      origin.event(originate([], { sids: [endCon(SID, LOCATOR)] }));
      simulation.run(10_000);
      expect(locators(router, to, AGENT_A)).toHaveLength(1);
      expect(locators(router, to, AGENT_B)).toEqual([]);
      for (const agent of [AGENT_A, AGENT_B]) expect(locators(router, from, agent)).toEqual([]);
      const issued = (): number => a.count('isis.own.issued') + b.count('isis.own.issued');
      const before = issued();
      simulation.run(120_000);
      expect(issued()).toBe(before);
      origin.event(originate([]));
      simulation.run(10_000);
      for (const level of [1, 2] as const)
        for (const agent of [AGENT_A, AGENT_B]) expect(locators(router, level, agent)).toEqual([]);
    },
  );

  test('a locator with the D bit is never leaked up, even without its original', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const [a, b] = [add(AGENT_A, [1, 2]), add(AGENT_B, [1, 2])];
    origin.event(originate([], { sids: [endCon(SID, LOCATOR)] }));
    simulation.run(10_000);
    expect(locators(router, 1, AGENT_A)).toMatchObject([{ flags: 0x80 }]);
    a.kill();
    origin.event(originate([]));
    simulation.run(5000);
    expect(b.speaker.leaking.offered[1].size).toBe(1);
    expect(locators(router, 2, AGENT_B)).toEqual([]);
  });

  test('a SID with another behavior is not leaked', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    add(AGENT_A, [1, 2]);
    origin.event(originate([], { sids: [endCon(SID, LOCATOR, 18)] }));
    simulation.run(10_000);
    expect(locators(router, 1, ORIGIN)).toHaveLength(1);
    expect(locators(router, 2, AGENT_A)).toEqual([]);
  });

  test('the router’s own declaration takes precedence over a leaked entry', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const agent = add(AGENT_A, [1, 2]);
    for (const each of [origin, agent]) each.event(originate([], { sids: [endCon(SID, LOCATOR)] }));
    simulation.run(10_000);
    const flagged = (): boolean[] =>
      locators(router, 2, AGENT_A).map((l) => l.subTlvs.some((t) => t.kind === 'prefix-attribute-flags'));
    expect(flagged()).toEqual([false]);
    agent.event(originate([]));
    simulation.run(10_000);
    expect(flagged()).toEqual([true]);
    expect(locators(router, 1, AGENT_A)).toEqual([]);
  });
});
