import { afterEach, describe, expect, test, vi } from 'vitest';
import type { StateSource } from '../../model/state.ts';
import { exampleState, sourceOf } from '../state.fixture.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { ms, onChange, sampled } from './subscriber.fixture.ts';

afterEach(() => void vi.useRealTimers());

describe('what is sent in intervals', () => {
  test('a heartbeat shorter than the interval of samples is kept, and samples between heartbeats too', async () => {
    const state = exampleState();
    const clock = new ManualClock(sourceOf(state));
    const pid = sampled(2500, 'cnpd', 'status', 'pid');
    const sent = clock.subscribe([{ ...pid, suppressRedundant: true, heartbeatInterval: ms(1000) }]);
    await clock.advance(2100);
    expect(sent).toEqual([0, 1000, 2000]);
    state.status.pid++;
    await clock.advance(2000);
    expect(sent).toEqual([0, 1000, 2000, 2500, 3000, 4000]);
    expect(clock.counts.get('northbound.subscribe.missed')).toBeUndefined();
  });

  test('samples of all streams have a fifth of the time together, and each stream and path its part of it', async () => {
    const source = sourceOf(exampleState());
    const reads = { senders: 0, proxies: 0 };
    const costly = (section: keyof typeof reads) => () => {
      reads[section]++;
      vi.advanceTimersByTime(50);
      return source[section]();
    };
    const clock = new ManualClock({ ...source, senders: costly('senders'), proxies: costly('proxies') } as StateSource);
    const streams = Array.from({ length: 4 }, () =>
      clock.subscribe([sampled(100, 'cnpd', 'senders'), sampled(100, 'cnpd', 'proxies')]),
    );
    await clock.advance(20_000);
    const share = ((reads.senders + reads.proxies) * 50) / clock.now;
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.23);
    expect(Math.abs(reads.senders - reads.proxies)).toBeLessThan(10);
    const sent = streams.map(({ length }) => length);
    expect(Math.min(...sent)).toBeGreaterThan(Math.max(...sent) / 2);
    expect(clock.counts.get('northbound.subscribe.late')).toBeGreaterThan(20);
  });

  test('what costs little is on time, however many streams there are', async () => {
    const source = sourceOf(exampleState());
    const status = () => (vi.advanceTimersByTime(0.1), source.status());
    const clock = new ManualClock({ ...source, status });
    const streams = Array.from({ length: 20 }, () => clock.subscribe([sampled(100, 'cnpd', 'status', 'pid')]));
    await clock.advance(450, 1);
    // Beginning at once, they are done after 2 ms.
    for (const sent of streams) expect(sent.map((at) => Math.floor(at / 10))).toEqual([0, 10, 20, 30, 40]);
  });

  test('a sample that waits for the state has no more than a fifth of the time', async () => {
    const source = sourceOf(exampleState());
    const status = async () => {
      await new Promise((resolve) => void setTimeout(resolve, 100));
      return source.status();
    };
    const clock = new ManualClock({ ...source, status } as StateSource);
    const sent = clock.subscribe([sampled(100, 'cnpd', 'status', 'pid')]);
    await clock.advance(2000);
    expect(sent).toEqual([100, 300, 800, 1300, 1800]);
  });

  const heartbeat = { heartbeatInterval: ms(1000) };
  for (const [what, subscription] of [
    ['of changes', { ...onChange('cnpd', 'status', 'pid'), ...heartbeat }],
    ['of samples', { ...sampled(60_000, 'cnpd', 'status', 'pid'), ...heartbeat, suppressRedundant: true }],
  ] as const) {
    test(`heartbeats ${what} that cost more than their interval have a fifth of the time too`, async () => {
      const clock = new ManualClock(sourceOf(exampleState()), 1500);
      const sent = clock.subscribe([subscription]);
      await clock.advance(40_000);
      // The first is before sync_response.
      const between = sent.slice(2).map((at, i) => at - sent[i + 1]!);
      expect(between.length).toBeGreaterThan(2);
      for (const each of between) expect(each).toBeGreaterThanOrEqual(7500);
    });
  }
});
