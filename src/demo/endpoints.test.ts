import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Lab } from '../lab/lab.ts';
import { startEndpoint } from './endpoints.ts';

/** An endpoint that is this program instead. */
function endpoint(script: string) {
  const lab: Pick<Lab, 'spawn'> = {
    spawn: () => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] }),
  };
  return startEndpoint(lab as Lab, { node: 'h2', interface: 'eth1', address: '2001:db8::2' }, 'listen', []);
}

test.each([
  ['process.exit(3)', "h2's endpoint ended with code 3 without saying ready: it printed nothing"],
  ['process.kill(process.pid, "SIGKILL")', "h2's endpoint ended by SIGKILL without saying ready: it printed nothing"],
  ['throw new Error("no interface")', /^h2's endpoint ended with code 1 without saying ready: [^]*no interface/],
  ['console.log(`{"event":"up","t":1}`)', /with code 0 without saying ready: \{"event":"up","t":1\}$/],
])('%s is no endpoint: who waits for it is told, also afterwards', async (script, message) => {
  const ending = endpoint(script);
  await expect(ending.waitFor('ready')).rejects.toThrow(message);
  await ending.ended;
  await expect(ending.waitFor('ready')).rejects.toThrow(message);
});

test('an event counts whether it has come or will come', async () => {
  const ending = endpoint('console.log(`{"event":"ready","t":1}`)');
  expect(await ending.waitFor('ready')).toEqual({ event: 'ready', t: 1 });
  await ending.ended;
  expect(await ending.waitFor('ready')).toEqual({ event: 'ready', t: 1 });
});
