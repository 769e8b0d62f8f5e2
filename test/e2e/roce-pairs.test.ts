// Reliable connections of the software RoCE endpoint without connection management, between two namespaces, over a
// wire that loses packets: everything arrives, in order and once, and the losses are real.
import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { program } from '../../src/lab/program.ts';
import { type EndpointEvent, EndpointLab, eventIn } from './support/endpoint-lab.ts';
import { ownLabName } from './support/network.ts';

const NAME = await ownLabName('t-lab-pairs');
const [S, R] = ['2001:db8:1::1', '2001:db8:1::2'];
let lab: EndpointLab;

beforeAll(async () => {
  const host = (address: string): string[] => [`ip address add ${address}/64 dev eth1`];
  lab = await EndpointLab.up(NAME, {
    nodes: { s: host(S), r: host(R) },
    links: ['{endpoints: ["s:eth1", "r:eth1"], mtu: 1500}'],
  });
});
afterEach(() => lab.killAll());
afterAll(() => lab?.down());

/** One transfer of 2 MB from s to r. */
async function transfer(options: {
  readonly both?: readonly string[];
  readonly source?: readonly string[];
  readonly receive?: readonly string[];
}): Promise<{ source: readonly EndpointEvent[]; receive: readonly EndpointEvent[] }> {
  const common = ['--interface', 'eth1', '--bytes', '2MB', '--start-psn', '0xfffff0', ...(options.both ?? [])];
  const receive = ['receive', '--address', R, '--qpn', '0x200', '--from', `${S}/0x100`, ...(options.receive ?? [])];
  const receiver = lab.run('r', [...receive, ...common]);
  await receiver.seen('the receiver', () => true);
  // No time-out but where one is needed: a busy machine is no loss.
  const source = ['source', '--address', S, '--qpn', '0x100', '--to', `${R}/0x200`, '--timeout', '2s'];
  const sent = await lab.exec('s', [...source, ...common, ...(options.source ?? [])]);
  await receiver.end();
  return { source: sent, receive: receiver.events };
}

const flowOf = (source: readonly EndpointEvent[]): Readonly<Record<string, number>> =>
  (eventIn(source, 'summary')['flows'] as Record<string, number>[])[0]!;

function expectEverything({ source, receive }: Awaited<ReturnType<typeof transfer>>): void {
  expect(eventIn(source, 'summary')).toMatchObject({ ok: true, foreign: 0 });
  expect(eventIn(receive, 'summary')).toMatchObject({
    complete: true,
    bytes: 2_000_000,
    packets: Math.ceil(2_000_000 / 1024),
    hash: eventIn(source, 'summary')['hash'],
    error: null,
    strangers: 0,
  });
  expect(eventIn(receive, 'port')).toMatchObject({ bad: {} });
}

test('RMC-3-e: SENDs over a wire that loses one packet of 40: all bytes, in order and once', async () => {
  const seen = await transfer({ receive: ['--lose', '40'] });
  expectEverything(seen);
  expect(eventIn(seen.receive, 'port')['lost']).toBeGreaterThan(40);
  expect(eventIn(seen.receive, 'summary')['naks']).toBeGreaterThan(0);
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
  const summary = eventIn(seen.receive, 'summary');
  expect(summary['memoryHash']).toBe(summary['hash']);
  expect(eventIn(seen.source, 'port')['lost']).toBeGreaterThan(0);
});

test('a receiver without buffers now and then: RNR NAKs, and everything arrives', async () => {
  const seen = await transfer({ receive: ['--not-ready-every', '10'] });
  expectEverything(seen);
  expect(eventIn(seen.receive, 'summary')['rnrNaks']).toBe(12);
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
