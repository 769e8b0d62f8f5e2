// The sentences in which cnpctl says why there is no cnpd.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectNorthbound } from './client.ts';
import { unreachableTcp } from './unreachable.ts';

describe('a socket that is not there', () => {
  let dir: string, main: string, server: Server;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'cnpd-unreachable-'));
    main = join(dir, 'gnmi.sock');
    server = createServer().listen(main);
    await once(server, 'listening');
  });
  afterAll(() => {
    server.close();
    rmSync(dir, { recursive: true });
  });
  const asked = async (socket: string, mainSocket: string) => {
    const client = connectNorthbound({ socket, mainSocket, timeoutMs: 10_000 });
    const error: unknown = await client.release(undefined).catch((refused: unknown) => refused);
    client.close();
    return error;
  };

  test('where cnpd runs, why it has none: nothing can be changed, or it could not be opened', async () => {
    expect(await asked(join(dir, 'gnmi-set.sock'), main)).toMatchObject({
      code: 'no-socket',
      message: expect.stringMatching(/^cnpd runs, and there is nothing .*gnmi-set\.sock exists where .* has groups/),
    });
    expect(await asked(join(dir, 'gnmi-config.sock'), main)).toMatchObject({
      code: 'no-socket',
      message: expect.stringMatching(/^cnpd runs without \S*gnmi-config\.sock: `cnpctl show status` names/),
    });
  });

  test('where cnpd does not run, that: not what the file lacks', async () => {
    const absent = join(dir, 'absent', 'gnmi.sock');
    expect(await asked(join(dir, 'absent', 'gnmi-set.sock'), absent)).toMatchObject({
      code: 'unreachable',
      message: `${absent}: there is no such socket: check that cnpd is running and that gnmi.socket in cnpd.yaml is this path`,
    });
  });
});

test('over TCP: the words of the kernel, without those of the library, and a hint', () => {
  const of = (words: string) =>
    unreachableTcp('r1:9339', `No connection established. Last error: ${words}. Resolution note: `);
  expect(of('Error: connect ECONNREFUSED 192.0.2.1:9339')).toBe('r1:9339: connect ECONNREFUSED 192.0.2.1:9339');
  expect(of("Error [ERR_TLS_CERT_ALTNAME_INVALID]: IP: 192.0.2.1 is not in the cert's altnames")).toMatch(
    /--target among/,
  );
  expect(of('Failed to connect (2026-01-01T00:00:00.000Z)')).toMatch(/may want TLS/);
  expect(of('Error: C0:error:0A00010B:SSL routines::wrong version number:ssl.c:1:\n')).toMatch(/--plaintext\)$/);
});
