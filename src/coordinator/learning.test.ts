import { reported } from '../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import type { Steps } from '../model/work.ts';
import { prefix } from '../model/prefix.ts';
import { LearnedTable } from '../learned/table.ts';
import type { SenderProxyPlan } from '../plan/desired.ts';
import { Learning } from './learning.ts';

const proxy = address('2001:db8:ffff::1');

/** With a dataplane that follows the table of senders. */
function world(holdMs = 1000) {
  const clock = manualClock();
  const work = new ManualWork();
  const dataplane = new Map<string, SenderProxyPlan>();
  let calls = 0;
  let routerNews = 0;
  let topologyNews = 0;
  const table = new LearnedTable({ holdMs }, { clock, count: () => {} });
  let before = table.senders;
  const learning = new Learning({
    table,
    clock,
    work,
    onSenders: () => {
      calls++;
      for (const { upserts, deletes } of table.senders.since(before)!) {
        for (const u of upserts) dataplane.set(u.id, u);
        for (const d of deletes) dataplane.delete(d);
      }
      before = table.senders;
    },
    onRouters: () => void routerNews++,
    onTopology: () => void topologyNews++,
    onSettled: () => {},
  });
  const report = (count: number): void => {
    const prefixes = Array.from({ length: count }, (_, i) => ({
      prefix: prefix(`2001:${(0xdb8 + (i >> 15)).toString(16)}:${((i & 0x7fff) + 16).toString(16)}::/48`),
      pnc: true,
      proxy,
      metric: 10,
    }));
    learning.learned({
      carrier: 'isis',
      source: 'L2 1.00-00',
      originator: 'L2 1',
      advertisements: reported({ prefixes }),
    });
  };
  return {
    clock,
    work,
    dataplane,
    table,
    learning,
    report,
    calls: () => calls,
    routerNews: () => routerNews,
    topologyNews: () => topologyNews,
  };
}
const flagged = (table: ReadonlyMap<string, SenderProxyPlan>): number =>
  [...table.values()].filter((s) => s.proxy !== null).length;

describe('from the carriers to the plan', () => {
  test('PNC-1-b: a proxy that the routing domain does not reach is not used', () => {
    const w = world();
    w.report(1);
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(0);
    w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
    w.work.settle();
    expect([...w.dataplane.values()].filter((s) => s.proxy)).toEqual([
      { id: '2001:db8:10::/48', prefix: prefix('2001:db8:10::/48'), proxy },
    ]);
  });

  test('a burst of prefixes is passed on in slices', () => {
    const w = world();
    w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
    w.report(5000);
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(5000);
    expect(w.calls()).toBeGreaterThan(4);
    expect(w.work.turns).toBeGreaterThan(4);
  });

  test('with 100,000 prefixes a hello waits for one turn at most, and a turn is bounded', () => {
    const w = world();
    w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
    w.report(100_000);
    const handedOver: number[] = [];
    const hellos = function* (): Steps {
      while (w.dataplane.size < 100_000) {
        handedOver.push(w.dataplane.size);
        yield;
      }
    };
    w.work.run(hellos(), { budgetMs: 0 });
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(100_000);
    const betweenHellos = handedOver.map((size, i) => size - (handedOver[i - 1] ?? 0));
    expect(Math.max(...betweenHellos)).toBeGreaterThan(0);
    expect(Math.max(...betweenHellos)).toBeLessThan(1000);
  });

  test('the entries of a stopped carrier are held for the hold time, and kept if its successor reports them again', () => {
    const w = world(1000);
    const reachable = new Set(['L2 1']);
    w.learning.reachability({ carrier: 'isis', reachable });
    const advertise = (source: string, text: string): void =>
      w.learning.learned({
        carrier: 'isis',
        source,
        originator: 'L2 1',
        advertisements: reported({ prefixes: [{ prefix: prefix(text), pnc: true, proxy, metric: 1 }] }),
      });
    advertise('a', '2001:db8:a::/48');
    advertise('b', '2001:db8:b::/48');
    w.work.settle();
    w.learning.carrierStopped('isis', 1000);
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(2);
    w.learning.reachability({ carrier: 'isis', reachable });
    advertise('a', '2001:db8:a::/48');
    w.clock.advance(1001);
    w.work.settle();
    expect([...w.dataplane.values()].filter((s) => s.proxy).map((s) => s.id)).toEqual(['2001:db8:a::/48']);
  });

  test('entries of two carriers stopped one after the other are each forgotten after their own hold time', () => {
    const w = world(1000);
    const advertise = (source: string, text: string): void => {
      w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
      w.learning.learned({
        carrier: 'isis',
        source,
        originator: 'L2 1',
        advertisements: reported({ prefixes: [{ prefix: prefix(text), pnc: true, proxy, metric: 1 }] }),
      });
    };
    const known = (): string[] => {
      w.work.settle();
      return [...w.dataplane.values()].filter((s) => s.proxy).map((s) => s.id);
    };
    advertise('a', '2001:db8:a::/48');
    advertise('b', '2001:db8:b::/48');
    w.learning.carrierStopped('isis', 1000);
    w.clock.advance(500);
    advertise('a', '2001:db8:a::/48');
    w.learning.carrierStopped('isis', 1000);
    w.clock.advance(100);
    advertise('c', '2001:db8:c::/48');
    w.clock.advance(399);
    expect(known()).toEqual(['2001:db8:a::/48', '2001:db8:b::/48', '2001:db8:c::/48']);
    w.clock.advance(2);
    expect(known()).toEqual(['2001:db8:a::/48', '2001:db8:c::/48']);
    w.clock.advance(500);
    expect(known()).toEqual(['2001:db8:c::/48']);
  });

  test('the entries of a lost originator are held for the hold time, then removed from the dataplane', () => {
    const w = world(1000);
    w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
    w.report(3);
    w.work.settle();
    w.learning.reachability({ carrier: 'isis', reachable: new Set() });
    w.work.settle();
    w.clock.advance(999);
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(3);
    w.clock.advance(2);
    w.work.settle();
    expect(flagged(w.dataplane)).toBe(0);
  });

  test('FCN-4.2.2-a: a new SID, and the loss of one with its carrier, are reported', () => {
    const w = world(1000);
    const sid = { sid: address('2001:db8:c::1'), behavior: 0x8002 };
    w.learning.reachability({ carrier: 'isis', reachable: new Set(['L2 1']) });
    w.learning.learned({ carrier: 'isis', source: 'a', originator: 'L2 1', advertisements: reported({ sids: [sid] }) });
    w.work.settle();
    expect({ routerNews: w.routerNews(), endConSidsLength: w.table.routers.sidsOf(0x8002).length }).toEqual({
      routerNews: 1,
      endConSidsLength: 1,
    });
    w.learning.carrierStopped('isis', 1000);
    w.work.settle();
    w.clock.advance(1001);
    w.work.settle();
    expect(w.table.routers.sidsOf(0x8002)).toEqual([]);
    expect(w.routerNews()).toBeGreaterThan(1);
  });

  test('a topology is passed on, held when its carrier stops, and forgotten unless the next one reports again', () => {
    const w = world();
    const areas = [{ area: 'L2', self: 'a', nodes: new Map() }];
    const known = (): string[] => w.table.topologies().map(({ carrier }) => carrier);
    const pass = (ms: number): void => {
      w.clock.advance(ms);
      w.work.settle();
    };
    w.learning.topology({ carrier: 'isis', areas });
    w.learning.topology({ carrier: 'ospfv3', areas });
    pass(0);
    expect(w.topologyNews()).toBe(1);
    w.learning.carrierStopped('isis', 1000);
    pass(999);
    expect([known(), w.topologyNews()]).toEqual([['isis', 'ospfv3'], 1]);
    pass(1);
    expect([known(), w.topologyNews()]).toEqual([['ospfv3'], 2]);
    w.learning.topology({ carrier: 'isis', areas });
    w.learning.carrierStopped('isis', 1000);
    pass(500);
    w.learning.topology({ carrier: 'isis', areas });
    pass(10_000);
    expect(known().sort()).toEqual(['isis', 'ospfv3']);
  });

  test('a carrier that stops does not affect entries of another carrier, even under the same source name', () => {
    const w = world(1000);
    for (const carrier of ['isis', 'ospfv3'] as const) {
      w.learning.reachability({ carrier, reachable: new Set(['1']) });
      const text = carrier === 'isis' ? '2001:db8:a::/48' : '2001:db8:b::/48';
      w.learning.learned({
        carrier,
        source: 'same',
        originator: '1',
        advertisements: reported({ prefixes: [{ prefix: prefix(text), pnc: true, proxy, metric: 1 }] }),
      });
    }
    w.learning.carrierStopped('isis', 1000);
    w.work.settle();
    w.clock.advance(1001);
    w.work.settle();
    expect([...w.dataplane.values()].filter((s) => s.proxy).map((s) => s.id)).toEqual(['2001:db8:b::/48']);
  });
});
