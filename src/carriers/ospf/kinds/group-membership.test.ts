// Members of End.MT groups in OSPF: cnpd's private LSA in both versions, between areas too, and what others may write
// into it.
import { describe, expect, test } from 'vitest';
import { membersIn, membersOf, receiver, source } from '../../../model/group.fixture.ts';
import type { GroupMember } from '../../../model/group.ts';
import { formatAddress } from '../../../model/address.ts';
import { fromHex } from '../../../packet/hex.ts';
import { containedMember, encodeSidContainer } from '../../../packet/sid-container.ts';
import { type ContentAgent, ContentNet, declaration, named, senderPrefix } from '../content.fixture.ts';
import { BORDER, CORE, FAR, LEAF, SECOND, SETTLED, VERSIONS } from '../leaking/leaking.fixture.ts';
import { unplacedEntries } from '../show.ts';

const BOTH = [source(), receiver(1), receiver(2, { psnDelta: 7, write: { vaDelta: 5n, rKey: 6 } })];
/** Opaque IDs, or link-state IDs in OSPFv3: originals from here, and copies. */
const [ORIGINALS, COPIES] = [0x40_0000, 0xc0_0000];
const KEY = { 2: { type: 10, base: 0xf000_0000 }, 3: { type: 0xbff8, base: 0 } } as const;

/** What is learned from routers that can be reached. */
const learnedOf = ({ reports, reachable }: ContentAgent): string[] =>
  membersOf([...reports.values()].filter(({ originator }) => reachable.has(originator)));
const by = (originator: string, ...members: readonly GroupMember[]): string[] =>
  membersIn(members as Parameters<typeof membersIn>[0]).map((text) => `${originator}: ${text}`);

describe.each(VERSIONS)('OSPFv%d', (version) => {
  const { type, base } = KEY[version];

  /** Link-state IDs of the LSAs with members that an agent advertises in an area. */
  const idsOf = (agent: ContentAgent, areaId: number): number[] =>
    (agent.advertised.get(areaId) ?? [])
      .filter(({ body, lsId }) => body.kind === 'private' && ((lsId - base) & ORIGINALS) !== 0)
      .map((lsa) => {
        expect(lsa.type).toBe(type);
        return lsa.lsId - base;
      });

  function scene() {
    const net = new ContentNet(version);
    const [leaf, border, core] = [net.agent(LEAF, [1]), net.agent(BORDER, [0, 1]), net.agent(CORE, [0])];
    net.run(SETTLED);
    return { net, leaf, border, core };
  }

  test('RMC-5.1-d: members cross from one area through the backbone into another, whole, and are withdrawn again', () => {
    const { net, leaf, border, core } = scene();
    const [second, far] = [net.agent(SECOND, [0, 2]), net.agent(FAR, [2])];
    net.declare(leaf, BOTH);
    net.run(3 * SETTLED);
    expect([idsOf(leaf, 1), idsOf(border, 0), idsOf(second, 2)]).toEqual([[ORIGINALS], [COPIES], [COPIES]]);
    expect(learnedOf(border)).toEqual(by(named(1, LEAF), ...BOTH));
    expect(learnedOf(core)).toEqual(by(named(0, BORDER), ...BOTH));
    expect(learnedOf(far)).toEqual(by(named(2, SECOND), ...BOTH));
    const changed = receiver(1, { qpn: 77 });
    net.declare(leaf, [changed]);
    net.run(3 * SETTLED);
    expect(learnedOf(far)).toEqual(by(named(2, SECOND), changed));
    net.declare(leaf, []);
    net.run(3 * SETTLED);
    expect([learnedOf(core), learnedOf(far), idsOf(border, 0), idsOf(second, 2)]).toEqual([[], [], [], []]);
  });

  test('of two routers between the areas one copies them, and neither copies the other’s back', () => {
    const { net, leaf, border, core } = scene();
    const second = net.agent(SECOND, [0, 1]);
    net.run(SETTLED);
    net.declare(leaf, [receiver(1)]);
    net.run(4 * SETTLED);
    expect(learnedOf(core)).toEqual(by(named(0, BORDER), receiver(1)));
    expect([border, second].flatMap((agent) => idsOf(agent, 1))).toEqual([]);
  });

  test('a thousand members take several LSAs beside those of SIDs and prefixes; what no packet could reach is counted', () => {
    const { net, leaf, border } = scene();
    const many = Array.from({ length: 1000 }, (_, n) => receiver(n + 1));
    const sid = { kind: 'sid', sid: many[0]!.node, locator: { address: many[0]!.node, length: 64 }, behavior: 0x8001 };
    net.declare(leaf, [
      ...declaration(version, [7]),
      { ...sid, kind: 'sid', locator: { address: { family: 6, value: (sid.sid.value >> 64n) << 64n }, length: 64 } },
      ...many,
      receiver(2000, { qpn: 1 }),
    ]);
    net.run(2 * SETTLED);
    expect(learnedOf(border)).toEqual(by(named(1, LEAF), ...many));
    expect(idsOf(leaf, 1).length).toBeGreaterThan(10);
    expect(border.learned(senderPrefix(version, 7))).toHaveLength(1);
    const sids = [...border.reports.values()].flatMap(({ advertisements }) =>
      advertisements.flatMap((one) => (one.kind === 'sid' ? [formatAddress(one.sid)] : [])),
    );
    expect(sids).toEqual([formatAddress(sid.sid)]);
    expect({
      counted: leaf.count('originate.unusable-group-member'),
      unplaced: unplacedEntries(leaf.content),
    }).toEqual({ counted: 1, unplaced: 1 });
  });

  test.each([
    ['a container that is cut off', 'bad-container', '01000000' + '0002003c' + '0100'],
    ['a container of another version', 'bad-container', '02000000'],
  ])('%s is counted once, and its LSA has no members', (_what, counter, hex) => {
    const { net, border } = scene();
    border.now = net.now;
    const padded = hex.padEnd(Math.ceil(hex.length / 8) * 8, '0');
    border.hears(1, LEAF, { type, lsId: base + ORIGINALS, body: { kind: 'private', container: fromHex(padded) } });
    expect({ counted: border.count(`learn.${counter}`), learned: learnedOf(border) }).toEqual({
      counted: 1,
      learned: [],
    });
  });

  test('a member that no packet could reach is counted; what is right beside it is used, as a copy if its ID says so', () => {
    const { net, border } = scene();
    border.now = net.now;
    const container = encodeSidContainer([receiver(2, { qpn: 0 }), receiver(1)].map(containedMember));
    border.hears(1, LEAF, { type, lsId: base + COPIES, body: { kind: 'private', container } });
    expect({ counted: border.count('learn.unusable-group-member'), learned: learnedOf(border) }).toEqual({
      counted: 1,
      learned: by(named(1, LEAF), receiver(1)),
    });
    net.run(2 * SETTLED);
    expect(idsOf(border, 0)).toEqual([]);
  });
});
