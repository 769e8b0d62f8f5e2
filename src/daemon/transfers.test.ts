import { expect, test } from 'vitest';
import type { Log } from '../model/log.ts';
import { silentLog } from '../model/log.ts';
import { untilTransfersPause } from './transfers.ts';

const GROUP = '2001:db8:aa::1';

function logged(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (_fields: unknown, message: string): void => void lines.push(message);
  return { log: { ...silentLog, warn: keep, error: keep } as Log, lines };
}

test('a stop waits as long as packets of a group pass, and says so once', async () => {
  const answers = [[GROUP], [GROUP], [GROUP], []];
  const { log, lines } = logged();
  await untilTransfersPause({ transfers: () => answers.shift()! }, log, 1);
  expect(answers).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('waits for transfers')]);
});

test('without packets of groups it does not wait', async () => {
  const { log, lines } = logged();
  await untilTransfersPause({ transfers: () => [] }, log, 3_600_000);
  expect(lines).toEqual([]);
});

test('a kernel that does not answer does not keep cnpd from stopping', async () => {
  const { log, lines } = logged();
  const refuse = (): never => {
    throw new Error('EPERM');
  };
  await untilTransfersPause({ transfers: refuse }, log, 3_600_000);
  expect(lines).toEqual([expect.stringContaining('cannot tell')]);
});
