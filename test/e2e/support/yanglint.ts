// Another implementation of YANG judges what is served: yanglint, of libyang.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectNorthbound } from '../../../src/northbound/client.ts';
import { Encoding } from '../../../src/northbound/gen/gnmi/gnmi_pb.js';

/** All of the state of the cnpd behind the socket, as JSON_IETF. */
export async function servedState(socket: string): Promise<string> {
  const client = connectNorthbound({ socket, timeoutMs: 30_000 });
  try {
    const answer = await client.getRaw({ path: [], encoding: Encoding.JSON_IETF });
    const value = answer.notification[0]!.update[0]!.val!.value;
    return Buffer.from(value.value as Uint8Array).toString();
  } finally {
    client.close();
  }
}

/** @returns what is wrong with the data, or with the modules; empty: nothing */
export function yanglint(json: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-yang-'));
  try {
    writeFileSync(join(dir, 'data.json'), json);
    const args = ['-p', 'yang', '-t', 'data', 'yang/cnpd.yang', join(dir, 'data.json')];
    const { status, stdout, stderr, error } = spawnSync('yanglint', args, { encoding: 'utf8' });
    if (error) throw error;
    return status === 0 ? stderr : `${stdout}${stderr}` || `exit code ${status}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
