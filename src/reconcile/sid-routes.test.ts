import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../model/address.ts';
import { RTPROT_CNPD, type SidRoute } from '../kernel/netlink/sid-routes.ts';
import type { Seg6LocalRoute } from '../kernel/netlink/seg6local.ts';
import { type EndConRoute, removeSidRoutes, sidRouteOperations } from './sid-routes.ts';

const SID = address('2001:db8:c::1');
const wanted = (over: Partial<EndConRoute> = {}): EndConRoute => ({
  id: formatAddress(SID),
  sid: SID,
  table: 254,
  ifindex: 5,
  ...over,
});

function memoryKernel() {
  const routes = new Map<bigint, Seg6LocalRoute>();
  const log: string[] = [];
  const put = (route: SidRoute, protocol: number): void => {
    routes.set(route.sid.value, { ...route, length: 128, counted: false, protocol, metric: 1024, inTable: 254 });
  };
  return {
    routes,
    log,
    put,
    find: (sid: typeof SID) => routes.get(sid.value),
    own: () => [...routes.values()].filter((r) => r.protocol === RTPROT_CNPD),
    add: (route: SidRoute) => {
      log.push(`add ${formatAddress(route.sid)} table ${route.table}`);
      put(route, RTPROT_CNPD);
    },
    remove: (route: SidRoute) => {
      log.push(`remove ${formatAddress(route.sid)}`);
      return routes.delete(route.sid.value);
    },
  };
}

describe('SIDs as routes', () => {
  test('FCN-4.2.2-a: are added once, and adopted from an earlier run without being taken away', () => {
    const kernel = memoryKernel();
    sidRouteOperations(kernel).update(wanted());
    const next = sidRouteOperations(kernel);
    next.update(wanted());
    expect(kernel.log).toEqual(['add 2001:db8:c::1 table 254']);
    expect(next.verify!(wanted())).toBe(true);
  });

  test('are made anew when table or interface changed, ours alone', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(wanted());
    expect(operations.verify!(wanted({ table: 10 }))).toBe(false);
    operations.update(wanted({ table: 10 }));
    operations.update(wanted({ table: 10, ifindex: 6 }));
    expect(kernel.log.filter((line) => line.startsWith('add'))).toEqual([
      'add 2001:db8:c::1 table 254',
      'add 2001:db8:c::1 table 10',
      'add 2001:db8:c::1 table 10',
    ]);
  });

  test("somebody else's route of the same SID is refused by name, and never touched", () => {
    const kernel = memoryKernel();
    kernel.put({ sid: SID, action: 'end.dt6', table: 254, ifindex: 5 }, 196);
    const operations = sidRouteOperations(kernel);
    expect(() => operations.update(wanted())).toThrow(
      '2001:db8:c::1 is already a SID of another program: end.dt6, protocol 196',
    );
    operations.delete(wanted().id);
    expect([...operations.prune(new Set<string>())].filter(Boolean)).toEqual([]);
    expect([kernel.log, kernel.routes.size]).toEqual([[], 1]);
  });

  test('strays of an earlier run are pruned, those of others stay', () => {
    const kernel = memoryKernel();
    kernel.put({ sid: address('2001:db8:c::9'), action: 'end.dt6', table: 254, ifindex: 5 }, RTPROT_CNPD);
    kernel.put({ sid: address('2001:db8:c::8'), action: 'end.dt6', table: 254, ifindex: 5 }, 4);
    const operations = sidRouteOperations(kernel);
    operations.update(wanted());
    expect([...operations.prune(new Set([wanted().id]))].filter(Boolean)).toHaveLength(1);
    expect([...kernel.routes.values()].map((r) => formatAddress(r.sid)).sort()).toEqual([
      '2001:db8:c::1',
      '2001:db8:c::8',
    ]);
  });

  test('a deleted one goes', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(wanted());
    operations.delete(wanted().id);
    expect(kernel.routes.size).toBe(0);
  });
});

describe('SIDs that are nobody’s any more', () => {
  test('are all removed, and named; those of others stay, and what somebody else removed in between is not named', () => {
    const kernel = memoryKernel();
    for (const [text, protocol] of [
      ['2001:db8:c::7', RTPROT_CNPD],
      ['2001:db8:c::8', 4],
      ['2001:db8:c::9', RTPROT_CNPD],
    ] as const) {
      kernel.put({ sid: address(text), action: 'end.dt6', table: 254, ifindex: 5 }, protocol);
    }
    const own = kernel.own();
    kernel.routes.delete(address('2001:db8:c::7').value);
    expect(removeSidRoutes({ ...kernel, own: () => own })).toEqual(['2001:db8:c::9']);
    expect([...kernel.routes.values()].map((r) => formatAddress(r.sid))).toEqual(['2001:db8:c::8']);
  });

  test('a route is removed by the table and the interface that it has, which need not be those that are wanted now', () => {
    const kernel = memoryKernel();
    kernel.put({ sid: SID, action: 'end.dt6', table: 10, ifindex: 9 }, RTPROT_CNPD);
    const removed: SidRoute[] = [];
    const remove = (route: SidRoute): boolean => removed.push(route) > 0 && kernel.remove(route);
    const operations = sidRouteOperations({ ...kernel, remove });
    operations.update(wanted());
    operations.delete(wanted().id);
    kernel.put({ sid: SID, action: 'end.dt6', table: 11, ifindex: 8 }, RTPROT_CNPD);
    expect([...operations.prune(new Set([]))]).toEqual([true]);
    const of = { sid: SID, action: 'end.dt6' };
    expect(removed).toEqual([
      { ...of, table: 10, ifindex: 9 },
      { ...of, table: 254, ifindex: 5 },
      { ...of, table: 11, ifindex: 8 },
    ]);
  });

  test('a delete of what is gone already, or was never ours, removes nothing', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(wanted());
    kernel.routes.clear();
    operations.delete(wanted().id);
    operations.delete('2001:db8:c::77');
    expect([kernel.log, operations.verify!(wanted())]).toEqual([['add 2001:db8:c::1 table 254'], false]);
    kernel.put({ sid: SID, action: 'end.dt6', table: 254, ifindex: 5 }, 4);
    expect(operations.verify!(wanted())).toBe(false);
    kernel.put({ sid: SID, action: 'end', table: 254, ifindex: 5 }, RTPROT_CNPD);
    expect(operations.verify!(wanted())).toBe(false);
  });
});
