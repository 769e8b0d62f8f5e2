import { afterEach, describe, expect, test, vi } from 'vitest';
import { exampleState, sourceOf } from '../state.fixture.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { ms, sampled } from './subscriber.fixture.ts';

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
});
