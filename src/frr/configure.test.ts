import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { examineFrr } from '../diagnosis/frr/examine.ts';
import { silentLog } from '../model/log.ts';
import { configureFrr } from './configure.ts';
import { gatherFrrFacts } from './frr-facts.ts';

const WANT = {
  interface: 'cnpd-isis',
  levels: '2',
  systemId: Uint8Array.of(0, 0, 0, 0, 0xc0, 1),
  area: Uint8Array.of(0x49, 0, 1),
  mtu: 1500,
  authentication: {},
} as const;

describe('FRR without isisd', () => {
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'cnpd-test-'))));
  afterEach(() => rmSync(dir, { recursive: true }));
  const daemons = (text: string): string => {
    const file = join(dir, 'daemons');
    writeFileSync(file, text);
    return file;
  };

  test.each([false, true])(
    'isisd that cannot be asked is one error with the cause; nothing else is printed and nothing is run (dry run: %s)',
    async (dryRun) => {
      const did: string[] = [];
      const run = (command: string) => {
        did.push(command);
        return Promise.resolve({ status: 0, output: '' });
      };
      const dependencies = { run, say: (line: string) => void did.push(line), log: silentLog };
      const location = { vtyDir: dir, daemonsFile: daemons('isisd=no\n') };
      const attempt = configureFrr(
        () => examineFrr(location, { isis: WANT }),
        { save: true, dryRun, ...location },
        dependencies,
      );
      await expect(attempt).rejects.toMatchObject({
        code: 'unreachable',
        message: expect.stringMatching(
          /^isisd does not answer \(.*ENOENT\); nothing was changed\. To fix it: .*isisd=yes/,
        ),
      });
      expect(did).toEqual([]);
    },
  );

  test.each([
    ['bgpd=no\nisisd=yes\n', true],
    ['isisd="yes"\n', true],
    ['bgpd=yes\nisisd=no\n', false],
    ['#isisd=yes\n', false],
    ['isisd=no\nisisd=yes\n', true],
  ])('the file of daemons %j: isisd is started: %s', async (text, enabled) => {
    expect((await gatherFrrFacts({ vtyDir: dir, daemonsFile: daemons(text) }, 'cnpd-isis')).isisdEnabled).toBe(enabled);
  });

  test('without the file it is not known whether isisd is started', async () => {
    expect(
      (await gatherFrrFacts({ vtyDir: dir, daemonsFile: join(dir, 'none') }, 'cnpd-isis')).isisdEnabled,
    ).toBeUndefined();
  });
});
