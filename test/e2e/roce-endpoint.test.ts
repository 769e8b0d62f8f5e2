// The software RoCE endpoint on real interfaces: its packets are read by tshark, its rate and its recovery from loss
// are measured across a narrow, slow link.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lab, labDown, labUp } from '../../src/lab/lab.ts';
import { program } from '../../src/lab/program.ts';
import { ownLabName } from './support/network.ts';
import { tokenBucket } from './support/token-bucket.ts';

const NAME = await ownLabName('t-lab-roce');
const ADDRESSES = { 6: ['2001:db8:1::2', '2001:db8:2::2'], 4: ['10.0.1.2', '10.0.2.2'] } as const;
let directory: string;
let lab: Lab;

interface Event {
  readonly event: string;
  readonly [field: string]: unknown;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 't-lab-'));
  const host = (n: number): string =>
    `exec: ["ip address add 2001:db8:${n}::2/64 dev eth1", "ip address add 10.0.${n}.2/24 dev eth1", ` +
    `"ip route add default via 2001:db8:${n}::1", "ip route add default via 10.0.${n}.1"]`;
  const routed = [1, 2]
    .flatMap((n) => [`"ip address add 2001:db8:${n}::1/64 dev eth${n}"`, `"ip address add 10.0.${n}.1/24 dev eth${n}"`])
    .join(', ');
  const file = join(directory, 'x.clab.yml');
  writeFileSync(
    file,
    `name: ${NAME}
prefix: __lab-name
topology:
  defaults:
    kind: linux
    sysctls: {net.ipv6.conf.default.accept_dad: 0, net.ipv6.conf.all.accept_dad: 0, net.ipv6.conf.all.forwarding: 1, net.ipv4.ip_forward: 1}
  nodes:
    h1: {${host(1)}}
    r: {exec: [${routed}]}
    h2: {${host(2)}}
  links:
    - {endpoints: ["h1:eth1", "r:eth1"], mtu: 1500}
    - {endpoints: ["r:eth2", "h2:eth1"], mtu: 1500, vars: {delay: 10ms}}
`,
  );
  lab = await labUp(file);
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
const summary = (list: readonly Event[]): Event => list.find((e) => e.event === 'summary')!;

/** One connection from h1 to h2. */
async function exchange(family: 4 | 6, options: readonly string[]): Promise<{ sender: Event[]; listener: Event[] }> {
  const [source, destination] = ADDRESSES[family];
  const endpoint = [process.execPath, program('roce-endpoint')];
  const listener = lab.spawn('h2', [...endpoint, 'listen', '--interface', 'eth1', '--address', destination], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let heard = '';
  listener.stdout!.setEncoding('utf8').on('data', (text: string) => (heard += text));
  await once(listener.stdout!, 'data');
  const sent = await lab.mustExec('h1', [
    ...endpoint,
    'send',
    '--interface',
    'eth1',
    '--address',
    source,
    '--peer',
    destination,
    ...options,
  ]);
  const ended = once(listener, 'close');
  listener.kill('SIGTERM');
  await ended;
  return { sender: events(sent), listener: events(heard) };
}

test.each([6, 4] as const)(
  'IPv%d: tshark reads every packet: connection management, data, acknowledgements',
  async (family) => {
    const file = join(directory, `h1-${family}.pcap`);
    const capture = lab.spawn('h1', ['dumpcap', '-i', 'eth1', '-w', file, '-f', 'udp port 4791'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    capture.stderr!.setEncoding('utf8').on('data', (text: string) => (output += text));
    while (!output.includes('File:')) await once(capture.stderr!, 'data');

    const { sender, listener } = await exchange(family, [
      '--rate',
      '10mbit',
      '--duration',
      '500ms',
      '--message',
      '8',
      '--timeout',
      '20s',
    ]);
    // Its last batch is read within a second of its arrival; it says how many it has: data, an acknowledgement for each
    // message of eight, five of the CM.
    const expected = (Number(summary(sender)['sent']) * 9) / 8 + 5;
    while (Number([...output.matchAll(/Packets: (\d+)/g)].at(-1)?.[1] ?? 0) < expected)
      await once(capture.stderr!, 'data');
    const ended = once(capture, 'exit');
    capture.kill('SIGINT');
    await ended;
    const tshark = (...args: string[]): string[] =>
      spawnSync('tshark', ['-r', file, ...args], { encoding: 'utf8' })
        .stdout.trim()
        .split('\n')
        .filter((line) => line !== '');
    const opcodes = tshark('-T', 'fields', '-e', 'infiniband.bth.opcode').map(Number);
    const countOf = (opcode: number): number => opcodes.filter((o) => o === opcode).length;
    const { acknowledged } = summary(sender);
    expect(summary(sender)).toMatchObject({ reason: 'done', retransmitted: 0 });
    expect(summary(listener)).toMatchObject({ reason: 'closed', packets: acknowledged, outOfOrder: 0, invalid: 0 });
    expect(countOf(0) + countOf(1) + countOf(2)).toBe(acknowledged);
    expect(countOf(0x11)).toBeGreaterThanOrEqual(countOf(2));
    // REQ, REP, RTU, DREQ, DREP.
    expect(tshark('-Y', 'infiniband.bth.opcode == 100').map((line) => /CM: (\w+)/.exec(line)?.[1])).toEqual([
      'ConnectRequest',
      'ConnectReply',
      'ReadyToUse',
      'DisconnectRequest',
      'DisconnectReply',
    ]);
    expect(tshark('-Y', '_ws.malformed')).toEqual([]);
    // Destination Queue Pairs and ECN are what the endpoint says.
    const connected = sender.find((e) => e.event === 'connected')!;
    const data = tshark(
      '-Y',
      'infiniband.bth.opcode == 1',
      '-T',
      'fields',
      '-e',
      'infiniband.bth.destqp',
      '-e',
      family === 6 ? 'ipv6.tclass.ecn' : 'ip.dsfield.ecn',
    );
    expect([...new Set(data)].map((line) => line.split('\t').map(Number))).toEqual([[connected['peerQpn'], 2]]);
  },
);

test('12,000 packets of 1 kB a second, acknowledged, never faster than the rate asked for', async () => {
  const { sender } = await exchange(6, ['--rate', '100mbit', '--duration', '3s']);
  expect(summary(sender)).toMatchObject({ reason: 'done', timeouts: 0, unsent: 0 });
  // 1024 of 1088 bytes are payload. How much less it is, is up to who else has the machine.
  expect(Number(summary(sender)['goodputBps'])).toBeLessThan(100e6 * (1024 / 1088) * 1.02);
  expect(Number(summary(sender)['acknowledged'])).toBeGreaterThan(1000);
  expect(Number(summary(sender)['minimumRttMs'])).toBeGreaterThanOrEqual(20);
});

test('what a narrow port drops is sent again, until everything has arrived in order', async () => {
  await lab.mustExec('r', tokenBucket('eth2', { burst: 20_000, limit: 100_000 }));
  try {
    // A window of 160 kB against a queue of 100 kB and 50 kB in flight: some are dropped, time and again.
    const { sender, listener } = await exchange(6, ['--rate', '100mbit', '--duration', '2s', '--window', '160']);
    const { acknowledged, naks, retransmitted } = summary(sender);
    expect(summary(sender)['reason']).toBe('done');
    expect(Number(naks)).toBeGreaterThan(0);
    expect(Number(retransmitted)).toBeGreaterThan(0);
    expect(summary(listener)['packets']).toBe(acknowledged);
    expect(Number(acknowledged)).toBeGreaterThan(500);
  } finally {
    await lab.mustExec('r', ['tc', 'qdisc', 'del', 'dev', 'eth2', 'root']);
  }
});

test('the kernel does not answer the packets of an endpoint with "port unreachable"', async () => {
  const unreachable = async (): Promise<number> =>
    Number(/Icmp6OutDestUnreachs\s+(\d+)/.exec(await lab.mustExec('h2', ['cat', '/proc/net/snmp6']))![1]);
  const before = await unreachable();
  await exchange(6, ['--rate', '10mbit', '--duration', '500ms']);
  expect(await unreachable()).toBe(before);
});

test('mistakes on the command line are reported, with status 2', () => {
  for (const argv of [
    [],
    ['send', '--interface', 'lo', '--address', '::1'],
    ['listen', '--interface', 'lo', '--address', 'nonsense'],
    ['send', '--rat', '1'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [program('roce-endpoint'), ...argv], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('usage:') });
  }
});
