import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { askDaemon, ReplyReader, Vty, type VtyError } from './vty.ts';

const reply = (text: string, status: number): Buffer =>
  Buffer.concat([Buffer.from(text), Buffer.from([0, 0, 0, status])]);

describe('framing', () => {
  test('a reply ends with three zero bytes and a status, however its bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', maxLength: 60 }),
        fc.integer({ min: 0, max: 255 }),
        fc.array(fc.nat(80), { maxLength: 20 }),
        (text, status, cuts) => {
          const bytes = reply(text, status);
          const at = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])].sort((a, b) => a - b);
          const reader = new ReplyReader();
          const results = at.slice(1).map((end, i) => reader.push(bytes.subarray(at[i], end)));
          expect(results.slice(0, -1).filter((result) => result !== undefined)).toEqual([]);
          expect(results.at(-1)).toEqual({ status, text });
        },
      ),
    );
  });

  test('bytes after the status are an error, not part of a later reply', () => {
    expect(() => new ReplyReader().push(Buffer.concat([reply('a', 0), Buffer.from('b')]))).toThrow(/follow the end/);
  });
});

describe('a daemon on a socket', () => {
  let dir: string;
  let server: Server;
  const sockets = new Set<Socket>();
  // Longer than any test runs: however slow the machine is, only the test that passes this time sees it pass.
  const options = { timeoutMs: 120_000, maxReplyBytes: 1000 };

  /** A daemon that answers `enable` and then does what the test says with each command. */
  const daemon = (answer: (command: string, socket: Socket) => void): Promise<void> => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const command of data.toString().split('\0').slice(0, -1)) {
          if (command === 'enable') socket.write(reply('', 0));
          else answer(command, socket);
        }
      });
    });
    return new Promise((resolve) => server.listen(join(dir, 'isisd.vty'), resolve));
  };
  const open = (): Promise<Vty> => Vty.open(join(dir, 'isisd.vty'), options);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'cnpd-vty-'));
    sockets.clear();
  });
  afterEach(() => {
    vi.useRealTimers();
    for (const socket of sockets) socket.destroy();
    server?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('answers commands in order, each with its text and status', async () => {
    await daemon((command, socket) => socket.write(reply(`<${command}>`, command === 'bogus' ? 2 : 0)));
    expect(await askDaemon(dir, 'isisd', ['show a', 'bogus'], options)).toEqual([
      { status: 0, text: '<show a>' },
      { status: 2, text: '<bogus>' },
    ]);
  });

  test('no such socket is `unreachable`', async () => {
    await daemon(() => undefined);
    await expect(askDaemon(dir, 'zebra', ['show version'], options)).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('a daemon that never answers is `timeout`, and later commands fail at once', async () => {
    await daemon(() => undefined);
    const vty = await open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const outcome = vty.command('show a').then(
      () => 'answered',
      (error: VtyError) => error.code,
    );
    await vi.advanceTimersByTimeAsync(options.timeoutMs - 1);
    expect(await Promise.race([outcome, Promise.resolve('waiting')])).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe('timeout');
    await expect(vty.command('show b')).rejects.toMatchObject({ code: 'timeout' });
  });

  test('a daemon that restarts in the middle of a reply is `closed`', async () => {
    await daemon((_, socket) => socket.end('half a repl'));
    const vty = await open();
    await expect(vty.command('show a')).rejects.toMatchObject({ code: 'closed' });
  });

  test('a reply beyond the bound is `too-large`', async () => {
    await daemon((_, socket) => socket.write('x'.repeat(5000)));
    const vty = await open();
    await expect(vty.command('show a')).rejects.toMatchObject({ code: 'too-large' });
  });

  test('a command with a zero byte or a line break is refused before it is sent', async () => {
    const seen: string[] = [];
    await daemon((command, socket) => {
      seen.push(command);
      socket.write(reply('', 0));
    });
    const vty = await open();
    for (const text of ['show a\0write memory', 'show a\nwrite memory'])
      await expect(vty.command(text)).rejects.toMatchObject({ code: 'bad-command' });
    expect(await vty.command('show b')).toEqual({ status: 0, text: '' });
    expect(seen).toEqual(['show b']);
    vty.close();
  });
});
