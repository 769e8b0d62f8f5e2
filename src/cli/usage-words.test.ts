import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { cnpdProgram } from '../daemon/program.ts';
import { run } from './fake-cnpd.fixture.ts';

test.each([
  ['show --watch --interval 0 ports', '--interval <seconds>: found "0"; allowed: more than 0 seconds, up to 3600.'],
  [
    'show senders nowhere',
    'address-or-prefix: found "nowhere"; allowed: an IP prefix without host bits, or an IP address.',
  ],
  ['show ports --prefix ::/0', '--prefix cannot be applied here: this view has no column of addresses or prefixes'],
  ['show ports --foo', "unknown option '--foo'"],
])('cnpctl %s', async (line, text) => {
  expect(await run(line)).toEqual({ code: 2, out: '', err: `cnpctl: ${text}\n` });
});

test.each([
  ['foo', "unknown command 'foo'"],
  ['schema foo', 'too many arguments'],
])('cnpd %s runs nothing, and says why', async (line, text) => {
  const unexpected = async (): Promise<never> => Promise.reject(new Error('not to be run'));
  const actions = { run: unexpected, check: unexpected, schema: () => {}, replay: unexpected, uninstall: unexpected };
  const program = cnpdProgram('0', actions);
  let err = '';
  for (const each of [program, ...program.commands]) each.configureOutput({ writeErr: (text) => void (err += text) });
  await expect(program.parseAsync(line.split(' '), { from: 'user' })).rejects.toThrow(CommanderError);
  expect(err).toContain(`cnpd: ${text}`);
});
