// When a root changes to another tree, and with which epoch.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { treeOfSrh } from '../../packet/srv6/tree-srh.ts';
import type { HeadEndPlan, MulticastPlan } from '../../plan/multicast-plan.ts';
import type { HeadEndRoute } from './head-end-routes.ts';
import { HeadEnds, encapsulation, epochFor } from './head-ends.ts';

const GROUP = '2001:db8:99::1';
const TYPES = { endMtTlv: 124, treeTlv: 125 };
const receiver = { address: address('2001:db8:2::2'), qpn: 17 };
const headEnd = (tree: number, change: Partial<HeadEndPlan> = {}): HeadEndPlan => ({
  ...{ id: GROUP, proxyAddress: address(GROUP), replicationSid: address('fc00:1::100'), mtu: 1500 },
  ...{ membersDigest: new Uint8Array(8).fill(1), treeDigest: new Uint8Array(8).fill(tree) },
  endMtTlvs: [{ edge: address('fc00:2::200'), receivers: [receiver] }],
  ...change,
});
const planOf = (...headEnds: readonly HeadEndPlan[]): MulticastPlan =>
  ({ ...TYPES, headEnds, settleMs: 500 }) as unknown as MulticastPlan;
const routeOf = (tree: number, epoch: number): HeadEndRoute => {
  const { id, proxyAddress, replicationSid } = headEnd(tree);
  const { srh, mtu } = encapsulation(headEnd(tree), epoch, { types: TYPES, pathMtu: Infinity });
  return { id, proxyAddress, replicationSid, srh: Buffer.from(srh).toString('hex'), mtu };
};
const nameOf = (route: HeadEndRoute | undefined) =>
  route && treeOfSrh(new Uint8Array(Buffer.from(route.srh, 'hex')), TYPES.treeTlv);
/** Epoch and first octet of the tree digest. */
const used = ([route]: readonly HeadEndRoute[]) => {
  const name = nameOf(route);
  return name && [name.epoch, name.treeDigest[0]];
};

const heads = (found: readonly HeadEndRoute[] = [], isInstalled: () => boolean = () => true) =>
  new HeadEnds({ found, isInstalled, pathMtu: () => undefined, random: () => 0xffffe });

describe('the epoch', () => {
  const tree = (n: number) => ({ membersDigest: new Uint8Array(8), treeDigest: new Uint8Array(8).fill(n) });
  test.each([
    ['of the first tree is random', undefined, 7],
    ['stays while the tree does', { ...tree(1), epoch: 20 }, 20],
    ['of another tree is the next one', { ...tree(2), epoch: 20 }, 21],
    ['has 20 bits', { ...tree(2), epoch: 0xfffff }, 0],
  ])('%s', (_what, before, expected) => {
    expect(epochFor(tree(1), before, () => 7)).toBe(expected);
  });
});

describe('a root', () => {
  test('uses a tree a settle time after its lists, and the next tree a settle time after its own', () => {
    const root = heads();
    expect(root.update(planOf(headEnd(1)), 0, true)).toEqual([]);
    expect(root.due).toBe(500);
    expect(root.update(planOf(headEnd(1)), 499, true)).toEqual([]);
    expect(used(root.update(planOf(headEnd(1)), 500, true))).toEqual([0xffffe, 1]);
    expect(root.due).toBeUndefined();
    expect(used(root.update(planOf(headEnd(2)), 600, true))).toEqual([0xffffe, 1]);
    expect(used(root.update(planOf(headEnd(2)), 1100, true))).toEqual([0xfffff, 2]);
    root.update(planOf(headEnd(3)), 2000, true);
    expect(used(root.update(planOf(headEnd(3)), 2500, true))).toEqual([0, 3]);
  });

  test('forgets a tree that a newer plan supersedes before its time', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(headEnd(1)), 0, true);
    root.update(planOf(headEnd(2)), 100, true);
    root.update(planOf(headEnd(3)), 500, true);
    expect(used(root.update(planOf(headEnd(3)), 700, true))).toEqual([5, 1]);
    root.update(planOf(headEnd(1)), 800, true);
    expect(root.due).toBeUndefined();
    expect(used(root.update(planOf(headEnd(1)), 2000, true))).toEqual([5, 1]);
  });

  test('waits for lists that the kernel has not taken', () => {
    let isInstalled = false;
    const root = heads([], () => isInstalled);
    root.update(planOf(headEnd(1)), 0, true);
    expect([root.update(planOf(headEnd(1)), 500, true), root.due]).toEqual([[], 1000]);
    isInstalled = true;
    expect(used(root.update(planOf(headEnd(1)), 1000, true))).toEqual([0xffffe, 1]);
  });

  test('changes TLVs and MTU of the tree in use at once, with the same epoch', () => {
    const root = heads([routeOf(1, 5)]);
    const [route] = root.update(planOf(headEnd(1, { endMtTlvs: [], mtu: 1400 })), 0, true);
    expect([used([route!]), route!.mtu]).toEqual([[5, 1], 1400 - 40 - 64]);
  });

  test('that loses the group and gets it again goes on with the next epoch', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(headEnd(1)), 0, true);
    expect(root.update(planOf(), 10, true)).toEqual([]);
    root.update(planOf(headEnd(2)), 20, true);
    expect(used(root.update(planOf(headEnd(2)), 520, true))).toEqual([6, 2]);
  });
});

describe('a stream that begins anew', () => {
  const restarted = (root: HeadEnds, now: number, tree = 1) => [
    root.restart(GROUP),
    used(root.update(planOf(headEnd(tree)), now, true)),
  ];

  test('is the next epoch of the same tree at once, and stays in it', () => {
    const root = heads([routeOf(1, 0xfffff)]);
    const [before] = root.update(planOf(headEnd(1)), 0, true);
    expect(restarted(root, 1)).toEqual([true, [0, 1]]);
    expect(root.update(planOf(headEnd(1)), 2, true)).toEqual([routeOf(1, 0)]);
    expect(routeOf(1, 0)).toMatchObject({ mtu: before!.mtu });
    expect(restarted(root, 3)).toEqual([true, [1, 1]]);
  });

  test('does not wait for the tree that is about to be used, nor hold it up', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(headEnd(1)), 0, true);
    root.update(planOf(headEnd(2)), 100, true);
    expect(restarted(root, 200, 2)).toEqual([true, [6, 1]]);
    expect(used(root.update(planOf(headEnd(2)), 600, true))).toEqual([7, 2]);
  });

  test('is the next epoch too while a root that has restarted knows only a part of the tree', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(headEnd(2)), 0, false);
    expect(root.restart(GROUP)).toBe(true);
    expect(used(root.update(planOf(headEnd(2)), 1, false))).toEqual([6, 1]);
  });

  test('is refused where the group has no tree, and needs nothing where its first tree is about to be used', () => {
    const root = heads();
    expect(root.restart(GROUP)).toBe(false);
    root.update(planOf(headEnd(1)), 0, true);
    expect(restarted(root, 500)).toEqual([true, [0xffffe, 1]]);
  });
});

describe('after a restart', () => {
  test('the route of the same tree is not touched', () => {
    const found = routeOf(1, 5);
    const root = heads([found]);
    expect(root.update(undefined, 0, false)).toEqual([found]);
    expect(root.update(planOf(headEnd(1)), 10, false)).toEqual([found]);
  });

  test('a tree that is not known yet stays until the network has advertised everything again', () => {
    const found = routeOf(1, 5);
    const root = heads([found]);
    expect(root.update(planOf(), 0, false)).toEqual([found]);
    expect(root.update(planOf(headEnd(2)), 10, false)).toEqual([found]);
    expect([root.update(planOf(headEnd(2)), 5000, false), root.due]).toEqual([[found], undefined]);
    expect([root.update(planOf(headEnd(2)), 60_000, true), root.due]).toEqual([[found], 60_500]);
    expect(used(root.update(planOf(headEnd(2)), 60_500, true))).toEqual([6, 2]);
  });

  test('a tree that was found again changes as any other', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(headEnd(1)), 0, false);
    root.update(planOf(headEnd(2)), 100, false);
    expect(used(root.update(planOf(headEnd(2)), 600, false))).toEqual([6, 2]);
  });

  test('a tree that is no longer planned goes in the end', () => {
    const root = heads([routeOf(1, 5)]);
    root.update(planOf(), 0, false);
    expect(root.update(planOf(), 60_000, true)).toEqual([]);
    expect(heads([routeOf(1, 5)]).update(undefined, 60_000, true)).toEqual([]);
  });
});

describe('what is left for the source', () => {
  const options = { types: TYPES, pathMtu: Infinity };
  test('is the MTU less the outer header and the SRH', () => {
    const { srh, mtu } = encapsulation(headEnd(1, { mtu: 9000 }), 1, options);
    expect([srh.length, mtu]).toEqual([64 + 48, 9000 - 40 - 112]);
  });

  test('RMC-8-f: is 1280 octets at least: End.MT TLVs give way', () => {
    expect(encapsulation(headEnd(1, { mtu: 1280 + 40 + 112 }), 1, options)).toMatchObject({ mtu: 1280 });
    const { srh, mtu } = encapsulation(headEnd(1, { mtu: 1280 + 40 + 111 }), 1, options);
    expect([srh.length, mtu]).toEqual([64, 1280 + 47]);
    expect(encapsulation(headEnd(1, { mtu: 1300 }), 1, options).mtu).toBe(1280);
  });

  test('follows a smaller path MTU', () => {
    expect(encapsulation(headEnd(1, { mtu: 9000 }), 1, { ...options, pathMtu: 4000 }).mtu).toBe(4000 - 40 - 112);
  });
});
