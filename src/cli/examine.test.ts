import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ConfigInForce, withoutVerdictOnKeys } from '../diagnosis/in-force.ts';
import { shownConfig } from '../intent/effective.ts';
import { eventLoopWork, finish } from '../model/work.ts';
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

test('what is in force is examined in place of a file that says something else, and doctor says so', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-examine-'));
  try {
    const file = join(dir, 'cnpd.yaml');
    const yaml = (level: number, key: string): string =>
      'router: { name: r1, suite: none }\n' +
      `isis: { system-id: 0000.0000.c001, area: 49.0001, interface: lo, level: ${level}, ` +
      `authentication: { domain: { hmac-md5: ${key} } } }\n`;
    writeFileSync(file, yaml(2, 'secret-one'));
    const shown = async (level: number): Promise<string> =>
      (await finish(eventLoopWork(), shownConfig(yaml(level, 'secret-two')), 100)).text;
    const found = async (inForce?: ConfigInForce): Promise<string> =>
      JSON.stringify(await examine(file, { kernel: false, ...(inForce && { inForce }) }), undefined, 1);

    const ofFile = await found();
    const inForce = { text: await shown(2), isPersistent: true };
    expect(await found(inForce)).toBe(ofFile);
    const confirmBy = '2026-11-20T12:01:00.000Z';
    const onTrial = await found({ text: await shown(1), isPersistent: false, confirmBy });
    expect(onTrial).toContain(`in force on trial until ${confirmBy}, not ${file}`);
    expect(onTrial.slice(onTrial.indexOf('isis'))).not.toBe(ofFile.slice(ofFile.indexOf('isis')));
    expect(await found({ text: await shown(1), isPersistent: true })).toContain(
      `${file} has changed since it was loaded`,
    );
    expect(await found({ ...inForce, isPersistent: false })).toContain('a configuration that');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('of a key that cnpd does not show nothing is said but that there is one', () => {
  const differs = { id: 'frr.authentication', claim: 'agrees', state: 'missing', code: 'keys-differ' } as const;
  const lacks = { ...differs, code: 'key-only-in-cnpd' } as const;
  expect(withoutVerdictOnKeys([differs, lacks])).toMatchObject([{ state: 'warning' }, lacks]);
});
