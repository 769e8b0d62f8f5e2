// A Linux host and Fast CNP: the kernel answers Parameter Problem by itself; an endpoint that understands Fast CNP
// takes them before the IP stack does.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Netns } from '../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { openRawSocket } from '../../src/kernel/raw-socket.ts';
import { openRocePort } from '../../src/lab/roce/port.ts';
import type { FeedbackCodes } from '../../src/lab/roce/feedback.ts';
import { address } from '../../src/model/address.ts';
import { concat } from '../../src/packet/bytes.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { decodeParameterProblem, refusedFastCnp } from '../../src/packet/icmpv6/parameter-problem.ts';
import { decodeTrace } from '../../src/packet/ip/ioam.ts';
import { encodeOptionHeader } from '../../src/packet/ip/options.ts';
import { ipv6, udp } from '../../src/packet/ip/packets.fixture.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { inNetns, ip } from '../support/netns.ts';
import { is, moreThan, until } from '../support/until.ts';

const NODE = address('2001:db8:1::1');
const HOST = address('2001:db8:1::2');
const RECEIVER = address('2001:db8:2::2');
const CODES: FeedbackCodes = {
  fastCnp: { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' },
  longHaulType: 200,
  objectClass: 247,
};
const ENDS = { source: NODE, destination: HOST, sourcePort: 0xc000 };
const FAST_CNP = buildFastCnp({
  ...ENDS,
  originalDestination: RECEIVER,
  trace: undefined,
  destQpn: 0xc8,
  codes: CODES.fastCnp,
});
const trace = decodeTrace(0, new Uint8Array(12));
const WITH_TRACE = buildFastCnp({
  ...ENDS,
  originalDestination: RECEIVER,
  trace: trace.ok ? trace.value : undefined,
  destQpn: 0xc8,
  codes: CODES.fastCnp,
});
const LONG_HAUL = buildLongHaulIcmpv6({
  ...ENDS,
  cnp: { level: 180, action: 'rate-reduce', parameter: 30, sourceQpn: 100, metric: { type: 0, value: 0 }, objects: [] },
  codes: { type: 200, objectClass: 247 },
});
/** Of another type that says "discard and report": the kernel must go on reporting it. */
const OTHER_OPTION = ipv6([NODE, HOST], 60, concat(encodeOptionHeader(17, 0, 0x8a, new Uint8Array(16)), udp(1, 2)));
/** Multicast listener and neighbor discovery, which every host does on its own account. */
const HOUSEKEEPING = new Set([130, 131, 132, 133, 134, 135, 136, 137, 143]);
const ECHO = (sequence: number): string => `-6 -c 1 -W 5 -p ${sequence.toString(16).padStart(2, '0')} 2001:db8:1::2`;

let poller: Poller;
let node: Netns;
let host: Netns;
let wire: PacketSocket;
/** ICMPv6 messages that reached the node, neighbor discovery aside. */
let answers: Uint8Array[];

beforeEach(() => {
  answers = [];
  poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  node = Netns.create();
  host = Netns.create();
  for (const ns of [node, host]) {
    inNetns(ns, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0', 'net.ipv6.icmp.ratelimit=0');
    ip(ns, 'link set lo up');
  }
  ip(node, `link add t-fch-n type veth peer name t-fch-h netns ${host.path}`);
  ip(node, 'link set t-fch-n up');
  ip(host, 'link set t-fch-h up');
  ip(node, 'address add 2001:db8:1::1/64 dev t-fch-n nodad');
  ip(host, 'address add 2001:db8:1::2/64 dev t-fch-h nodad');
  wire = openPacketSocket(
    { interface: 't-fch-n', netns: node, protocol: 0x86dd },
    {
      poller,
      onError: (error) => {
        throw error;
      },
      onFrame: (frame) => {
        const message = parseIcmpv6(frame.subarray(14));
        if (message.ok && !HOUSEKEEPING.has(message.value.type)) answers.push(frame.slice(14));
      },
    },
  );
});

afterEach(() => {
  wire.close();
  poller.close();
  node.close();
  host.close();
});

function send(...packets: Uint8Array[]): void {
  const raw = openRawSocket({ family: 6, netns: node });
  for (const packet of packets) raw.send(packet);
  raw.close();
}

/** Everything sent so far has been handled when the host has answered this. */
async function settled(): Promise<void> {
  const before = answers.length;
  inNetns(node, 'ping', ...ECHO(before & 0xff).split(' '));
  await until(
    'an echo reply',
    () => answers.slice(before),
    (all) => all.some((packet) => packet[40] === 129),
    30_000,
  );
}
const problems = (): Uint8Array[] => answers.filter((packet) => packet[40] === 4);

function endpoint(fastCnp: boolean): { seen: [string, Uint8Array][]; close(): void } {
  const seen: [string, Uint8Array][] = [];
  const port = openRocePort(
    { interface: 't-fch-h', address: HOST, netns: host, notifications: { codes: CODES, fastCnp } },
    {
      poller,
      onPacket: () => {},
      onBad: () => {},
      onError: (error) => {
        throw error;
      },
      onNotification: (format, packet) => seen.push([format, packet.slice()]),
    },
  );
  return { seen, close: () => port.close() };
}

test('FCNP-4-j: a Linux host that does not know the option returns Parameter Problem code 2, pointing to it, for both options (A12)', async () => {
  send(FAST_CNP, WITH_TRACE);
  await until('two Parameter Problems', () => problems().length, is(2), 30_000);
  for (const [i, packet] of problems().entries()) {
    const message = parseIcmpv6(packet);
    if (!message.ok) throw new Error(message.error.code);
    const problem = decodeParameterProblem(message.value.message);
    if (!problem.ok) throw new Error(problem.error.code);
    expect(problem.value).toMatchObject({ code: 2, pointer: [42, 44][i], invoking: [FAST_CNP, WITH_TRACE][i] });
    expect(refusedFastCnp(problem.value, CODES.fastCnp)).toMatchObject({
      ok: true,
      value: { source: NODE, destination: HOST, destQpn: 0xc8, option: { originalDestination: RECEIVER } },
    });
  }
});

test('LHCNP-5.6-j, LHCNP-8-b: a Linux host discards a Long-haul CNP of ICMPv6 in silence', async () => {
  send(LONG_HAUL);
  await settled();
  expect(answers.map((packet) => ({ icmpv6Type: packet[40] }))).toEqual([{ icmpv6Type: 129 }]);
});

test('an endpoint that understands Fast CNP gets them, and the kernel does not report them; about other options it does', async () => {
  const { seen, close } = endpoint(true);
  send(FAST_CNP, WITH_TRACE, LONG_HAUL, OTHER_OPTION);
  await until('three notifications', () => seen.length, is(3), 30_000);
  expect(seen).toEqual([
    ['fast-cnp', FAST_CNP],
    ['fast-cnp', WITH_TRACE],
    ['long-haul-icmpv6', LONG_HAUL],
  ]);
  await settled();
  expect(problems()).toHaveLength(1);
  expect(problems()[0]!.subarray(48)).toEqual(OTHER_OPTION);
  close();
  send(FAST_CNP);
  await until('the kernel’s own answer', () => problems().length, is(2), 30_000);
});

test('an endpoint that does not understand Fast CNP leaves the kernel’s answer alone', async () => {
  const { seen, close } = endpoint(false);
  send(FAST_CNP);
  await until('a Parameter Problem', () => problems().length, is(1), 30_000);
  await until('the notification', () => seen.length, is(1), 30_000);
  close();
});

test('another address’s packets are not the endpoint’s', async () => {
  ip(host, 'address add 2001:db8:1::3/64 dev t-fch-h nodad');
  const { seen, close } = endpoint(true);
  const other = buildLongHaulIcmpv6({
    ...ENDS,
    destination: address('2001:db8:1::3'),
    cnp: { level: 1, action: 'notify', parameter: 0, sourceQpn: 1, metric: { type: 0, value: 0 }, objects: [] },
    codes: { type: 200, objectClass: 247 },
  });
  send(other, LONG_HAUL);
  await until('one notification', () => seen.length, moreThan(0), 30_000);
  await settled();
  expect(seen).toEqual([['long-haul-icmpv6', LONG_HAUL]]);
  close();
});
