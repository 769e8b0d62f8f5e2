// The software RoCE endpoint on real interfaces: its packets are read by tshark, its rate and its recovery from loss
// are measured across a narrow, slow link.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { program } from '../../src/lab/program.ts';
import { type EndpointEvent, EndpointLab, behindRouter, eventIn } from './support/endpoint-lab.ts';
import { ownLabName } from './support/network.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { until } from '../support/until.ts';

const NAME = await ownLabName('t-lab-roce');
const ADDRESSES = { 6: ['2001:db8:1::2', '2001:db8:2::2'], 4: ['10.0.1.2', '10.0.2.2'] } as const;
let lab: EndpointLab;

beforeAll(async () => {
  lab = await EndpointLab.up(NAME, behindRouter('10ms'));
});
afterEach(() => lab.killAll());
afterAll(() => lab?.down());

const summary = (events: readonly EndpointEvent[]): EndpointEvent => eventIn(events, 'summary');

/** One connection from h1 to h2. */
async function exchange(
  family: 4 | 6,
  options: readonly string[],
): Promise<Record<'sender' | 'listener', readonly EndpointEvent[]>> {
  const [source, destination] = ADDRESSES[family];
  const listener = lab.run('h2', ['listen', '--interface', 'eth1', '--address', destination]);
  await listener.seen('the listener', () => true);
  const ends = ['--interface', 'eth1', '--address', source, '--peer', destination];
  const sender = await lab.mustExec('h1', ['send', ...ends, ...options]);
  await listener.end();
  return { sender, listener: listener.events };
}

test('a second endpoint on a host is told that there is one, without a stack trace', async () => {
  const argv = ['listen', '--interface', 'eth1', '--address', ADDRESSES[6][1]];
  const listener = lab.run('h2', argv);
  await listener.seen('the listener', () => true);
  const second = await lab.lab.exec('h2', [process.execPath, program('roce-endpoint'), ...argv]);
  expect(second).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^[^\n]*another endpoint runs here: [^\n]*EADDRINUSE[^\n]*\n$/),
  });
  await listener.end();
});

test.each([6, 4] as const)(
  'IPv%d: tshark reads every packet: connection management, data, acknowledgements',
  async (family) => {
    const file = join(lab.directory, `h1-${family}.pcap`);
    const capture = lab.lab.spawn('h1', ['dumpcap', '-i', 'eth1', '-w', file, '-f', 'udp port 4791'], {
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
  await lab.lab.mustExec('r', tokenBucket('eth2', { burst: 20_000, limit: 100_000 }));
  try {
    // A window of 160 kB against a queue of 100 kB and 50 kB in flight: some are dropped, time and again. On a busy
    // machine the sender may be too slow for that.
    const overflowing = async (): Promise<Record<string, unknown>> => {
      const { sender, listener } = await exchange(6, ['--rate', '100mbit', '--duration', '2s', '--window', '160']);
      const sent = summary(sender);
      expect(sent['reason']).toBe('done');
      expect(summary(listener)['packets']).toBe(sent['acknowledged']);
      return sent;
    };
    const sent = await until('a NAK', overflowing, (each) => Number(each['naks']) > 0 && each, 120_000);
    expect(Number(sent['retransmitted'])).toBeGreaterThan(0);
    expect(Number(sent['acknowledged'])).toBeGreaterThan(500);
  } finally {
    await lab.lab.mustExec('r', ['tc', 'qdisc', 'del', 'dev', 'eth2', 'root']);
  }
});

test('the kernel does not answer the packets of an endpoint with "port unreachable"', async () => {
  const unreachable = async (): Promise<number> =>
    Number(/Icmp6OutDestUnreachs\s+(\d+)/.exec(await lab.lab.mustExec('h2', ['cat', '/proc/net/snmp6']))![1]);
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
