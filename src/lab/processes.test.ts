import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endProcesses, identify, isAlive, processesIn, startTimeOf } from './processes.ts';
import { readlinkSync } from 'node:fs';

test('a reused pid is another process: identity is the pid and its start time', () => {
  const self = identify(process.pid)!;
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, startTime: '1' })).toBe(false);
  expect(startTimeOf(2 ** 22 + 1)).toBeUndefined();
});

test('a process that ignores SIGTERM is ended all the same, by its pid', async () => {
  const child = spawn('sh', ['-c', 'trap "" TERM; echo set; while :; do sleep 1; done'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await once(child.stdout, 'data');
  const identity = identify(child.pid!)!;
  const ended = once(child, 'exit');
  await endProcesses(() => (isAlive(identity) ? [identity] : []), 100);
  expect((await ended)[1]).toBe('SIGKILL');
});

test('processes are found by the namespace they are in, without this one', () => {
  const here = new Set([readlinkSync('/proc/self/ns/net')]);
  const found = processesIn(here).map((p) => p.pid);
  expect(found).toContain(process.ppid);
  expect(found).not.toContain(process.pid);
});
