// Members of End.MT groups in IS-IS: GENINFO TLVs, between levels too, and what others may write into them.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { membersIn, membersOf, receiver, source } from '../../../model/group.fixture.ts';
import type { GroupMember } from '../../../model/group.ts';
import { concat } from '../../../packet/bytes.ts';
import { fromHex, toHex } from '../../../packet/hex.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import { encodeTlv } from '../../../packet/isis/tlvs.ts';
import type { GenInfo } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { containedMember, encodeSidContainer } from '../../../packet/sid-container.ts';
import { lsp } from '../hostile.fixture.ts';
import { AGENT_A, AGENT_B, LEARNER, ORIGIN, net } from '../leaking/leaking.fixture.ts';
import type { Router } from '../router.fixture.ts';
import { type Agent, proxied, systemId } from '../simulation.fixture.ts';
import { GROUP_MEMBERSHIP } from './group-membership.ts';

const APPLICATION = 65_501;
const WRITE = { vaDelta: 5n, rKey: 6 };
const BOTH = [source(), receiver(1), receiver(2, { psnDelta: 7, write: WRITE })];
const learnedOf = (agent: Agent): string[] => membersOf(agent.reports.values());
const by = (originator: string, ...members: readonly Parameters<typeof membersIn>[0][number][]): string[] =>
  membersIn(members).map((text) => `${originator}: ${text}`);

/** The GENINFO TLVs that a system advertises in a level. */
const tlvsOf = (router: Router, level: Level, system: string): GenInfo[] =>
  [...router.lsps[level]]
    .filter(([key, { lifetime }]) => key.startsWith(system) && lifetime > 0)
    .flatMap(([, { raw }]) => {
      const decoded = decodePdu(raw);
      return decoded.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
    })
    .filter((tlv) => tlv.kind === 'geninfo');

const flagsOf = ({ applicationId, domainWide, down, info }: GenInfo): unknown => ({
  applicationId,
  domainWide,
  down,
  copy: info[0],
});

describe('on the wire', () => {
  test('RMC-5.1-d: GENINFO of the application: a flag octet, then the container', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    origin.event({ type: 'originate', origination: [receiver(1)] });
    simulation.run(20_000);
    const [tlv] = tlvsOf(router, 2, ORIGIN);
    expect(toHex(encodeTlv(tlv!))).toBe(
      'fb48' + '01ffdd' + '00' + '01000000' + toHex(encodeSidContainer([containedMember(receiver(1))]).subarray(4)),
    );
  });

  test('an entry takes the bytes that placement counts, however many share a TLV', () => {
    const codec = GROUP_MEMBERSHIP.own.entries;
    if (codec === 'none') throw new Error('no entries');
    for (const [count, change] of [
      [1, {}],
      [3, {}],
      [4, {}],
      [7, { write: WRITE }],
    ] as const) {
      const members = Array.from({ length: count }, (_, n) => receiver(n + 1, change));
      const { entries } = GROUP_MEMBERSHIP.own.desired(
        members as never,
        { config: { codePoints: { 'isis-group-application': APPLICATION } } } as never,
        {},
      );
      const tlvs = codec.encode(entries, false);
      const [{ overhead, capacity }] = codec.packings as [{ overhead: number; capacity: number }];
      const each = codec.size(entries[0]!);
      const perTlv = Math.floor(capacity / each);
      const sizes = tlvs.map((tlv) => encodeTlv(tlv).length);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(Math.ceil(count / perTlv) * overhead + count * each);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(257);
    }
  });
});

describe('between routers', () => {
  test('RMC-5.1-d: members are learned with everything an edge needs, change, and are withdrawn', () => {
    const { simulation, add } = net();
    const [origin, learner] = [add(ORIGIN, [2]), add(LEARNER, [2])];
    origin.event({ type: 'originate', origination: BOTH });
    simulation.run(20_000);
    expect(learnedOf(learner)).toEqual(by(`L2 ${ORIGIN}`, ...BOTH));
    const changed = receiver(1, { qpn: 77 });
    origin.event({ type: 'originate', origination: [changed] });
    simulation.run(20_000);
    expect(learnedOf(learner)).toEqual(by(`L2 ${ORIGIN}`, changed));
    origin.event({ type: 'originate', origination: [] });
    simulation.run(20_000);
    expect(learnedOf(learner)).toEqual([]);
  });

  test.each<[Level, Level, boolean]>([
    [1, 2, false],
    [2, 1, true],
  ])('from level %i they are leaked to level %i, marked as copies, and withdrawn again', (from, to, down) => {
    const { simulation, router, add } = net();
    const [origin, , learner] = [add(ORIGIN, [from]), add(AGENT_A, [1, 2]), add(LEARNER, [to])];
    origin.event({ type: 'originate', origination: BOTH });
    simulation.run(60_000);
    expect(learnedOf(learner)).toEqual(by(`L${to} ${AGENT_A}`, ...BOTH));
    expect(tlvsOf(router, from, ORIGIN).map(flagsOf)).toEqual([
      { applicationId: APPLICATION, domainWide: true, down: false, copy: 0 },
    ]);
    expect(tlvsOf(router, to, AGENT_A).map(flagsOf)).toEqual([
      { applicationId: APPLICATION, domainWide: true, down, copy: 0x80 },
    ]);
    origin.event({ type: 'originate', origination: [] });
    simulation.run(60_000);
    expect({ learned: learnedOf(learner), tlvs: tlvsOf(router, to, AGENT_A) }).toEqual({ learned: [], tlvs: [] });
  });

  test('of two routers between the levels one leaks them, and neither leaks the copies back', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    for (const system of [AGENT_A, AGENT_B]) add(system, [1, 2]);
    const learner = add(LEARNER, [2]);
    origin.event({ type: 'originate', origination: [receiver(1)] });
    simulation.run(120_000);
    expect(learnedOf(learner)).toEqual(by(`L2 ${AGENT_A}`, receiver(1)));
    expect([AGENT_A, AGENT_B].flatMap((system) => tlvsOf(router, 1, system))).toEqual([]);
  });

  test('a thousand members take several fragments, beside other kinds', () => {
    const { simulation, add } = net();
    const [origin, learner] = [add(ORIGIN, [2]), add(LEARNER, [2])];
    const many = Array.from({ length: 1000 }, (_, n) => receiver(n + 1));
    origin.event({ type: 'originate', origination: [proxied('2001:db8:7::/48'), ...many] });
    simulation.run(60_000);
    expect(learnedOf(learner)).toEqual(by(`L2 ${ORIGIN}`, ...many));
    expect(new Set([...learner.reports.values()].map((report) => report.source)).size).toBeGreaterThan(10);
    expect(learner.prefixes()).toHaveLength(1);
  });

  test('what no packet could reach is not advertised, and counted', () => {
    const { simulation, add } = net();
    const [origin, learner] = [add(ORIGIN, [2]), add(LEARNER, [2])];
    origin.event({ type: 'originate', origination: [receiver(1, { qpn: 1 }), receiver(2)] });
    simulation.run(20_000);
    expect(learnedOf(learner)).toEqual(by(`L2 ${ORIGIN}`, receiver(2)));
    expect(origin.count('isis.originate.unusable-group-member')).toBe(1);
  });
});

describe('who may lie', () => {
  const containing = (...members: readonly GroupMember[]): Uint8Array =>
    concat(Uint8Array.of(0), encodeSidContainer(members.map(containedMember)));
  const GOOD = containing(receiver(1));

  function learn(...infos: readonly (Uint8Array | Partial<GenInfo>)[]) {
    const { simulation, add } = net();
    const learner = add(LEARNER, [2]);
    simulation.run(20_000);
    const lspId = { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment: 9 };
    const tlvs = infos.map((one): GenInfo => ({
      kind: 'geninfo',
      applicationId: APPLICATION,
      domainWide: true,
      down: false,
      otherFlags: 0,
      info: GOOD,
      ...(one instanceof Uint8Array ? { info: one } : one),
    }));
    learner.deliver(lsp({ level: 2, sequence: 7, lspId, tlvs }));
    simulation.run(1000);
    return { learner, learned: learnedOf(learner) };
  }

  test.each([
    ['truncated', new Uint8Array(0)],
    ['truncated', Uint8Array.of(0, 1, 0)],
    ['unknown-version', concat(Uint8Array.of(0), fromHex('02000000'))],
    ['truncated', GOOD.subarray(0, GOOD.length - 1)],
    ['group-member-unusable', containing(receiver(2, { qpn: 0 }))],
    ['group-member-unusable', containing(receiver(2, { address: address('ff02::1') }))],
    ['group-member-unusable', containing(receiver(2, { node: address('fe80::1') }))],
  ])('%s: a hostile TLV is counted, and what is right in another is used', (code, info) => {
    const { learner, learned } = learn(info, GOOD);
    expect({ count: learner.count(`isis.sub-tlv.${code}`), learned }).toEqual({
      count: 1,
      learned: by('L2 0000.0000.1111', receiver(1)),
    });
  });

  test('GENINFO of another application is none of ours; of two claims for one member in an LSP the first counts', () => {
    expect(learn({ applicationId: 1 }).learned).toEqual([]);
    expect(learn(GOOD, containing(receiver(1, { qpn: 9 }))).learned).toEqual(by('L2 0000.0000.1111', receiver(1)));
  });
});
