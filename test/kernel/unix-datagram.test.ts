// Datagrams to UNIX sockets on the real kernel, as systemd listens on them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sendUnixDatagram, unixAddress } from '../../src/kernel/unix-datagram.ts';
import { listenForStates } from '../support/notify-socket.ts';

const dir = mkdtempSync(join(tmpdir(), 'cnpd-notify-'));
const abstract = `@cnpd-test-${process.pid}`;

test.each([['a path', join(dir, 'notify')] as const, ['an abstract name', abstract] as const])('%s', (_name, path) => {
  const receiver = listenForStates(path);
  try {
    sendUnixDatagram(path, 'READY=1\nSTATUS=läuft');
    expect(receiver.next()).toBe('READY=1\nSTATUS=läuft');
    expect(receiver.next()).toBeUndefined();
  } finally {
    receiver.close();
    rmSync(path, { force: true });
  }
});

test('the queue is full: an error, and no wait', () => {
  const receiver = listenForStates(abstract);
  const fill = (): void => {
    for (let i = 0; i < 10_000; i++) sendUnixDatagram(abstract, 'WATCHDOG=1');
  };
  try {
    expect(fill).toThrow(/ENOBUFS/);
  } finally {
    receiver.close();
  }
});

test('nobody listens', () => {
  expect(() => sendUnixDatagram(join(dir, 'none'), 'READY=1')).toThrow(/ENOENT/);
  expect(() => sendUnixDatagram(`${abstract}-none`, 'READY=1')).toThrow(/ECONNREFUSED/);
  rmSync(dir, { recursive: true });
});

test('a path that does not fit into the address', () => {
  expect(unixAddress(`/${'x'.repeat(106)}`)).toHaveLength(110);
  expect(() => unixAddress(`/${'x'.repeat(107)}`)).toThrow(/longer than the 107 bytes/);
});
