import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import type { Intent } from '../intent/intent.ts';
import { LostNotifications } from './lost-notifications.ts';

const HOOK = 'srv6.decap.no-ipv4.hook';
const NO_ROUTE = 'egress.format.no-route';
const SHARED = 'srv6.decap.no-ipv4.shared';
const intent = (...tables: number[]) =>
  ({ srv6: { endCon: tables.map((table) => ({ sid: address(`2001:db8:c::${table}`), table })) } }) as unknown as Pick<
    Intent,
    'srv6'
  >;

function watched(first: Record<string, number> | undefined) {
  const clock = manualClock();
  const logged: object[] = [];
  let counters = first;
  const lost = new LostNotifications({
    counters: () => counters && new Map(Object.entries(counters).map(([name, value]) => [name, BigInt(value)])),
    clock,
    log: { warn: (fields) => void logged.push(fields) },
  });
  return {
    clock,
    logged,
    lost,
    count: (now: Record<string, number> | undefined) => void (counters = now),
    told: (of: Pick<Intent, 'srv6'> = intent(254, 77)) => lost.problems(of),
  };
}

describe('IPv4 lost at END.CON', () => {
  test('is a problem from the next packet on, with its reason; what an earlier run has counted is not', () => {
    const { told, count, logged } = watched({ [HOOK]: 5, [SHARED]: 9 });
    expect(told()).toEqual([]);
    count({ [HOOK]: 6, [SHARED]: 9 });
    expect(told()).toEqual([
      {
        code: 'srv6.ipv4-lost',
        feature: 'srv6',
        problem:
          "IPv4 behind END.CON 2001:db8:c::77 (table 77) is lost: the kernel's End.DT6 takes only IPv6, " +
          'and packets are left to it because a netfilter hook or an IPsec policy of this router applies to ' +
          'them (srv6.decap.no-ipv4.hook)',
        remedy: expect.stringContaining('table: main') as string,
      },
    ]);
    count({ [HOOK]: 6, [SHARED]: 10 });
    expect(told().map(({ problem }) => problem.split(' is lost')[0])).toEqual([
      'IPv4 behind END.CON 2001:db8:c::77 (table 77)',
      'IPv4 other than CNPs behind END.CON 2001:db8:c::77 (table 77)',
    ]);
    expect(logged).toHaveLength(2);
  });

  test('is told for ten minutes after the last packet that was seen, and logged anew after that', () => {
    const { told, count, clock, lost, logged } = watched({ [HOOK]: 0 });
    lost.sample();
    count({ [HOOK]: 1 });
    lost.sample();
    clock.advance(599_999);
    expect(told()).toHaveLength(1);
    clock.advance(1);
    expect(told()).toEqual([]);
    count({ [HOOK]: 2 });
    expect([told().length, logged.length]).toEqual([1, 2]);
  });

  test('is none once every SID is in the main table, and names all that are not', () => {
    const { told, count } = watched({ [SHARED]: 0 });
    told();
    count({ [SHARED]: 1 });
    expect(told(intent(254))).toEqual([]);
    expect(told({})).toEqual([]);
    expect(told(intent(77, 100))[0]!.problem).toContain(
      'END.CON 2001:db8:c::77 (table 77) or 2001:db8:c::100 (table 100) is lost',
    );
  });

  test('a dataplane that is not there yet, or whose counters begin anew, says nothing', () => {
    const { told, count } = watched(undefined);
    expect(told()).toEqual([]);
    for (const counters of [{}, { [HOOK]: 700 }, { [HOOK]: 0 }]) {
      count(counters);
      expect(told()).toEqual([]);
    }
    count({ [HOOK]: 1 });
    expect(told()).toHaveLength(1);
  });
});

describe('notifications without a route', () => {
  test('are a problem with any configuration, once they are counted', () => {
    const { told, count } = watched({ [NO_ROUTE]: 7 });
    expect(told({})).toEqual([]);
    count({ [NO_ROUTE]: 8 });
    expect(told({})).toMatchObject([{ feature: 'ports', problem: expect.stringContaining(NO_ROUTE) as string }]);
  });
});
