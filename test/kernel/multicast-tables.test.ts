// End.MT groups in the kernel: what the agent writes, in which order it goes, and what a restart leaves alone.
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readU32Key, u32Key } from '../../src/kernel/dataplane/layout.ts';
import { MULTICAST_MAPS, decodeMulticastGroup } from '../../src/kernel/dataplane/multicast.ts';
import {
  decodeMulticastList,
  multicastListKey,
  multicastMemberKey,
  multicastStateIndex,
} from '../../src/kernel/dataplane/multicast-lists.ts';
import {
  MULTICAST_RECORD_SIZE,
  MULTICAST_STATE_SIZE,
  MULTICAST_TOO_BIG_SIZE,
  newMulticastRecord,
} from '../../src/kernel/dataplane/multicast-state.ts';
import { addressKey } from '../../src/kernel/dataplane/srv6.ts';
import { type IpAddress, address, formatAddress } from '../../src/model/address.ts';
import { treeOfSrh } from '../../src/packet/srv6/tree-srh.ts';
import { TreeRoutes } from '../../src/kernel/netlink/tree-routes.ts';
import { removeTrees } from '../../src/reconcile/multicast/remove-trees.ts';
import { ip } from '../support/netns.ts';
import {
  CHILD_SIDS,
  EDGE_SID,
  GROUP,
  MulticastAgent,
  ROOT_SID,
  digest,
  group,
  headEnd,
  lists,
  receiver,
} from './support/multicast-agent.ts';

let agent: MulticastAgent;
beforeEach(() => {
  agent = new MulticastAgent();
});
afterEach(() => agent.close());

const map = (name: keyof typeof MULTICAST_MAPS) => agent.dataplane.multicast!.object.map(MULTICAST_MAPS[name]);
const listNumber = (n: number, role: 'edge' | 'branching' = 'edge', group = 0): number | undefined => {
  const value = map('listIds').lookup(
    multicastListKey({ digest: digest(role === 'edge' ? n : 0x80 + n), group, role }),
  );
  return value && readU32Key(value);
};
const listOf = (n: number) => decodeMulticastList(map('lists').lookup(u32Key(listNumber(n)!))!);
const slotOf = (n: number, list: number): number | undefined => {
  const value = map('members').lookup(multicastMemberKey({ address: address(`2001:db8:b::${n}`), list }));
  return value && readU32Key(value);
};
/** `dataNs`: when the last packet came. */
const stateWith = (current: bigint, dataNs = 0n): Uint8Array => {
  const state = new Uint8Array(MULTICAST_STATE_SIZE);
  const view = new DataView(state.buffer);
  view.setBigUint64(0, current, true);
  view.setBigUint64(48, dataNs, true);
  return state;
};
/** Packets come, and will for the time of a test. */
const FLOWING = process.hrtime.bigint() + 3_600_000_000_000n;
/** As the programs do when packets of epoch 9 come by a list. */
const useList = (role: 'edge' | 'branching', list: number, { parent = 0, dataNs = 0n } = {}): void =>
  map('states').update(
    u32Key(multicastStateIndex(0, role)),
    stateWith((9n << 44n) | (BigInt(list) << 22n) | BigInt(parent), dataNs),
  );
/** As the programs do. */
const noteTooBig = (role: 'edge' | 'branching', mtu: number): void => {
  const value = new Uint8Array(MULTICAST_TOO_BIG_SIZE);
  new DataView(value.buffer).setUint32(20, mtu, true);
  map('tooBig').update(u32Key(multicastStateIndex(0, role)), value);
};
const routes = () => {
  const kernel = TreeRoutes.open({ netns: agent.ns });
  try {
    return kernel.own();
  } finally {
    kernel.close();
  }
};
const treeInUse = () => {
  const srh = routes().find((route) => route.srh)?.srh;
  return srh && treeOfSrh(srh, 125);
};
const problems = () => agent.dataplane.problems().map(({ problem }) => problem);

describe('a plan', () => {
  test('RMC-5.1-a: becomes groups, lists, SIDs, a device and, a settle time later, a route into the tree', () => {
    agent.apply(agent.plan());
    expect(problems()).toEqual([]);
    expect(decodeMulticastGroup(map('groups').lookup(u32Key(0))!)).toMatchObject({
      ...{ proxy: address(GROUP), isRoot: true, sourceQpn: 99, edge: EDGE_SID, replication: ROOT_SID },
    });
    const list = listOf(1);
    expect(list).toMatchObject({ group: 0, count: 2, role: 'edge', hasLocal: false, parent: 0 });
    expect([1, 2].map((n) => slotOf(n, listNumber(1)!))).toEqual([list.first, list.first + 1]);
    expect(map('destinations').lookup(addressKey(ROOT_SID))![4]).toBe(2);
    const blackholes = routes().filter((route) => route.ifindex === undefined);
    expect(blackholes.map((route) => formatAddress(route.destination)).sort()).toEqual(['fc00:1::100', 'fc00:1::200']);
    expect(treeInUse()).toBeUndefined();
    agent.advance(500);
    expect(treeInUse()).toMatchObject({ membersDigest: digest(1), treeDigest: digest(0x81) });
    expect(ip(agent.ns, `-6 route show ${GROUP}`)).toContain('dev cnpd-mc-peer proto 111 metric 1024 mtu lock 1396');
    expect(existsSync(`${agent.linksDir}/multicast_root@cnpd-mc:egress`)).toBe(true);
    expect(existsSync(`${agent.linksDir}/multicast_entry@cnpd-mc-peer:egress`)).toBe(true);
    expect(existsSync(`${agent.linksDir}/multicast_ingress@t-mc-core:ingress`)).toBe(true);
  });

  test('with another tree: both lists are there for 10 s; the next epoch begins after the settle time', () => {
    agent.apply(agent.plan());
    agent.advance(500);
    const { epoch } = treeInUse()!;
    const before = listNumber(1)!;
    agent.apply(agent.plan({ lists: lists(2, [receiver(2), receiver(3)]), headEnds: [headEnd(2)] }));
    expect([treeInUse()!.epoch, listNumber(1)]).toEqual([epoch, before]);
    agent.advance(500);
    expect(treeInUse()).toMatchObject({ epoch: (epoch + 1) & 0xfffff, treeDigest: digest(0x82) });
    agent.advance(9499);
    expect([listNumber(1), slotOf(1, before)]).toEqual([before, listOf(1).first]);
    agent.advance(1);
    expect([listNumber(1), slotOf(1, before), slotOf(2, before)]).toEqual([undefined, undefined, undefined]);
    expect(slotOf(3, listNumber(2)!)).toBeDefined();
  });

  test('a receiver that gets packets already need not wait in the next list; a new one must', () => {
    agent.apply(agent.plan());
    const list = listNumber(1)!;
    map('records').update(u32Key(slotOf(1, list)!), newMulticastRecord(true));
    useList('edge', list);
    agent.apply(agent.plan({ lists: lists(2, [receiver(1), receiver(2), receiver(3)]) }));
    const records = [1, 2, 3].map((n) => map('records').lookup(u32Key(slotOf(n, listNumber(2)!)!))!);
    expect(records).toEqual([true, false, false].map(newMulticastRecord));
  });

  test('without the group removes routes at once, and all else in time', () => {
    agent.apply(agent.plan());
    agent.advance(500);
    agent.ns.run(() => agent.dataplane.forgetUnknown());
    agent.apply(agent.plan({ groups: [], lists: [], headEnds: [] }));
    expect(routes().filter((route) => route.ifindex !== undefined && route.srh)).toEqual([]);
    expect(() => ip(agent.ns, 'link show dev cnpd-mc')).toThrow('does not exist');
    expect(ip(agent.ns, '-6 rule show')).not.toContain('cnpd-mc');
    agent.advance(12_000);
    expect([...map('listIds').keys(), ...map('members').keys()]).toEqual([]);
    expect(map('destinations').lookup(addressKey(address(GROUP)))).toBeUndefined();
  });

  test("a source's Queue Pair that becomes known changes the group's entry only", () => {
    const source = { address: address('2001:db8:a::2'), qpn: null };
    agent.apply(agent.plan({ groups: [group(GROUP, { source })] }));
    const number = listNumber(1);
    expect(decodeMulticastGroup(map('groups').lookup(u32Key(0))!).sourceQpn).toBeNull();
    agent.apply(agent.plan());
    expect(decodeMulticastGroup(map('groups').lookup(u32Key(0))!).sourceQpn).toBe(99);
    expect(listNumber(1)).toBe(number);
  });

  test("RMC-5.3.3-d: another window T changes the group's entry only: tree, list and records stay", () => {
    const windowNs = (): number => decodeMulticastGroup(map('groups').lookup(u32Key(0))!).cnpWindowNs;
    agent.apply(agent.plan());
    agent.advance(500);
    const slot = u32Key(slotOf(1, listNumber(1)!)!);
    map('records').update(slot, new Uint8Array(MULTICAST_RECORD_SIZE).fill(3));
    const seen = () => [treeInUse(), listNumber(1), map('records').lookup(slot)];
    const before = seen();
    expect(windowNs()).toBe(50_000);
    agent.apply(agent.plan({ groups: [group(GROUP, { cnpWindowNs: 2_000_000 })] }));
    agent.advance(1000);
    expect([windowNs(), seen()]).toEqual([2_000_000, before]);
  });
});

describe('what cannot be applied is named, and nothing of it is in the kernel', () => {
  test('lists beyond the table of branches', () => {
    const receivers = Array.from({ length: 64 }, (_, i) => receiver(i + 1));
    const many = Array.from({ length: 1025 }, (_, i) => ({
      ...lists(1, receivers)[0]!,
      ...{ id: `edge ${i}`, digest: new Uint8Array(Uint32Array.of(i, 7).buffer) },
    }));
    agent.apply(agent.plan({ lists: many, headEnds: [] }));
    expect(problems()).toEqual([
      "edge 1024: the kernel's table of branches has no room for 64 in a row: 0 of 65536 are free",
    ]);
    expect([...map('listIds').keys()]).toHaveLength(1024);
    expect([...map('members').keys()]).toHaveLength(65_536);
    agent.apply(agent.plan({ lists: many.slice(1), headEnds: [] }));
    agent.advance(10_000);
    agent.advance(30_000);
    expect(problems()).toEqual([]);
  });

  test('a list whose parent is no known router', () => {
    const [edge, tree] = lists(1, [receiver(1)]);
    agent.apply(agent.plan({ lists: [edge!, { ...tree!, parent: address('fc00:9::1') }] }));
    expect(problems()).toEqual([`tree ${GROUP} 1: the parent fc00:9::1 is not a known router`]);
    agent.advance(5000);
    // A root does not use a tree whose list it has not.
    expect(treeInUse()).toBeUndefined();
  });

  test('a SID with a route of another program is refused, and not taken from it', () => {
    ip(agent.ns, 'link set t-mc-core up');
    ip(agent.ns, 'route add fc00:1::200/128 encap seg6local action End dev t-mc-core');
    agent.apply(agent.plan());
    expect([...agent.dataplane.refusedSids()]).toEqual(['fc00:1::200']);
    expect(map('destinations').lookup(addressKey(EDGE_SID))).toBeUndefined();
    expect(ip(agent.ns, '-6 route show fc00:1::200')).toContain('seg6local');
  });
});

describe('SIDs are not advertised while nothing is behind them', () => {
  const both = [EDGE_SID, ROOT_SID].map(formatAddress);
  const refused = (): string[] => [...agent.dataplane.refusedSids()];

  test('RMC-5.2-d: once the programs run at the core port, none is refused', () => {
    agent.apply(agent.plan());
    expect(refused()).toEqual([]);
  });

  test('RMC-5.2-d: without a plan, as with a kernel that lacks what they need, both are refused', () => {
    agent.apply(undefined);
    expect(refused()).toEqual(both);
  });

  test('RMC-5.2-d: while the programs cannot be loaded', () => {
    agent.restart('/nonexistent');
    agent.apply(agent.plan());
    expect(refused()).toEqual(both);
  });

  test('RMC-5.2-d: while they are not attached at one of the core ports', () => {
    const gone = { id: 't-mc-gone', interface: 't-mc-gone', ifindex: 9999, isCore: true };
    agent.apply(agent.plan({ ports: [...agent.plan().ports, gone] }));
    expect(refused()).toEqual(both);
    const withheld = (): string[] =>
      agent.dataplane.problems().flatMap(({ code, problem }) => (code === 'groups.sids-withheld' ? [problem] : []));
    expect(withheld()).toEqual([
      `${both.join(', ')}: not advertised, so no tree uses this router: the program of groups does not run at ` +
        't-mc-gone, and packets that arrive there would be lost',
    ]);
    agent.apply(agent.plan({ ports: [...agent.plan().ports, { ...gone, isCore: false }] }));
    expect([refused(), withheld()], 'at a port of hosts it does not matter').toEqual([[], []]);
  });
});

describe('a root whose agent is down, or behind, goes on with its tree', () => {
  const NOTHING = { groups: [], lists: [], headEnds: [], routers: [] };
  const routerNumber = (sid: IpAddress): number | undefined => {
    const value = map('routers').lookup(addressKey(sid));
    return value && readU32Key(value);
  };
  const seen = () => ({
    edge: listNumber(1),
    tree: listNumber(1, 'branching'),
    member: slotOf(1, 1) !== undefined,
    group: map('destinations').lookup(addressKey(address(GROUP))) !== undefined,
    parent: routerNumber(CHILD_SIDS[0]!) !== undefined,
    other: routerNumber(CHILD_SIDS[1]!) !== undefined,
  });
  const KEPT = { edge: 1, tree: undefined, member: true, group: true, parent: true, other: false };
  const GONE = { edge: undefined, tree: undefined, member: false, group: false, parent: false, other: false };
  const flowFrom = (sid: IpAddress): void =>
    useList('edge', listNumber(1)!, { parent: routerNumber(sid)!, dataNs: FLOWING });

  test('RMC-5.2-c: a list by which packets come stays, with its group and the router that they come from', () => {
    agent.apply(agent.plan());
    flowFrom(CHILD_SIDS[0]!);
    agent.apply(agent.plan(NOTHING));
    agent.advance(60_000);
    expect(seen()).toEqual(KEPT);
    useList('edge', 1, { parent: routerNumber(CHILD_SIDS[0]!)!, dataNs: 1n });
    agent.advance(1000);
    expect(seen(), 'once no packet has come for a while').toEqual(GONE);
  });

  test('also if this agent was away meanwhile', () => {
    agent.apply(agent.plan());
    flowFrom(CHILD_SIDS[0]!);
    agent.restart();
    agent.apply(agent.plan(NOTHING));
    agent.ns.run(() => agent.dataplane.forgetUnknown());
    agent.advance(61_000);
    expect(seen()).toEqual(KEPT);
    useList('edge', 1, { parent: routerNumber(CHILD_SIDS[0]!)!, dataNs: 1n });
    agent.advance(61_000);
    expect(seen()).toEqual(GONE);
  });

  test.each([false, true])(
    'no other list gets a number, or slots, that a state still names; restarted meanwhile: %s',
    (restarts) => {
      const numbered = (n: number): number => {
        agent.apply(agent.plan({ lists: lists(n, [receiver(1), receiver(2)]).slice(0, 1), headEnds: [] }));
        return listNumber(n)!;
      };
      const first = numbered(1);
      const slots = [listOf(1).first, listOf(1).first + 1];
      useList('edge', first);
      const second = numbered(2);
      agent.advance(10_000);
      expect(listNumber(1)).toBeUndefined();
      if (restarts) agent.restart();
      const third = numbered(3);
      expect([first, second, third], 'three numbers').toEqual([1, 2, 3]);
      expect(slots).not.toContain(listOf(3).first);
      useList('edge', third);
      expect([numbered(4), listOf(4).first], 'the state names another one').toEqual([first, slots[0]]);
    },
  );
});

describe('a restart', () => {
  test('finds the same numbers, keeps records, tree and epoch, and touches nothing', () => {
    const second = '2001:db8:99::2';
    const two = (n: number) => ({
      groups: [group(), group(second)],
      lists: [...lists(n, [receiver(1), receiver(2)]), ...lists(n, [receiver(3)], second)],
      headEnds: [headEnd(n), headEnd(n, second)],
    });
    agent.apply(agent.plan(two(1)));
    agent.advance(500);
    const slot = slotOf(1, listNumber(1)!)!;
    const record = new Uint8Array(MULTICAST_RECORD_SIZE).fill(3);
    map('records').update(u32Key(slot), record);
    const state = new Uint8Array(map('states').lookup(u32Key(1))!.length).fill(5);
    map('states').update(u32Key(1), state);
    const seen = () => ({
      lists: ([1, 2] as const).map((n) => [listNumber(n), listNumber(n, 'branching'), listNumber(n, 'edge', 1)]),
      record: map('records').lookup(u32Key(slot)),
      state: map('states').lookup(u32Key(1)),
      routes: routes(),
      links: ip(agent.ns, '-o link show dev cnpd-mc'),
    });
    const before = seen();
    expect(before).toMatchObject({ record, state });
    agent.restart();
    // At first the agent knows only itself.
    agent.apply(agent.plan({ groups: [], lists: [], headEnds: [], routers: [] }));
    agent.ns.run(() => agent.dataplane.prune());
    expect(seen()).toEqual(before);
    agent.apply(agent.plan({ ...two(1), groups: [group(second), group()] }));
    agent.ns.run(() => agent.dataplane.forgetUnknown());
    agent.advance(60_000);
    expect(seen()).toEqual(before);
    agent.apply(agent.plan({ ...two(1), groups: [group(second), group()], headEnds: [headEnd(1)] }));
    expect(routes().filter((route) => route.srh)).toHaveLength(1);
  });

  test('members that a killed process has left of a list without a name are removed', () => {
    agent.apply(agent.plan());
    map('members').update(multicastMemberKey({ address: address('2001:db8:b::9'), list: 4000 }), u32Key(7));
    agent.restart();
    agent.apply(agent.plan());
    expect(
      map('members').lookup(multicastMemberKey({ address: address('2001:db8:b::9'), list: 4000 })),
    ).toBeUndefined();
    expect(slotOf(1, listNumber(1)!)).toBeDefined();
  });

  test('what nobody desires any more goes when the network has advertised everything again', () => {
    agent.apply(agent.plan());
    agent.advance(500);
    agent.restart();
    agent.apply(agent.plan({ groups: [], lists: [], headEnds: [], routers: [], sids: [] }));
    agent.ns.run(() => agent.dataplane.prune());
    expect(treeInUse()).toBeDefined();
    agent.ns.run(() => agent.dataplane.forgetUnknown());
    agent.advance(60_000);
    expect([...map('listIds').keys(), ...map('destinations').keys(), ...map('routers').keys()]).toEqual([]);
    expect(routes()).toEqual([]);
    expect(() => ip(agent.ns, 'link show dev cnpd-mc')).toThrow('does not exist');
  });
});

describe('a discard of what no tree takes', () => {
  const DISCARDS = [{ id: GROUP, address: address(GROUP) }];
  const isThere = (): boolean => ip(agent.ns, `-6 route show ${GROUP}`).includes('blackhole');

  test('is there from the first plan on, beside the way into the tree, over full passes and a restart', () => {
    agent.apply(agent.plan({ discards: DISCARDS }));
    expect([isThere(), treeInUse()]).toEqual([true, undefined]);
    agent.advance(500);
    expect(ip(agent.ns, `-6 route get ${GROUP}`)).toContain('dev cnpd-mc-peer');
    for (let pass = 0; pass < 2; pass++) {
      agent.ns.run(() => agent.dataplane.prune());
      expect([isThere(), treeInUse() !== undefined]).toEqual([true, true]);
      agent.restart();
      agent.apply(agent.plan({ discards: DISCARDS }));
    }
  });

  test('goes with the group, and by a full pass after a restart without it', () => {
    agent.apply(agent.plan({ discards: DISCARDS }));
    agent.apply(agent.plan({ groups: [], lists: [], headEnds: [] }));
    expect(isThere()).toBe(false);
    agent.apply(agent.plan({ discards: DISCARDS }));
    agent.restart();
    agent.apply(agent.plan({ groups: [], lists: [], headEnds: [] }));
    agent.ns.run(() => agent.dataplane.prune());
    expect(isThere()).toBe(false);
  });

  test('goes with uninstall', () => {
    agent.apply(agent.plan({ discards: DISCARDS }));
    expect(agent.ns.run(() => removeTrees()).join()).toContain(GROUP);
    expect(isThere()).toBe(false);
  });
});

describe('sweeps and views', () => {
  const label = 9n << 54n;
  const SET = 1n << 53n;
  const word = (psn: number): bigint => label | SET | BigInt(psn);
  /** What programs write while data of epoch 9 flows. */
  const flow = (high: number, next: readonly number[], fields: Readonly<Record<number, bigint>> = {}): void => {
    const list = listNumber(1)!;
    const state = stateWith((9n << 44n) | (BigInt(list) << 22n));
    const view = new DataView(state.buffer);
    view.setBigUint64(8, word(high), true);
    view.setBigUint64(48, process.hrtime.bigint(), true);
    for (const [at, value] of Object.entries(fields)) view.setBigUint64(Number(at), value, true);
    map('states').update(u32Key(0), state);
    next.forEach((psn, i) => {
      const record = newMulticastRecord(true);
      new DataView(record.buffer).setBigUint64(0, word(psn), true);
      map('records').update(u32Key(listOf(1).first + i), record);
    });
  };
  const stalled = () =>
    agent.dataplane
      .problems()
      .filter(({ code }) => code === 'groups.branch-stalled')
      .map(({ problem }) => problem);
  const view = () => [...agent.dataplane.multicast!.groupsView()];

  test('a view has the branches of the list in use, with what is confirmed in its epoch', () => {
    agent.apply(agent.plan());
    flow(20, [20, 15]);
    expect(view()).toMatchObject([
      {
        ...{ group: GROUP, role: 'edge', isRoot: false, nextDataPsn: 20 },
        current: { epoch: 9, list: `edge ${GROUP} 1`, digest: '0101010101010101', parent: null },
        branches: [
          { kind: 'receiver', address: address('2001:db8:b::1'), qpn: 101, nextPsn: 20, isWaiting: false },
          { kind: 'receiver', address: address('2001:db8:b::2'), qpn: 102, nextPsn: 15 },
        ],
      },
      { role: 'branching', isRoot: true, current: null, branches: [{ kind: 'local' }, { kind: 'child' }, {}] },
    ]);
    map('states').update(u32Key(0), stateWith((8n << 44n) | (BigInt(listNumber(1)!) << 22n)));
    expect(view()[0]).toMatchObject({ nextDataPsn: null, branches: [{ nextPsn: null }, { nextPsn: null }] });
  });

  test.each([false, true])(
    'a branch that confirms nothing while data flows is a problem until it does; left out: %s',
    (dropStalled) => {
      agent.apply(agent.plan({ dropStalled }));
      flow(20, [20, 15]);
      agent.advance(1000);
      expect(stalled()).toEqual([]);
      agent.advance(2000);
      const end = dropStalled ? 'it is left out' : 'the source waits for it';
      expect(stalled()).toEqual([
        expect.stringMatching(
          `group ${GROUP}: receiver 2001:db8:b::2 has confirmed nothing from PSN 15 on for . s; ${end}`,
        ),
      ]);
      agent.advance(1000);
      expect(view()[0]!.branches.map(({ isExcluded }) => isExcluded)).toEqual([false, dropStalled]);
      flow(20, [20, 16]);
      agent.advance(1000);
      expect(stalled()).toEqual([]);
      expect(view()[0]!.branches.map(({ isExcluded }) => isExcluded)).toEqual([false, false]);
    },
  );

  test('a path MTU from Packet Too Big lowers that of the source for ten minutes; 1280 is the least', () => {
    agent.apply(agent.plan({ headEnds: [{ ...headEnd(1), mtu: 9000 }] }));
    agent.advance(500);
    const mtu = (): string | undefined => /mtu lock (\d+)/.exec(ip(agent.ns, `-6 route show ${GROUP}`))?.[1];
    expect(mtu()).toBe('8896');
    const before = treeInUse();
    noteTooBig('branching', 1500);
    agent.advance(200);
    expect([mtu(), treeInUse(), [...map('tooBig').keys()]]).toEqual(['1396', before, []]);
    noteTooBig('edge', 1450);
    agent.advance(200);
    expect(mtu(), 'to its own receivers').toBe('1346');
    noteTooBig('branching', 9);
    agent.advance(200);
    expect(mtu()).toBe('1280');
    agent.advance(600_000);
    expect(mtu()).toBe('8896');
  });
});

describe('what somebody removed is restored by the next full pass', () => {
  test('routes, the rule, names of lists, and the device', () => {
    agent.apply(agent.plan());
    agent.advance(500);
    const before = { tree: treeInUse(), list: listNumber(1) };
    for (const route of ['route del 2001:db8:99::1 table 479111', 'rule del pref 111', 'route del fc00:1::200'])
      ip(agent.ns, `-6 ${route}`);
    map('listIds').delete(multicastListKey({ digest: digest(1), group: 0, role: 'edge' }));
    agent.advance(61_000);
    expect({ tree: treeInUse(), list: listNumber(1) }).toEqual(before);
    expect(ip(agent.ns, '-6 rule show')).toContain('iif cnpd-mc lookup 479111');
    expect(ip(agent.ns, '-6 route show type blackhole')).toContain('fc00:1::200');
    ip(agent.ns, 'link del cnpd-mc');
    agent.apply(agent.plan());
    agent.advance(61_000);
    expect(treeInUse()).toEqual(before.tree);
  });
});
