import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examine, socketOf } from './examine.ts';

test('what mends a file that cannot be read is not cnpd check, which would say no more', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-examine-'));
  try {
    const remedy = async (file: string): Promise<string | undefined> =>
      (await examine(file, { kernel: false }))[0]!.remedy;
    expect(await remedy(join(dir, 'absent.yaml'))).toMatch(/^name the file with -c, or write it/);
    expect(await remedy(dir)).toMatch(/^name a readable regular file/);
    const bad = join(dir, 'bad.yaml');
    writeFileSync(bad, 'router: {}\n');
    expect(await remedy(bad)).toBe(`cnpd check ${bad}`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the socket is what the file says, or its default; of a file that is refused it is not known', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-examine-'));
  try {
    const file = join(dir, 'cnpd.yaml');
    const socket = (text: string): string | undefined => {
      writeFileSync(file, text);
      return socketOf(file);
    };
    expect(socket('router: { name: r1 }\ngnmi: { socket: /x.sock }\n')).toBe('/x.sock');
    expect(socket('router: { name: r1 }\n')).toBe('/run/cnpd/gnmi.sock');
    expect(socket('router: {}\n')).toBeUndefined();
  } finally {
    rmSync(dir, { recursive: true });
  }
});
