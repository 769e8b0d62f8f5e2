import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import type { IsisNeighborState, IsisTrouble } from '../model/carrier-state.ts';
import { isHazard } from '../model/problem.ts';
import { healthOf } from '../state/state-source.ts';
import { problemCheck } from './running.ts';
import { adjacencyProblems, holoProblems, isisProblems, lostFlagProblems } from './isis.ts';

const router = { name: 'r', reversePathCheck: true };
const intent = { router, isis: { interface: 'cnpd-isis' } } as unknown as Intent;
const START = Date.parse('2026-01-01T00:00:00Z');
const neighbor = (state: IsisNeighborState['state'], lastUp: number) => ({
  neighbors: () => [{ state } as IsisNeighborState],
  lastUp: () => lastUp,
});
const nobody = { neighbors: () => [], lastUp: () => -Infinity };

describe('IS-IS without a neighbor', () => {
  test('an adjacency that does not come up is a problem after half a minute', () => {
    expect(adjacencyProblems(intent, nobody, START, START + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, nobody, START, START + 30_000)).toHaveLength(1);
  });

  test('a lost adjacency is a problem half a minute after the loss, and none once it is back', () => {
    const lost = START + 3_600_000;
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 30_000)[0]!.problem).toContain(
      'cnpd-isis',
    );
    expect(adjacencyProblems(intent, neighbor('up', -Infinity), START, lost)).toEqual([]);
  });

  test('no IS-IS declared, no problem', () => {
    expect(adjacencyProblems({} as Intent, undefined, START, START + 1e9)).toEqual([]);
  });
});

describe('IS-IS beside a neighbor', () => {
  const says = (more: Partial<IsisTrouble>) => ({
    trouble: () => [{ level: 2 as const, databaseFull: false, systemIdContested: false, exhausted: [], ...more }],
  });
  const isis = (authentication: object = {}): Intent =>
    ({ router, isis: { systemId: Uint8Array.of(0, 0, 0, 0, 0xc0, 1), authentication } }) as unknown as Intent;
  const until = '2026-11-23T05:00:00.000Z';

  test('nothing', () => {
    expect(isisProblems(isis(), says({}))).toEqual([]);
    expect(isisProblems(isis(), undefined)).toEqual([]);
  });

  test('another router has the system ID', () => {
    expect(isisProblems(isis(), says({ systemIdContested: true }))).toMatchObject([
      {
        feature: 'isis',
        problem: "another router in level 2 has the system ID 0000.0000.c001: each undoes the other's advertisements",
        remedy: expect.stringContaining('another isis.system-id in cnpd.yaml'),
      },
    ]);
  });

  test('the database is full', () => {
    expect(isisProblems(isis(), says({ databaseFull: true }))[0]!.problem).toContain(
      'LSPs were refused, or their prefixes are not learned',
    );
  });

  test(
    'forged LSPs with the highest sequence number: how long, and authentication as the remedy; ' +
      'a new system ID where fragment 0 is among them',
    () => {
      const [one] = isisProblems(isis(), says({ exhausted: [{ fragment: 3, until }] }));
      expect(one).toMatchObject({
        problem: expect.stringContaining(`fragment 3 is out of use until ${until}`),
        remedy: expect.stringContaining('set isis.authentication.domain in cnpd.yaml and domain-password md5'),
      });
      const [zero] = isisProblems(
        isis(),
        says({
          exhausted: [
            { fragment: 0, until },
            { fragment: 3, until },
          ],
        }),
      );
      expect(zero).toMatchObject({
        problem: expect.stringContaining(`is unreachable in IS-IS until ${until}`),
        remedy: expect.stringContaining('another isis.system-id'),
      });
      const [keyed] = isisProblems(isis({ domain: { key: 'hush' } }), says({ exhausted: [{ fragment: 3, until }] }));
      expect(keyed!.remedy).toContain('change isis.authentication.domain');
    },
  );
});

test('flags that are lost between levels: who loses them', () => {
  const lost = { prefixes: 2, originators: ['L2 0000.0000.0002', 'L2 0000.0000.0003'] };
  const nameOf = (one: string) => (one.endsWith('2') ? 'abr' : undefined);
  expect(lostFlagProblems({ prefixes: 0, originators: [] }, nameOf)).toEqual([]);
  expect(lostFlagProblems(lost, nameOf)).toMatchObject([
    {
      code: 'isis.flags-lost',
      problem: expect.stringMatching(
        /^2 sender prefixes .* without the P-flag.* of abr, 0000.0000.0003 drops the flag$/,
      ),
      remedy: 'run cnpd with isis.level 1-2 there as well: at abr, 0000.0000.0003',
    },
  ]);
  const many = { prefixes: 9, originators: ['a', 'b', 'c', 'd'] };
  expect(lostFlagProblems(many, () => undefined)[0]!.remedy).toMatch(/at a, b, c and others$/);
});

describe('another routing suite than FRR', () => {
  const beside = (name: 'holo' | 'none'): Intent =>
    ({ ...isisOf(), router: { ...router, suite: { name } } }) as unknown as Intent;
  const isisOf = () => ({ isis: { interface: 'cnpd-isis' } });

  test('remedies name it', () => {
    const remedy = (name: 'holo' | 'none') => adjacencyProblems(beside(name), nobody, START, START + 1e6)[0]!.remedy;
    expect([remedy('holo'), remedy('none')]).toEqual([
      'fix what `cnpctl doctor` finds in Holo',
      'fix what `cnpctl doctor` finds in the routing daemon',
    ]);
  });

  test('Holo beside IS-IS is a hazard that degrades nothing', () => {
    const problems = holoProblems(beside('holo'));
    expect(problems).toMatchObject([
      { code: 'isis.holo-database', remedy: expect.stringContaining('cnpctl show isis database') },
    ]);
    expect(problems.every(isHazard)).toBe(true);
    expect([holoProblems(beside('none')), holoProblems(intent)]).toEqual([[], []]);
    expect(healthOf(problems, [])).toBe('running');
    expect(problems.map(problemCheck)).toMatchObject([{ state: 'warning' }]);
  });
});
