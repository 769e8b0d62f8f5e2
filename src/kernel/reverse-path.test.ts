import { describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../model/address.ts';
import type { WayBack } from './netlink/routes-back.ts';
import { FRESH_MS, MOST_REMEMBERED, ReversePath, STALE_MS } from './reverse-path.ts';

/** Friends are behind interface 2 and, by a second next hop, 3. */
function machine(): {
  check: ReversePath;
  at: { now: number };
  asked: string[];
  counters: Record<string, number>;
  routes: { friends: number[]; through: WayBack['through'] };
  doubts: (readonly number[])[];
} {
  const [at, asked, counters] = [{ now: 0 }, [] as string[], {} as Record<string, number>];
  const doubts: (readonly number[])[] = [];
  const routes = { friends: [2, 3], through: 'gateway' as WayBack['through'] };
  const check = new ReversePath({
    waysTo: (to) => {
      asked.push(formatAddress(to));
      const to1 = formatAddress(to).startsWith('2001:db8:ffff:') ? routes.friends : [9];
      return to1.map((ifindex) => ({ ifindex, through: routes.through }));
    },
    onDoubts: (ports) => void doubts.push(ports),
    now: () => at.now,
    count: (name) => void (counters[name] = (counters[name] ?? 0) + 1),
  });
  return { check, at, asked, counters, routes, doubts };
}
const FRIEND = address('2001:db8:ffff::1');
const nth = (i: number): IpAddress => ({ family: 6, value: FRIEND.value + 0x1_0000n + BigInt(i) });

describe('the reverse-path check', () => {
  test('believes a source at every interface on the route back to it, and at no other', () => {
    const { check } = machine();
    expect([2, 3, 4, 9, undefined].map((ifindex) => check.refuses(FRIEND, ifindex))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  describe('with core ports', () => {
    const role = (isCore: boolean, link: number) => ({ link, isCore });
    /** Of 2 to 9: friends behind 2 and 3; 2 and 4 are core ports, 5 is a port of the bridge 6. */
    const ROLES = new Map([
      [2, role(true, 2)],
      [4, role(true, 4)],
      [5, role(false, 6)],
    ]);
    const PORTS = [2, 3, 4, 5, 6, 9] as const;
    function believedAt(friends: number[], through: WayBack['through'], of: readonly number[] = PORTS) {
      const { check, routes, doubts } = machine();
      check.ports = ROLES;
      Object.assign(routes, { friends, through });
      return { ports: of.filter((ifindex) => !check.refuses(FRIEND, ifindex)), doubts };
    }

    test('believes a source behind a gateway at any core port', () => {
      expect(believedAt([2], 'gateway').ports).toEqual([2, 4]);
      expect(believedAt([2, 3], 'gateway').ports).toEqual([2, 3, 4]);
      expect(believedAt([3], 'gateway').ports).toEqual([3]);
    });

    test('believes an on-link host at its own port only, and a source without a route nowhere', () => {
      expect(believedAt([2], 'link').ports).toEqual([2]);
      expect(believedAt([], 'gateway').ports).toEqual([]);
    });

    test('believes a source behind a tunnel at any core port, for the port of that route proves nothing', () => {
      expect(believedAt([3], 'tunnel').ports).toEqual([2, 4]);
    });

    test('ports of one bridge are one', () => {
      expect(believedAt([6], 'link').ports).toEqual([5, 6]);
      expect(believedAt([5], 'link').ports).toEqual([5, 6]);
    });

    test('names the ports to query when a source behind a gateway is refused, and only then', () => {
      expect(believedAt([2, 3], 'gateway', [9]).doubts).toEqual([[9, 2, 3]]);
      expect(believedAt([3], 'tunnel', [9]).doubts).toEqual([[9]]);
      expect(believedAt([2], 'link', [9]).doubts).toEqual([]);
      expect(believedAt([2], 'gateway', [2, 4]).doubts).toEqual([]);
    });
  });

  test('queries once a second, for refused sources too', () => {
    const { check, at, asked } = machine();
    for (let i = 0; i < 1000; i++) check.refuses(FRIEND, i % 2 === 0 ? 2 : 4);
    expect(asked).toHaveLength(2);
    at.now = FRESH_MS;
    check.refuses(FRIEND, 2);
    expect(asked).toHaveLength(3);
  });

  test('a route that changes is seen a second later, both ways', () => {
    const { check, at, routes } = machine();
    expect([2, 5].map((ifindex) => check.refuses(FRIEND, ifindex))).toEqual([false, true]);
    routes.friends = [5];
    at.now = FRESH_MS;
    expect([2, 5].map((ifindex) => check.refuses(FRIEND, ifindex))).toEqual([true, false]);
  });

  test('a flood of sources is limited per interface, and affects neither sources believed before nor other interfaces', () => {
    const { check, at, asked, counters } = machine();
    expect(check.refuses(FRIEND, 2)).toBe(false);
    at.now = FRESH_MS;
    for (let i = 0; i < 50_000; i++) check.refuses(nth(i), 2);
    expect(asked.length).toBeLessThan(300);
    expect(counters['reverse-path.limited']).toBeGreaterThan(49_000);
    expect(check.refuses(FRIEND, 2)).toBe(false);
    expect(check.refuses(nth(60_000), 2)).toBe(true);
    expect(check.refuses(nth(60_000), 3)).toBe(false);
  });

  test('not for longer than a minute', () => {
    const { check, at } = machine();
    check.refuses(FRIEND, 2);
    at.now = STALE_MS;
    for (let i = 0; i < 300; i++) check.refuses(nth(i), 2);
    expect(check.refuses(FRIEND, 2)).toBe(true);
  });

  test('forged sources at a wrong port evict no believed source', () => {
    const { check, at, asked } = machine();
    check.refuses(FRIEND, 2);
    for (let i = 0; i < 2 * MOST_REMEMBERED; i++) check.refuses(nth(i), (i % 100) + 10);
    const before = asked.length;
    at.now = FRESH_MS - 1;
    expect(check.refuses(FRIEND, 2)).toBe(false);
    expect(asked.length).toBe(before);
  });

  test('a failed look-up is no reason to believe', () => {
    const counters: string[] = [];
    const check = new ReversePath({
      waysTo: () => {
        throw new Error('no');
      },
      now: () => 0,
      count: (name) => void counters.push(name),
    });
    expect(check.refuses(FRIEND, 2)).toBe(true);
    expect(counters).toEqual(['reverse-path.unreadable']);
  });

  test('queries nothing when disabled', () => {
    const { check, asked } = machine();
    check.enabled = false;
    expect(check.refuses(FRIEND, 4)).toBe(false);
    expect(asked).toEqual([]);
  });

  test('a link-local source is believed', () => {
    const { check } = machine();
    expect({
      linkLocal: check.refuses(address('fe80::1'), 7),
      siteLocal: check.refuses(address('fec0::1'), 7),
    }).toEqual({ linkLocal: false, siteLocal: true });
  });
});
