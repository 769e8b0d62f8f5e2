import { describe, expect, test } from 'vitest';
import type { Intent, OspfIntent } from '../intent/intent.ts';
import type { OspfNeighborState } from '../model/carrier-state.ts';
import { borderProblems, ospfProblems as problemsBeside } from './ospf.ts';

const ROUTER = { name: 'r', reversePathCheck: true };
type Problems = typeof problemsBeside;
type Arguments = Parameters<Problems> extends [infer A, infer B, infer C, infer D, unknown] ? [A, B, C, D] : never;
const ospfProblems = (...given: Arguments): ReturnType<Problems> => problemsBeside(...given, ROUTER);

const START = Date.parse('2026-01-01T00:00:00Z');

describe('problems of OSPF', () => {
  const ospf = (more: Partial<OspfIntent['areas'][number]> = {}): OspfIntent => ({
    version: 2,
    routerId: 1,
    helloSeconds: 10,
    deadSeconds: 40,
    retransmitMs: 5000,
    holdUnreachableMs: 120_000,
    areas: [{ areaId: 0, interface: 'cnpd-ospf0', mtu: 1500, ignoreMtu: false, instanceId: 0, keys: [], ...more }],
  });
  const says = (state: OspfNeighborState['state'], more: Partial<OspfNeighborState> = {}) => ({
    neighbors: (): OspfNeighborState[] => [
      {
        area: '0.0.0.0',
        interface: 'cnpd-ospf0',
        state,
        routerId: '192.0.2.1',
        deadTimeRemaining: 40,
        mtu: 1500,
        takesOpaque: true,
        unacknowledged: 0,
        databaseFull: false,
        routerIdContested: false,
        notFullSince: state === 'full' ? null : new Date(START).toISOString(),
        since: new Date(START).toISOString(),
        reason: '',
        ...more,
      },
    ],
  });
  const LATE = START + 3_600_000;

  test('another suite than FRR is called by its name, and gets no commands of vtysh', () => {
    const holo = { ...ROUTER, suite: { name: 'holo' as const, target: '127.0.0.1:50051' } };
    const [problem] = problemsBeside(ospf(), says('full', { takesOpaque: false }), START, START, holo);
    expect(problem!.problem).toMatch(/^Holo accepts no opaque LSAs/);
    expect(problem!.remedy).toBe('have Holo accept opaque LSAs (RFC 5250)');
  });

  test('an area with a full neighbor has no problem', () =>
    expect(ospfProblems(ospf(), says('full'), START, LATE)).toEqual([]));

  test('an adjacency that does not come up is a problem after half a minute and a hello', () => {
    expect(ospfProblems(ospf(), says('init'), START, START + 39_999)).toEqual([]);
    expect(ospfProblems(ospf(), says('init'), START, START + 40_000)).toMatchObject([
      { feature: 'ospfv2', problem: expect.stringMatching(/cnpd-ospf0 \(area 0\.0\.0\.0\) but init/) },
    ]);
  });

  test(
    'an adjacency that begins anew every few seconds is one as well: ' + 'the time counts from when it was full last',
    () => {
      const flapping = says('ex-start', {
        since: new Date(LATE - 2000).toISOString(),
        reason: 'Database Description out of sequence',
      });
      expect(ospfProblems(ospf(), flapping, START, LATE)).toMatchObject([
        { problem: expect.stringContaining('ex-start (Database Description out of sequence)') },
      ]);
      const justLost = says('ex-start', {
        since: new Date(LATE - 2000).toISOString(),
        notFullSince: new Date(LATE - 39_999).toISOString(),
      });
      expect(ospfProblems(ospf(), justLost, START, LATE)).toEqual([]);
    },
  );

  test('a neighbor that accepts no opaque LSAs is a problem at once, with the line that fixes it', () => {
    expect(ospfProblems(ospf(), says('full', { takesOpaque: false }), START, START)).toMatchObject([
      { remedy: expect.stringContaining('capability opaque') },
    ]);
  });

  test('an MTU larger than ours is a problem at once, unless it is ignored', () => {
    const larger = says('ex-start', { mtu: 9000 });
    expect(ospfProblems(ospf(), larger, START, START)).toMatchObject([
      { problem: expect.stringContaining('9000 in FRR and 1500 in cnpd') },
    ]);
    expect(ospfProblems(ospf({ ignoreMtu: true }), larger, START, START)).toEqual([]);
  });

  test('a smaller MTU at FRR is a problem only once the exchange is overdue: FRR may ignore it', () => {
    const smaller = says('ex-start', { mtu: 1400 });
    expect(ospfProblems(ospf(), smaller, START, START + 39_999)).toEqual([]);
    expect(ospfProblems(ospf(), smaller, START, LATE)).toMatchObject([
      { problem: expect.stringContaining('1400 in FRR and 1500 in cnpd') },
    ]);
    expect(ospfProblems(ospf(), says('full', { mtu: 1400 }), START, LATE)).toEqual([]);
  });

  test('a full database is reported although the neighbor is full, with the command that lists the LSAs by router', () => {
    const [problem] = ospfProblems(ospf(), says('full', { databaseFull: true }), START, START);
    expect(problem).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringContaining('database of area 0.0.0.0 is full'),
      remedy: expect.stringContaining('cnpctl show ospfv2 database'),
    });
  });

  test('a router ID that another router has as well is reported, with its remedy', () => {
    const [problem] = ospfProblems(ospf(), says('full', { routerIdContested: true }), START, START);
    expect(problem).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringContaining('has the router ID 0.0.0.1'),
      remedy: expect.stringContaining('ospfv2.router-id'),
    });
  });

  test('nothing declared, nothing missing', () => expect(ospfProblems(undefined, undefined, START, LATE)).toEqual([]));
});

describe('areas between which nothing is advertised', () => {
  const inAreas = (...areaIds: number[]): Intent =>
    ({ ospfv2: { version: 2, areas: areaIds.map((areaId) => ({ areaId })) } }) as unknown as Intent;

  test('several areas without the backbone are a problem; one, or several with it, are not', () => {
    expect(borderProblems(inAreas(0x01010101, 0x02020202))).toMatchObject([
      {
        feature: 'ospfv2',
        problem: expect.stringContaining('nothing is advertised between the areas of ospfv2'),
        remedy: expect.stringContaining('add the backbone to ospfv2.areas'),
      },
    ]);
    expect([inAreas(1), inAreas(0), inAreas(1, 0), inAreas(0, 1, 2), {} as Intent].flatMap(borderProblems)).toEqual([]);
  });
});
