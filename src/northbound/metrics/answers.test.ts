import { describe, expect, test } from 'vitest';
import { formatFor } from './answers.ts';

describe('the format for a header Accept', () => {
  test.each([
    [undefined, 'openmetrics'],
    ['*/*', 'openmetrics'],
    ['text/html, */* ; q=1', 'openmetrics'],
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1', 'openmetrics'],
    ['text/plain, Application/OpenMetrics-Text', 'openmetrics'],
    ['text/plain;version=0.0.4;q=1,*/*;q=0.1', 'text'],
    ['*/*;q=0, text/plain', 'text'],
    ['application/openmetrics-text; q=0.0, text/plain', 'text'],
    ['application/openmetrics-texture', 'text'],
    ['text/plain', 'text'],
    ['', 'text'],
  ] as const)('%s: %s', (accept, format) => expect(formatFor(accept)).toBe(format));

  test('takes linear time, whatever the header', () => {
    // Node.js lets 8 KB through. With backtracking these 300 KB take seconds, otherwise a millisecond.
    const accept = `${'*/*'.repeat(100_000)};q=0`;
    const begin = process.cpuUsage();
    expect(formatFor(accept)).toBe('text');
    const { user, system } = process.cpuUsage(begin);
    expect(user + system).toBeLessThan(1_000_000);
  });
});
