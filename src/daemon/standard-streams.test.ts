import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { endWithOutput } from './standard-streams.ts';

class Stream extends EventEmitter {
  text = '';
  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

test('a reader that closes the pipe is no error; a full disk is one sentence and exit code 1', () => {
  const [stdout, stderr, exits] = [new Stream(), new Stream(), [] as unknown[]];
  const isRead = endWithOutput('cnpd', { stdout, stderr, exit: (code: unknown) => void exits.push(code) } as never);
  const failed = (code: string): Error => Object.assign(new Error(`${code}: why, write`), { code });
  stderr.emit('error', failed('EPIPE'));
  expect(isRead()).toBe(true);
  stdout.emit('error', failed('EPIPE'));
  expect(isRead()).toBe(false);
  expect([exits, stderr.text]).toEqual([[], '']);
  stdout.emit('error', failed('ENOSPC'));
  expect([exits, stderr.text]).toEqual([[1], 'cnpd: standard output: ENOSPC: why, write\n']);
  stderr.emit('error', failed('ENOSPC'));
  expect(exits).toEqual([1, 1]);
});
