// The neighbor and the database as shown to the operator.
import { describe, expect, test } from 'vitest';
import { P_FLAG, prefixEntry, tlv236 } from '../../packet/isis/foreign.fixture.ts';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
import { A, B, C, adjacency, hello, lsp } from './hostile.fixture.ts';
import { databaseState, hostnameOf, neighborState, troubleState, unplacedPrefixes } from './show.ts';
import { Agent, Simulation, endCon, originate, proxied, systemId, testConfig } from './simulation.fixture.ts';

/** The time of day when the speaker's clock shows 0. */
const ZERO = Date.UTC(2026, 0, 1);
const neighbors = ({ speaker }: Agent, now: number) => neighborState(speaker, 'cnpd-isis', { now, toWall: ZERO });
const database = ({ speaker }: Agent, now: number) => databaseState(speaker, now);
const flagged = (...texts: string[]): IsisTlv => tlv236(...texts.map((text) => prefixEntry(text, [P_FLAG])));

describe('the neighbor', () => {
  test('does not exist before a hello arrives', () => {
    const agent = new Agent(new Simulation(), testConfig(A));
    expect(neighbors(agent, 0)).toEqual([]);
  });

  test('is shown with its state, the time and reason of the last change, and the remaining hold time', () => {
    const { a, simulation } = adjacency();
    const { since, reason, holdUntil } = a.speaker.adjacency!;
    simulation.run(10_000);
    const { holdUntil: later } = a.speaker.adjacency!;
    expect(later).toBeGreaterThan(holdUntil);
    expect(neighbors(a, later - 1500)).toEqual([
      {
        interface: 'cnpd-isis',
        level: 'L2',
        state: 'up',
        systemId: B,
        holdTimeRemaining: 2,
        since: new Date(ZERO + since).toISOString(),
        reason,
      },
    ]);
    const left = (now: number): number => neighbors(a, now)[0]!.holdTimeRemaining;
    expect([left(later - 1000), left(later - 999), left(later), left(later + 5000)]).toEqual([1, 1, 0, 0]);
    a.event({ type: 'link-down', reason: 'gone' });
    expect(neighbors(a, simulation.now)).toMatchObject([{ state: 'down', reason: 'gone', holdTimeRemaining: 0 }]);
  });

  test.each([
    [[1], 'L1'],
    [[2], 'L2'],
    [[1, 2], 'L1L2'],
  ] as const)('with levels %j is %s; with no common level yet, the configured ones', (levels, text) => {
    const { a } = adjacency({ levels });
    expect(neighbors(a, 0)).toMatchObject([{ level: text }]);
    a.speaker.adjacency = { ...a.speaker.adjacency!, levels: [] };
    expect(neighbors(a, 0)).toMatchObject([{ level: text }]);
  });

  test.each([[[1]], [[2]], [[1, 2]]] as const)('has the hostname from its LSP (RFC 5301), in levels %j', (levels) => {
    const { a, give } = adjacency({ levels });
    expect(neighbors(a, 0)[0]).not.toHaveProperty('hostname');
    const advertise = (system: string, fragment: number, name: string): void =>
      give(
        lsp({
          level: levels.at(-1)!,
          sequence: 5000,
          lspId: { systemId: systemId(system), pseudonode: 0, fragment },
          tlvs: [{ kind: 'hostname', name }],
        }),
      );
    advertise(C, 0, 'another');
    advertise(B, 1, 'not fragment 0');
    expect(neighbors(a, 0)[0]).not.toHaveProperty('hostname');
    advertise(B, 0, 'leaf2');
    expect(neighbors(a, 0)).toMatchObject([{ hostname: 'leaf2' }]);
    const level = levels.at(-1)!;
    expect(hostnameOf(a.speaker, `L${level} ${B}`)).toBe('leaf2');
    // Of the other level, of another system, and of routers of other protocols it knows none.
    for (const other of [`L${3 - level} ${B}`, `L${level} ${A}`, '192.0.2.1', `L3 ${B}`, 'L2 '])
      expect({ other, name: hostnameOf(a.speaker, other) }).toEqual({ other, name: undefined });
  });

  test('of a single level is shown at that level, although we run both', () => {
    const { a, give, simulation } = adjacency({ levels: [1, 2] });
    give(hello({ circuitType: 1 }));
    simulation.run(10);
    expect(neighbors(a, 0)).toMatchObject([{ level: 'L1' }]);
  });
});

describe('the database', () => {
  test('lists every LSP of every level in order, with its content', () => {
    const { a, give, simulation } = adjacency({ levels: [1, 2] });
    give(lsp({ level: 1, isType: 1, overload: true, remainingLifetime: 600 }));
    give(lsp({ tlvs: [flagged('2001:db8:1::/48', '2001:db8:2::/48')] }));
    a.event(originate([proxied('2001:db8:7::/48')], { sids: [endCon('2001:db8:c::1', '2001:db8:c::/48')] }));
    simulation.run(1000);
    const shown = database(a, simulation.now);
    expect(shown.map(({ level, lspId, own }) => `${level} ${lspId} ${own}`)).toEqual([
      `1 ${A}.00-00 true`,
      `1 ${A}.00-01 true`,
      `1 ${B}.00-00 false`,
      `1 ${C}.00-00 false`,
      `2 ${A}.00-00 true`,
      `2 ${A}.00-01 true`,
      `2 ${B}.00-00 false`,
      `2 ${C}.00-00 false`,
    ]);
    const stored = a.speaker.levels.get(1)!.lsdb.byKey.get(`${C}.00-00`)!;
    expect(shown[3]).toEqual({
      ...{ level: 1, lspId: `${C}.00-00`, sequence: 7, length: 27, own: false, reachable: false, overload: true },
      lifetime: Math.floor((stored.expiresAt - simulation.now) / 1000),
      checksum: `0x${stored.checksum.toString(16).padStart(4, '0')}`,
      proxyPrefixes: 0,
    });
    expect(shown.map(({ overload }) => overload)).toEqual([true, true, true, true, true, true, true, false]);
    expect(shown.map(({ reachable }) => reachable)).toEqual([true, true, true, false, true, true, true, false]);
    // A SID is not counted as a prefix.
    expect(shown.map(({ proxyPrefixes }) => proxyPrefixes)).toEqual([0, 1, 0, 0, 0, 1, 0, 2]);
  });

  test('writes a checksum with all its digits', () => {
    const { a, give } = adjacency();
    give(lsp({ remainingLifetime: 1200 }));
    const level = a.speaker.levels.get(2)!;
    const stored = level.lsdb.byKey.get(`${C}.00-00`)!;
    level.lsdb.byKey.set(stored.key, { ...stored, checksum: 0x2a });
    expect(database(a, 0).find(({ lspId }) => lspId === stored.key)!.checksum).toBe('0x002a');
  });
});

test('without trouble each level reports none, and everything declared is placed', () => {
  const { a } = adjacency({ levels: [1, 2] });
  a.event(originate([proxied('2001:db8:7::/48')]));
  const none = { databaseFull: false, systemIdContested: false, exhausted: [] };
  expect(troubleState(a.speaker, { now: 0, toWall: 0 })).toEqual([
    { level: 1, ...none },
    { level: 2, ...none },
  ]);
  expect(unplacedPrefixes(a.speaker)).toBe(0);
});
