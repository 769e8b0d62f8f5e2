// What the demo sees on the sender's wire: every congestion notification, captured there and decoded by src/packet. No
// code of the dataplane is involved. Times are CLOCK_MONOTONIC in ms, as the endpoints report them.
import { Netns } from '../kernel/netns.ts';
import { ETH_P_ALL, openPacketSocket } from '../kernel/packet-socket.ts';
import type { Poller } from '../kernel/poller.ts';
import { type FeedbackCodes, claimedFormat, readFeedback, readRoceFeedback } from '../lab/roce/feedback.ts';
import { monotonicMs } from '../lab/roce/report.ts';
import { ipv6PacketOf, rocePacketOf } from '../lab/roce/wire.ts';
import { formatAddress } from '../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { readAddress } from '../packet/bytes.ts';
import { isLongHaulRoce } from '../packet/roce/long-haul-cnp.ts';
import { OPCODE } from '../packet/roce/opcodes.ts';
import { parseRocePacket } from '../packet/roce/packet.ts';
import type { NotificationSeen } from './results.ts';
import type { Port } from './scene.ts';

const IPV6 = { header: 40, nextHeader: 6, hopLimit: 7, source: 8, destination: 24 } as const;
const PROTOCOL_IPV6 = 41;

const CODES: FeedbackCodes = {
  fastCnp: {
    option: DEFAULT_CODE_POINTS['fast-cnp-option'],
    ioamOption: DEFAULT_CODE_POINTS['fast-cnp-ioam-option'],
    icrc: 'cover',
  },
  longHaulType: DEFAULT_CODE_POINTS['long-haul-icmpv6-type'],
  objectClass: DEFAULT_CODE_POINTS['long-haul-object-class'],
};

type Reading = Omit<NotificationSeen, 't' | 'packet'>;

/** Of a node on the way: Fast CNP or the ICMPv6 form of a Long-haul CNP. */
function fromNode(kind: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): Reading {
  const read = readFeedback(kind, packet, CODES);
  const source = formatAddress(readAddress(packet, IPV6.source, 6));
  if (!read.ok) return { kind, source, opcode: null, queuePair: null, valid: false, instruction: null };
  // What reads as a Fast CNP has opcode 0x81 and a valid ICRC; what reads as a Long-haul CNP a valid checksum.
  if (read.value.format === 'fast-cnp')
    return { kind, source, opcode: OPCODE.cnp, queuePair: read.value.destQpn, valid: true, instruction: null };
  const { cnp } = read.value;
  return {
    kind,
    source,
    opcode: null,
    queuePair: cnp.sourceQpn,
    valid: true,
    instruction: { level: cnp.level, action: cnp.action, parameter: cnp.parameter },
  };
}

function fromRoce(bytes: Uint8Array): Reading | undefined {
  const parsed = parseRocePacket(bytes);
  if (!parsed.ok || (parsed.value.bth.opcode !== OPCODE.cnp && !parsed.value.bth.becn)) return undefined;
  const { bth, icrcValid, source } = parsed.value;
  const plain = {
    source: formatAddress(source),
    opcode: bth.opcode,
    queuePair: bth.destQpn,
    valid: icrcValid,
    instruction: null,
  };
  if (!isLongHaulRoce(parsed.value)) return { kind: 'cnp', ...plain };
  const read = readRoceFeedback(parsed.value, CODES);
  const instruction = read.ok && read.value.format !== 'fast-cnp' ? read.value.cnp : null;
  return {
    kind: 'long-haul-roce',
    ...plain,
    valid: icrcValid && read.ok,
    instruction: instruction && {
      level: instruction.level,
      action: instruction.action,
      parameter: instruction.parameter,
    },
  };
}

/** The notification that an Ethernet frame is; undefined for all others. */
export function readNotification(frame: Uint8Array): Reading | undefined {
  const packet = ipv6PacketOf(frame);
  const kind = packet && claimedFormat(packet, CODES);
  if (kind) return fromNode(kind, packet);
  const roce = rocePacketOf(frame);
  return roce && fromRoce(roce);
}

/** The notification inside an IPv6 packet to END.CON, from its own IPv6 header on. */
export function tunneledNotification(frame: Uint8Array, endCon: string): Uint8Array | undefined {
  const outer = ipv6PacketOf(frame);
  if (
    !outer ||
    outer[IPV6.nextHeader] !== PROTOCOL_IPV6 ||
    formatAddress(readAddress(outer, IPV6.destination, 6)) !== endCon
  )
    return undefined;
  const inner = outer.subarray(IPV6.header);
  return claimedFormat(inner, CODES) ? inner.slice() : undefined;
}

/** Packets as text, in no order, without the hop limit, which every router on the way counts down. */
const comparable = (packets: readonly Uint8Array[]): string[] =>
  packets.map((packet) => Buffer.from(packet.with(IPV6.hopLimit, 0)).toString('hex')).sort();

/** A17: what went into the tunnels is what arrived. */
export function sameNotifications(tunneled: readonly Uint8Array[], arrived: readonly Uint8Array[]): boolean {
  const [left, right] = [comparable(tunneled), comparable(arrived)];
  return left.length === right.length && left.every((text, i) => text === right[i]);
}

export interface WireTap<T> {
  readonly seen: readonly T[];
  clear(): void;
  close(): void;
}

export interface WireDependencies {
  readonly poller: Poller;
  readonly netnsPath: (node: string) => string;
  readonly onError: (error: Error) => void;
}

/** Captures what arrives at an interface, ahead of every program there, and keeps what `read` makes of it. */
export function tap<T>(
  port: Port,
  read: (frame: Uint8Array) => T | undefined,
  dependencies: WireDependencies,
): WireTap<T> {
  const netns = Netns.open(dependencies.netnsPath(port.node));
  let seen: T[] = [];
  const onFrame = (frame: Uint8Array): void => {
    const found = read(frame);
    if (found !== undefined) seen.push(found);
  };
  const socket = openPacketSocket(
    { interface: port.interface, netns, protocol: ETH_P_ALL, receiveBuffer: 4 << 20 },
    { poller: dependencies.poller, onError: dependencies.onError, onFrame },
  );
  return {
    get seen() {
      return seen;
    },
    clear() {
      seen = [];
    },
    close() {
      socket.close();
      netns.close();
    },
  };
}

/** Every notification on the sender's wire. */
export const tapNotifications = (port: Port, dependencies: WireDependencies): WireTap<NotificationSeen> =>
  tap(
    port,
    (frame) => {
      const reading = readNotification(frame);
      return reading && { t: monotonicMs(), ...reading, packet: ipv6PacketOf(frame)!.slice() };
    },
    dependencies,
  );

/** Every notification in a tunnel to END.CON. */
export const tapTunneled = (port: Port, endCon: string, dependencies: WireDependencies): WireTap<Uint8Array> =>
  tap(port, (frame) => tunneledNotification(frame, endCon), dependencies);
