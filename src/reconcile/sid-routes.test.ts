import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../model/address.ts';
import { RTPROT_CNPD, type SidRoute } from '../kernel/netlink/sid-routes.ts';
import type { Seg6LocalRoute } from '../kernel/netlink/seg6local.ts';
import { type EndConRoute, removeSidRoutes, sidRouteOperations } from './sid-routes.ts';

const SID = address('2001:db8:c::1');
const desired = (over: Partial<EndConRoute> = {}): EndConRoute => ({
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
  test('FCN-4.2.2-a: are added once, and adopted from an earlier run without being removed', () => {
    const kernel = memoryKernel();
    sidRouteOperations(kernel).update(desired());
    const next = sidRouteOperations(kernel);
    next.update(desired());
    expect(kernel.log).toEqual(['add 2001:db8:c::1 table 254']);
    expect(next.verify!(desired())).toBe(true);
  });

  test('are replaced when table or interface changed, but only cnpd’s', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(desired());
    expect(operations.verify!(desired({ table: 10 }))).toBe(false);
    operations.update(desired({ table: 10 }));
    operations.update(desired({ table: 10, ifindex: 6 }));
    expect(kernel.log.filter((line) => line.startsWith('add'))).toEqual([
      'add 2001:db8:c::1 table 254',
      'add 2001:db8:c::1 table 10',
      'add 2001:db8:c::1 table 10',
    ]);
  });

  test("another program's route of the same SID is reported by name, and never touched", () => {
    const kernel = memoryKernel();
    kernel.put({ sid: SID, action: 'end.dt6', table: 254, ifindex: 5 }, 196);
    const operations = sidRouteOperations(kernel);
    expect(() => operations.update(desired())).toThrow(
      '2001:db8:c::1 is already a SID of another program: end.dt6, protocol 196',
    );
    operations.delete(desired().id);
    expect([...operations.prune(new Set<string>())].filter(Boolean)).toEqual([]);
    expect({ log: kernel.log, routesSize: kernel.routes.size }).toEqual({ log: [], routesSize: 1 });
  });

  test('strays of an earlier run are pruned, routes of other programs stay', () => {
    const kernel = memoryKernel();
    kernel.put({ sid: address('2001:db8:c::9'), action: 'end.dt6', table: 254, ifindex: 5 }, RTPROT_CNPD);
    kernel.put({ sid: address('2001:db8:c::8'), action: 'end.dt6', table: 254, ifindex: 5 }, 4);
    const operations = sidRouteOperations(kernel);
    operations.update(desired());
    expect([...operations.prune(new Set([desired().id]))].filter(Boolean)).toHaveLength(1);
    expect([...kernel.routes.values()].map((r) => formatAddress(r.sid)).sort()).toEqual([
      '2001:db8:c::1',
      '2001:db8:c::8',
    ]);
  });

  test('a deleted one is removed', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(desired());
    operations.delete(desired().id);
    expect(kernel.routes.size).toBe(0);
  });
});

describe('SIDs that are no longer declared', () => {
  test('are all removed and listed; routes of other programs stay, and those removed by others are not listed', () => {
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

  test('a route is removed by its actual table and interface, which may differ from the desired ones', () => {
    const kernel = memoryKernel();
    kernel.put({ sid: SID, action: 'end.dt6', table: 10, ifindex: 9 }, RTPROT_CNPD);
    const removed: SidRoute[] = [];
    const remove = (route: SidRoute): boolean => removed.push(route) > 0 && kernel.remove(route);
    const operations = sidRouteOperations({ ...kernel, remove });
    operations.update(desired());
    operations.delete(desired().id);
    kernel.put({ sid: SID, action: 'end.dt6', table: 11, ifindex: 8 }, RTPROT_CNPD);
    expect([...operations.prune(new Set([]))]).toEqual([true]);
    const of = { sid: SID, action: 'end.dt6' };
    expect(removed).toEqual([
      { ...of, table: 10, ifindex: 9 },
      { ...of, table: 254, ifindex: 5 },
      { ...of, table: 11, ifindex: 8 },
    ]);
  });

  test('a delete of a route that is gone, or of another program’s, removes nothing', () => {
    const kernel = memoryKernel();
    const operations = sidRouteOperations(kernel);
    operations.update(desired());
    kernel.routes.clear();
    operations.delete(desired().id);
    operations.delete('2001:db8:c::77');
    expect({ log: kernel.log, verify: operations.verify!(desired()) }).toEqual({
      log: ['add 2001:db8:c::1 table 254'],
      verify: false,
    });
    kernel.put({ sid: SID, action: 'end.dt6', table: 254, ifindex: 5 }, 4);
    expect(operations.verify!(desired())).toBe(false);
    kernel.put({ sid: SID, action: 'end', table: 254, ifindex: 5 }, RTPROT_CNPD);
    expect(operations.verify!(desired())).toBe(false);
  });
});
