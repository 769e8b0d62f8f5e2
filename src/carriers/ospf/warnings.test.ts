// What is counted, how often it is also logged, and how long an exchange that fails again and again is left alone.
import { describe, expect, test } from 'vitest';
import { random, warnLimited } from '../effects.ts';
import { LAST_BACK_OFF_MS } from './constants.ts';
import { ContentAgent, contentConfig } from './content.fixture.ts';
import { handleContent } from './content.ts';
import { originatorName } from './learning/originators.ts';
import { type NeighborState, newNeighbor } from './neighbor/neighbor.ts';
import { transition } from './neighbor/transition.ts';
import { AREA, Router, testConfig } from './simulation.fixture.ts';
import { type Effect, refuse } from './state.ts';

const SELF = 0x01010101;
const OTHER = 0x02020202;
const MINUTE = 60_000;

describe('a warning is counted each time, and logged once a minute for each name', () => {
  const TIMES: readonly (readonly [now: number, name: string, logged: boolean])[] = [
    [5000, 'a', true],
    [5000, 'a', false],
    [6000, 'b', true],
    [5000 + MINUTE - 1, 'a', false],
    [5000 + MINUTE, 'a', true],
    [5001 + MINUTE, 'b', false],
    [5000 + 2 * MINUTE, 'a', true],
  ];

  test('by the core', () => {
    const { speaker } = new Router(testConfig(SELF));
    for (const [now, name, logged] of TIMES) {
      speaker.now = now;
      speaker.effects = [];
      warnLimited(speaker, name, { lsa: 'x' }, 'it is wrong');
      const counted = { type: 'count', name: `ospfv2.${name}`, by: 1 };
      const log = {
        type: 'log',
        level: 'warn',
        fields: { counter: `ospfv2.${name}`, lsa: 'x' },
        message: 'it is wrong',
      };
      expect({ now, effects: speaker.effects }).toEqual({ now, effects: logged ? [counted, log] : [counted] });
    }
  });

  test('by the content', () => {
    const { content } = new ContentAgent(contentConfig(3, SELF, [AREA]));
    for (const [now, name, logged] of TIMES) {
      content.now = now;
      content.effects = [];
      warnLimited(content, name, { lsa: 'x' }, 'it is wrong');
      const counted = { type: 'count', name: `ospfv3.${name}`, by: 1 };
      const log = {
        type: 'log',
        level: 'warn',
        fields: { counter: `ospfv3.${name}`, lsa: 'x' },
        message: 'it is wrong',
      };
      expect({ now, effects: content.effects }).toEqual({ now, effects: logged ? [counted, log] : [counted] });
    }
  });

  test('why a packet is refused, and in which area', () => {
    const { speaker, area } = new Router(testConfig(SELF));
    refuse(speaker, area, 'hello.options-mismatch', 'it is a stub', { neighbor: '2.2.2.2' });
    const fields = {
      counter: 'ospfv2.hello.options-mismatch',
      area: '0.0.0.1',
      neighbor: '2.2.2.2',
      reason: 'it is a stub',
    };
    expect(area.refused).toBe('it is a stub');
    expect(speaker.effects[1]).toMatchObject({ type: 'log', fields });
  });
});

describe('exchanges that fail (RFC 2328 §10.3)', () => {
  function failing(): {
    fail: (now: number, state?: NeighborState, since?: number) => number;
    effects: () => Effect[];
  } {
    const { speaker, area } = new Router(testConfig(SELF));
    const neighbor = newNeighbor(OTHER, 0);
    const fail = (now: number, state: NeighborState = 'exchange', since = now): number => {
      speaker.now = now;
      speaker.effects = [];
      Object.assign(neighbor, { state, since });
      transition(speaker, area, neighbor, 'bad-request');
      return neighbor.exchangeFrom - now;
    };
    return { fail, effects: () => speaker.effects };
  }

  test('are tried again at once, then after 1, 2, 4 … seconds, at most a minute', () => {
    const { fail } = failing();
    expect(Array.from({ length: 9 }, () => fail(10_000))).toEqual([
      0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
    ]);
  });

  test('are forgiven when the neighbor was Full for longer than that, and not before', () => {
    const { fail } = failing();
    for (let n = 0; n < 3; n++) fail(10_000);
    expect(fail(200_000, 'full', 200_000 - LAST_BACK_OFF_MS)).toBe(4000);
    expect(fail(300_000, 'loading', 0)).toBe(8000);
    expect(fail(400_000, 'full', 400_000 - LAST_BACK_OFF_MS - 1)).toBe(0);
  });

  test('are logged with the area and the neighbor, and what became of it', () => {
    const { fail, effects } = failing();
    fail(10_000, 'loading');
    const who = { area: '0.0.0.1', neighbor: '2.2.2.2' };
    expect(effects().filter(({ type }) => type === 'log')).toMatchObject([
      { level: 'warn', fields: { ...who, counter: 'ospfv2.neighbor.bad-request' } },
      {
        level: 'info',
        fields: { ...who, from: 'loading', to: 'ex-start', reason: 'request for an LSA that does not exist' },
      },
    ]);
  });

  test('and what does not apply to a state changes nothing', () => {
    const { fail, effects } = failing();
    expect({ init: fail(10_000, 'init'), exStart: fail(10_000, 'ex-start') }).toEqual({
      init: -Infinity,
      exStart: -Infinity,
    });
    expect(effects()).toEqual([]);
  });
});

test('timers are spread: numbers from 0 to 1, others for another seed, the same for the same', () => {
  const numbers = (seed: number): number[] => {
    const { speaker } = new Router(testConfig(SELF, undefined, {}, { seed }));
    return Array.from({ length: 200 }, () => random(speaker));
  };
  const [one, again, other] = [numbers(1), numbers(1), numbers(2)];
  expect(one).toEqual(again);
  expect(one).not.toEqual(other);
  expect(Math.min(...one)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...one)).toBeLessThan(1);
  expect([0.1, 0.3, 0.5, 0.7, 0.9].map((middle) => one.some((n) => Math.abs(n - middle) < 0.1))).toEqual(
    new Array(5).fill(true),
  );
});

test('an area that is not configured is a mistake of the caller', () => {
  const { content } = new ContentAgent(contentConfig(2, SELF, [AREA]));
  const event = { type: 'adjacency', areaId: AREA + 1, neighbor: OTHER } as const;
  expect(() => handleContent(content, event, 0)).toThrow(/area 2 is not configured/);
});

test('the name of a router is kept for as long as it has LSAs', () => {
  const agent = new ContentAgent(contentConfig(2, SELF, [AREA]));
  const area = agent.content.areas.get(AREA)!;
  expect({ originatorName: originatorName(area, OTHER), namesSize: area.names.size }).toEqual({
    originatorName: '0.0.0.1 2.2.2.2',
    namesSize: 0,
  });
  const lsa = { type: 1, lsId: OTHER, body: { kind: 'router-v2', flags: 0, links: [] } } as const;
  agent.hears(AREA, OTHER, lsa);
  expect({ originatorName: originatorName(area, OTHER), namesSize: area.names.size }).toEqual({
    originatorName: '0.0.0.1 2.2.2.2',
    namesSize: 1,
  });
  agent.loses(AREA, OTHER, lsa);
  expect({ namesSize: area.names.size, routersSize: area.routers.size, addressesSize: area.addresses.size }).toEqual({
    namesSize: 0,
    routersSize: 0,
    addressesSize: 0,
  });
});
