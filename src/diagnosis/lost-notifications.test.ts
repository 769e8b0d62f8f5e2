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
    problems: (of: Pick<Intent, 'srv6'> = intent(254, 77)) => lost.problems(of),
  };
}

describe('IPv4 lost at END.CON', () => {
  test('is a problem from the next packet on, with its reason; packets counted by an earlier run are not', () => {
    const { problems, count, logged } = watched({ [HOOK]: 5, [SHARED]: 9 });
    expect(problems()).toEqual([]);
    count({ [HOOK]: 6, [SHARED]: 9 });
    expect(problems()).toEqual([
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
    expect(problems().map(({ problem }) => problem.split(' is lost')[0])).toEqual([
      'IPv4 behind END.CON 2001:db8:c::77 (table 77)',
      'IPv4 other than CNPs behind END.CON 2001:db8:c::77 (table 77)',
    ]);
    expect(logged).toHaveLength(2);
  });

  test('is reported for ten minutes after the last packet, and logged anew after that', () => {
    const { problems, count, clock, lost, logged } = watched({ [HOOK]: 0 });
    lost.sample();
    count({ [HOOK]: 1 });
    lost.sample();
    clock.advance(599_999);
    expect(problems()).toHaveLength(1);
    clock.advance(1);
    expect(problems()).toEqual([]);
    count({ [HOOK]: 2 });
    expect({ problemsLength: problems().length, loggedLength: logged.length }).toEqual({
      problemsLength: 1,
      loggedLength: 2,
    });
  });

  test('is no problem once every SID is in the main table, and names all that are not', () => {
    const { problems, count } = watched({ [SHARED]: 0 });
    problems();
    count({ [SHARED]: 1 });
    expect(problems(intent(254))).toEqual([]);
    expect(problems({})).toEqual([]);
    expect(problems(intent(77, 100))[0]!.problem).toContain(
      'END.CON 2001:db8:c::77 (table 77) or 2001:db8:c::100 (table 100) is lost',
    );
  });

  test('an absent dataplane, or one whose counters restart, is no problem', () => {
    const { problems, count } = watched(undefined);
    expect(problems()).toEqual([]);
    for (const counters of [{}, { [HOOK]: 700 }, { [HOOK]: 0 }]) {
      count(counters);
      expect(problems()).toEqual([]);
    }
    count({ [HOOK]: 1 });
    expect(problems()).toHaveLength(1);
  });
});

describe('notifications without a route', () => {
  test('are a problem with any configuration, once they are counted', () => {
    const { problems, count } = watched({ [NO_ROUTE]: 7 });
    expect(problems({})).toEqual([]);
    count({ [NO_ROUTE]: 8 });
    expect(problems({})).toMatchObject([{ feature: 'ports', problem: expect.stringContaining(NO_ROUTE) as string }]);
  });
});
