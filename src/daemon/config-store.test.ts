import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemCodeOf } from '../model/error-text.ts';
import { tryConfig, writeConfig } from './config-store.ts';

let dir: string;
const at = (name: string): string => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-store-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the file is written as a whole', () => {
  test('mode and owner stay, and nothing else is left', async () => {
    writeFileSync(at('cnpd.yaml'), 'old');
    chmodSync(at('cnpd.yaml'), 0o640);
    const { uid, gid, ino } = statSync(at('cnpd.yaml'));
    expect(await writeConfig(at('cnpd.yaml'), 'new')).toBeUndefined();
    expect(readFileSync(at('cnpd.yaml'), 'utf8')).toBe('new');
    const now = statSync(at('cnpd.yaml'));
    expect([now.uid, now.gid, now.mode & 0o7777]).toEqual([uid, gid, 0o640]);
    expect(now.ino).not.toBe(ino);
    expect(readdirSync(dir)).toEqual(['cnpd.yaml']);
  });

  test('a new one is for its owner only; a link stays a link; what a killed cnpd left is replaced', async () => {
    await writeConfig(at('new.yaml'), 'x');
    expect(statSync(at('new.yaml')).mode & 0o777).toBe(0o600);
    symlinkSync('new.yaml', at('cnpd.yaml'));
    writeFileSync(at('.new.yaml.cnpd-new'), 'half');
    await writeConfig(at('cnpd.yaml'), 'y');
    expect(readFileSync(at('new.yaml'), 'utf8')).toBe('y');
    expect(readdirSync(dir).sort()).toEqual(['cnpd.yaml', 'new.yaml']);
  });

  test('a trial writes nothing, and fails as the writing would', async () => {
    writeFileSync(at('cnpd.yaml'), 'old');
    await tryConfig(at('cnpd.yaml'), 'new');
    expect([readFileSync(at('cnpd.yaml'), 'utf8'), readdirSync(dir)]).toEqual(['old', ['cnpd.yaml']]);
    await expect(tryConfig(at('none/cnpd.yaml'), 'new')).rejects.toThrow(/cannot be written and is as it was/);
  });

  test('a file that is a mount is refused by the trial, not first by the writing', async () => {
    const [file, mountinfo] = [at('my cnpd.yaml'), at('mountinfo')];
    writeFileSync(file, 'old');
    const line = `29 1 254:0 /x ${file.replaceAll(' ', '\\040')} ro,relatime - ext4 /dev/vda rw\n`;
    writeFileSync(mountinfo, `28 1 254:0 / ${dir} rw - ext4 /dev/vda rw\n`);
    await tryConfig(file, 'new', mountinfo);
    writeFileSync(mountinfo, line);
    await expect(tryConfig(file, 'new', mountinfo)).rejects.toThrow(
      /EBUSY.*mount its directory instead, or leave .*--temporary, or \/cnpd\/configuration\/persistent false/,
    );
    await expect(tryConfig(file, 'new', mountinfo)).rejects.toSatisfy((error) => systemCodeOf(error) === 'EBUSY');
    expect(readdirSync(dir).sort()).toEqual(['mountinfo', 'my cnpd.yaml']);
  });

  test('what cannot be written leaves the file as it was, and says so', async () => {
    mkdirSync(at('cnpd.yaml'));
    await expect(writeConfig(at('cnpd.yaml'), 'x')).rejects.toThrow(/cnpd\.yaml cannot be written and is as it was: /);
    await expect(writeConfig('/proc/version', 'x')).rejects.toThrow(/\/proc\/version cannot be written/);
    expect(readdirSync(dir)).toEqual(['cnpd.yaml']);
  });
});
