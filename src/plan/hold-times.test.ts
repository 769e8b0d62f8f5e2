import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import { holdTimes, patienceMs } from './hold-times.ts';

const intent = (carriers: object): Intent => carriers as Intent;

describe('times of the carriers', () => {
  test('each has its own hold time', () => {
    expect(holdTimes(intent({ isis: { holdUnreachableMs: 5000 }, ospfv3: { holdUnreachableMs: 0 } }))).toEqual({
      isis: 5000,
      ospfv2: 120_000,
      ospfv3: 0,
      bgp: 120_000,
    });
  });

  test('entries of an earlier run stay until every network has had time to advertise them again', () => {
    expect(patienceMs(intent({}))).toBe(0);
    expect(patienceMs(intent({ bgp: { holdUnreachableMs: 0 } }))).toBe(10_000);
    expect(patienceMs(intent({ bgp: { holdUnreachableMs: 60_000 } }))).toBe(60_000);
    expect(patienceMs(intent({ isis: { helloIntervalMs: 3000, holdUnreachableMs: 120_000 } }))).toBe(120_000);
    expect(patienceMs(intent({ isis: { helloIntervalMs: 3000, holdUnreachableMs: 0 } }))).toBe(16_000);
    expect(
      patienceMs(
        intent({
          isis: { helloIntervalMs: 3000, holdUnreachableMs: 0 },
          ospfv2: { helloSeconds: 10, holdUnreachableMs: 0 },
        }),
      ),
    ).toBe(30_000);
  });
});
