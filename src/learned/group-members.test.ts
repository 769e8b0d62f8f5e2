// Members of End.MT groups in the learned table.
import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import type { LearnedOf } from '../model/advertisement.ts';
import { membersIn, receiver, source as sourceOf } from '../model/group.fixture.ts';
import { fixture } from './table.fixture.ts';

describe('members of groups', () => {
  const claims = ({ table }: ReturnType<typeof fixture>): string[] =>
    table.routers
      .groupMembers()
      .map(
        ({ member, originator, heldUntil }) =>
          `${originator}: ${membersIn([receiver(0, member)])[0]}${heldUntil ? ' held' : ''}`,
      );
  const one = (originator: string, member: Parameters<typeof membersIn>[0][number]): string =>
    `${originator}: ${membersIn([member])[0]}`;
  const report = (
    scene: ReturnType<typeof fixture>,
    originator: string,
    fragment: number,
    members: readonly LearnedOf<'group-membership'>[],
  ) =>
    scene.table.learned({
      carrier: 'isis',
      originator,
      source: `${originator}.00-${fragment}`,
      advertisements: members,
    });

  test('RMC-5.1-d: all claims are there with their originators, sources first, the lower SID before the higher', () => {
    const scene = fixture();
    const [higher, lower] = [
      receiver(1, { node: address('2001:db8:e::9') }),
      receiver(1, { node: address('2001:db8:e::5') }),
    ];
    report(scene, 'cnpd1', 0, [higher, receiver(2)]);
    report(scene, 'cnpd2', 0, [lower, sourceOf()]);
    expect(claims(scene)).toEqual([
      one('cnpd2', sourceOf()),
      one('cnpd2', lower),
      one('cnpd1', higher),
      one('cnpd1', receiver(2)),
    ]);
    expect(scene.table.routers.takeChanged()).toBe(true);
    report(scene, 'cnpd2', 0, []);
    expect(claims(scene)).toEqual([one('cnpd1', higher), one('cnpd1', receiver(2))]);
  });

  test.each([
    ['another Queue Pair', { qpn: 9 }],
    ['another PSN delta', { psnDelta: 9 }],
    ['another edge', { node: address('2001:db8:e::9') }],
    ['other changes of WRITEs', { write: { vaDelta: 1n, rKey: 2 } }],
  ])('%s is a change; the same again is none', (_what, change) => {
    const scene = fixture();
    report(scene, 'cnpd1', 0, [receiver(1)]);
    scene.table.routers.takeChanged();
    report(scene, 'cnpd1', 0, [receiver(1)]);
    expect(scene.table.routers.takeChanged()).toBe(false);
    report(scene, 'cnpd1', 0, [receiver(1, change)]);
    expect(scene.table.routers.takeChanged()).toBe(true);
  });

  test('a router that repeats a claim, in another fragment too, has it once; the other fragment’s counts when the first is gone', () => {
    const scene = fixture();
    report(scene, 'cnpd1', 0, [receiver(1)]);
    report(scene, 'cnpd1', 1, [receiver(1)]);
    expect(claims(scene)).toEqual([one('cnpd1', receiver(1))]);
    report(scene, 'cnpd1', 0, []);
    expect(claims(scene)).toEqual([one('cnpd1', receiver(1))]);
  });

  test('claims of a router that is lost are held, then gone', () => {
    const scene = fixture(10_000);
    scene.reach(['cnpd1']);
    report(scene, 'cnpd1', 0, [receiver(1)]);
    scene.reach([]);
    expect(claims(scene)).toEqual([`${one('cnpd1', receiver(1))} held`]);
    scene.clock.now += 10_001;
    scene.table.tick();
    expect(claims(scene)).toEqual([]);
  });

  test('one router may claim 10,240, in whatever fragments; what is more is counted, and others have their own', () => {
    const scene = fixture();
    const many = (from: number, count: number) => Array.from({ length: count }, (_, i) => receiver(from + i));
    report(scene, 'cnpd1', 0, many(1, 10_200));
    report(scene, 'cnpd1', 1, many(10_201, 44));
    report(scene, 'cnpd2', 0, many(11_001, 50));
    expect({ claims: claims(scene).length, full: scene.counts.get('learned.group-member.table-full') }).toEqual({
      claims: 10_240 + 50,
      full: 4,
    });
    expect(scene.table.routers.membersLeftOut()).toEqual({ count: 4, originator: 'cnpd1' });
    scene.table.routers.takeChanged();
    report(scene, 'cnpd1', 0, many(1, 3000));
    expect(scene.table.routers.membersLeftOut(), 'the second report has not changed').toMatchObject({ count: 4 });
    report(scene, 'cnpd1', 1, many(10_201, 44));
    expect(claims(scene)).toHaveLength(3000 + 44 + 50);
    expect(scene.table.routers.membersLeftOut()).toBeUndefined();
  });

  test('RMC-5.1-d: 10,000 members of other areas have room from each of three routers at the border, and 10,000 more here', () => {
    const scene = fixture();
    const many = (from: number, count: number) => Array.from({ length: count }, (_, i) => receiver(from + i));
    const borders = ['border1', 'border2', 'border3'];
    const leaves = Array.from({ length: 10 }, (_, i) => `leaf${i}`);
    scene.reach([...borders, ...leaves, 'flood']);
    for (const border of borders) report(scene, border, 0, many(1, 10_000));
    for (const [i, leaf] of leaves.entries()) report(scene, leaf, 0, many(20_001 + i * 1000, 1000));
    expect([claims(scene).length, scene.table.routers.membersLeftOut()]).toEqual([40_000, undefined]);
    report(scene, 'flood', 0, many(40_001, 10_240));
    expect([claims(scene).length, scene.table.routers.membersLeftOut()]).toEqual([
      40_960,
      { count: 10_240 - 960, originator: 'flood' },
    ]);
  });

  test('a report of which nothing is kept is left out until it is withdrawn', () => {
    const scene = fixture();
    const many = (from: number, count: number) => Array.from({ length: count }, (_, i) => receiver(from + i));
    report(scene, 'cnpd1', 0, many(1, 10_240));
    scene.table.routers.takeChanged();
    report(scene, 'cnpd1', 1, many(5001, 2));
    expect([scene.table.routers.takeChanged(), scene.table.routers.membersLeftOut()?.count]).toEqual([true, 2]);
    report(scene, 'cnpd1', 1, []);
    expect([scene.table.routers.takeChanged(), scene.table.routers.membersLeftOut()]).toEqual([true, undefined]);
  });
});
