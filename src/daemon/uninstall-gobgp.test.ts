import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withServer } from '../carriers/bgp/gobgp/server.fixture.ts';
import { noteGobgp, uninstallGobgp } from './uninstall-gobgp.ts';

let runDir: string;
beforeEach(() => void (runDir = mkdtempSync(join(tmpdir(), 'cnpd-uninstall-'))));
afterEach(() => rmSync(runDir, { recursive: true, force: true }));

async function uninstall(
  gobgp: Omit<NonNullable<Parameters<typeof noteGobgp>[1]>['gobgp'], 'maxMessageBytes'>,
): Promise<{ done: boolean; lines: string[]; noted: boolean }> {
  noteGobgp(runDir, { gobgp: { ...gobgp, maxMessageBytes: 1 << 20 }, domain: [], confederation: [], policy: true });
  const lines: string[] = [];
  const done = await uninstallGobgp(runDir, (line) => lines.push(line));
  return { done, lines, noted: existsSync(join(runDir, 'gobgp.json')) };
}

test('a gobgpd whose socket is gone has forgotten everything: nothing to remove', async () => {
  const target = `unix:${join(runDir, 'gobgpd.sock')}`;
  expect(await uninstall({ target })).toEqual({
    done: true,
    lines: [`gobgpd at ${target} is not running: nothing to remove`],
    noted: false,
  });
});

test('a missing TLS file does not mean that gobgpd is gone: paths, policies and the note are left', async () => {
  const ca = join(runDir, 'ca.pem');
  expect(await uninstall({ target: '127.0.0.1:1', tls: { ca } })).toEqual({
    done: false,
    lines: [expect.stringMatching(/^left cnpd's paths.*ca\.pem/)],
    noted: true,
  });
});

test('a gobgpd that ends before the policies are removed has forgotten everything too', async () => {
  const details = 'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:50051';
  await withServer({ ListPeer: (call) => call.emit('error', { code: status.UNAVAILABLE, details }) }, async (target) =>
    expect(await uninstall({ target })).toEqual({
      done: true,
      lines: [`gobgpd at ${target} is not running: nothing to remove`],
      noted: false,
    }),
  );
});
