import { describe, expect, test } from 'vitest';
import { createCounters } from './counters.ts';

describe('counters', () => {
  test('adds up counts of components and of the kernel under the same name', () => {
    const counters = createCounters();
    counters.count('b');
    counters.count('b', 4);
    counters.addReader(() => [
      { name: 'a', value: 7 },
      { name: 'b', value: 10 },
    ]);
    expect(counters.snapshot()).toEqual([
      { name: 'a', value: 7 },
      { name: 'b', value: 15 },
    ]);
  });

  test('counters that cannot be read hide only themselves, and that is counted', () => {
    const counters = createCounters();
    counters.count('a');
    counters.addReader(() => {
      throw new Error('EBADF');
    });
    counters.snapshot();
    expect(counters.snapshot()).toEqual([
      { name: 'a', value: 1 },
      { name: 'counters.unreadable', value: 1 },
    ]);
  });
});
