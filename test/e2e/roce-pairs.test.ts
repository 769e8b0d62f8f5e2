// Reliable connections of the software RoCE endpoint without connection management, between two namespaces, over a
// wire that loses packets: everything arrives, in order and once, and the losses are real.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Lab, labDown, labUp } from '../../src/lab/lab.ts';
import { program } from '../../src/lab/program.ts';
import { ownLabName } from './support/network.ts';

const NAME = await ownLabName('t-lab-pairs');
const [S, R] = ['2001:db8:1::1', '2001:db8:1::2'];
let directory: string;
let lab: Lab;
const running: ChildProcess[] = [];

type Event = Readonly<Record<string, unknown>> & { readonly event: string };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 't-lab-'));
  const host = (address: string): string => `{exec: ["ip address add ${address}/64 dev eth1"]}`;
  const file = join(directory, 'x.clab.yml');
  writeFileSync(
    file,
    `name: ${NAME}
prefix: __lab-name
topology:
  defaults:
    kind: linux
    sysctls: {net.ipv6.conf.default.accept_dad: 0, net.ipv6.conf.all.accept_dad: 0}
  nodes:
    s: ${host(S)}
    r: ${host(R)}
  links:
    - {endpoints: ["s:eth1", "r:eth1"], mtu: 1500}
`,
  );
  lab = await labUp(file);
});
afterEach(() => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
});
afterAll(async () => {
  await labDown(NAME);
  rmSync(directory, { recursive: true, force: true });
});

const events = (text: string): Event[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
const field = (list: readonly Event[], event: string): Event => list.find((e) => e.event === event)!;

/** One transfer of 2 MB from s to r. */
async function transfer(options: {
  readonly both?: readonly string[];
  readonly source?: readonly string[];
  readonly receive?: readonly string[];
}): Promise<{ source: Event[]; receive: Event[] }> {
  const endpoint = [process.execPath, program('roce-endpoint')];
  const common = ['--interface', 'eth1', '--bytes', '2MB', '--start-psn', '0xfffff0', ...(options.both ?? [])];
  const receive = ['receive', '--address', R, '--qpn', '0x200', '--from', `${S}/0x100`, ...(options.receive ?? [])];
  const receiver = lab.spawn('r', [...endpoint, ...receive, ...common], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(receiver);
  let heard = '';
  receiver.stdout!.setEncoding('utf8').on('data', (text: string) => (heard += text));
  await once(receiver.stdout!, 'data');
  // No time-out but where one is needed: a busy machine is no loss.
  const source = ['source', '--address', S, '--qpn', '0x100', '--to', `${R}/0x200`, '--timeout', '2s'];
  const { stdout } = await lab.exec('s', [...endpoint, ...source, ...common, ...(options.source ?? [])]);
  const ended = once(receiver, 'close');
  receiver.kill('SIGTERM');
  await ended;
  return { source: events(stdout), receive: events(heard) };
}

const flowOf = (source: readonly Event[]): Readonly<Record<string, number>> =>
  (field(source, 'summary')['flows'] as Record<string, number>[])[0]!;

function expectEverything({ source, receive }: { source: Event[]; receive: Event[] }): void {
  expect(field(source, 'summary')).toMatchObject({ ok: true, foreign: 0 });
  expect(field(receive, 'summary')).toMatchObject({
    complete: true,
    bytes: 2_000_000,
    packets: Math.ceil(2_000_000 / 1024),
    hash: field(source, 'summary')['hash'],
    error: null,
    strangers: 0,
  });
  expect(field(receive, 'port')).toMatchObject({ bad: {} });
}

test('RMC-3-e: SENDs over a wire that loses one packet of 40: all bytes, in order and once', async () => {
  const seen = await transfer({ receive: ['--lose', '40'] });
  expectEverything(seen);
  expect(field(seen.receive, 'port')['lost']).toBeGreaterThan(40);
  expect(field(seen.receive, 'summary')['naks']).toBeGreaterThan(0);
  expect(flowOf(seen.source)['retransmitted']).toBeGreaterThan(40);
  expect(flowOf(seen.source)['naks']).toBeGreaterThan(0);
});

test('RMC-3-e: WRITEs, and acknowledgements that are lost too: the memory is what was written', async () => {
  const memory = ['--r-key', '0x1234', '--virtual-address', '0x7f0000000000'];
  const seen = await transfer({
    both: memory,
    source: ['--lose', '7', '--timeout', '100ms', '--retries', '100'],
    receive: ['--lose', '60'],
  });
  expectEverything(seen);
  const summary = field(seen.receive, 'summary');
  expect(summary['memoryHash']).toBe(summary['hash']);
  expect(field(seen.source, 'port')['lost']).toBeGreaterThan(0);
});

test('a receiver without buffers now and then: RNR NAKs, and everything arrives', async () => {
  const seen = await transfer({ receive: ['--not-ready-every', '10'] });
  expectEverything(seen);
  expect(field(seen.receive, 'summary')['rnrNaks']).toBe(12);
  expect(flowOf(seen.source)['rnrNaks']).toBe(12);
});

test('mistakes on the command line are reported, with status 2', () => {
  const where = ['--interface', 'lo', '--address', '::1'];
  for (const argv of [
    ['source', ...where, '--bytes', '1MB'],
    ['source', ...where, '--bytes', '1MB', '--to', '2001:db8::1'],
    ['source', ...where, '--bytes', '1MB', '--to', '10.0.0.1/7'],
    ['receive', ...where, '--qpn', '7'],
    ['receive', ...where, '--qpn', '7', '--from', '::2/8', '--r-key', '1'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [program('roce-endpoint'), ...argv], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('usage:') });
  }
});
