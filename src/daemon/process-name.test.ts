import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nameProcess } from './process-name.ts';

const COMM = '/proc/self/comm';
const read = (): string => readFileSync(COMM, 'utf8').trim();

test('ps shows the name; without /proc nothing happens', () => {
  const before = read();
  try {
    nameProcess('cnpd');
    expect(read()).toBe('cnpd');
    nameProcess('other', '/nonexistent/comm');
    expect(read()).toBe('cnpd');
  } finally {
    nameProcess(before);
  }
});
