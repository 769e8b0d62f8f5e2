// Congestion notifications as they arrive at a sender, in the three formats of nodes on the path: decoded, with the
// Queue Pair that they concern. Pure. The standard CNP of the receiver (or its proxy) is not here: every endpoint
// understands it.
import { type IpAddress, sameAddress } from '../../model/address.ts';
import type { NotificationFormat } from '../../model/notification.ts';
import type { QueuePairs } from '../../model/roce.ts';
import { type Result, fail, ok } from '../../model/result.ts';
import type { Decoded } from '../../packet/decode.ts';
import { decodeLongHaulIcmpv6 } from '../../packet/icmpv6/long-haul-cnp.ts';
import { PROTOCOL_ICMPV6, parseIcmpv6 } from '../../packet/icmpv6/message.ts';
import { NEXT_HEADER } from '../../packet/ip/options.ts';
import type { LongHaulCnp } from '../../packet/long-haul/body.ts';
import { type FastCnpCodes, parseFastCnp } from '../../packet/roce/fast-cnp.ts';
import { readLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';

export type FeedbackFormat = Exclude<NotificationFormat, 'proxy'>;

export const FEEDBACK_FORMATS: readonly FeedbackFormat[] = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];

export interface FeedbackCodes {
  readonly fastCnp: FastCnpCodes;
  readonly longHaulType: number;
  readonly objectClass: number;
}

export type Feedback = { readonly node: IpAddress } & (
  | {
      readonly format: 'fast-cnp';
      readonly originalDestination: IpAddress;
      readonly destQpn: number;
      readonly fromReceiver: boolean;
    }
  | { readonly format: 'long-haul-icmpv6' | 'long-haul-roce'; readonly cnp: LongHaulCnp }
);

/**
 * The format that a packet claims to be, by its first bytes; undefined for all others. Cheap: it sees every IPv6
 * packet.
 */
export function claimedFormat(packet: Uint8Array, codes: FeedbackCodes): 'fast-cnp' | 'long-haul-icmpv6' | undefined {
  if (packet.length < 44 || packet[0]! >>> 4 !== 6) return undefined;
  if (packet[6] === PROTOCOL_ICMPV6) return packet[40] === codes.longHaulType ? 'long-haul-icmpv6' : undefined;
  if (packet[6] !== NEXT_HEADER.destinationOptions) return undefined;
  // Option 1 begins right away, option 2 behind two octets of padding.
  const type = packet[42] === 1 && packet[43] === 0 ? packet[44] : packet[42];
  return type === codes.fastCnp.option || type === codes.fastCnp.ioamOption ? 'fast-cnp' : undefined;
}

/**
 * Reads a packet of a claimed format, from its IPv6 header on. Codes: those of parseFastCnp, parseIcmpv6 and
 * decodeLongHaulIcmpv6.
 */
export function readFeedback(
  format: 'fast-cnp' | 'long-haul-icmpv6',
  packet: Uint8Array,
  codes: FeedbackCodes,
): Decoded<Feedback> {
  if (format === 'fast-cnp') {
    const fast = parseFastCnp(packet, codes.fastCnp);
    if (!fast.ok) return fast;
    const { originalDestination, fromReceiver } = fast.value;
    const { source, bth } = fast.value.packet;
    return ok({ format, node: source, originalDestination, fromReceiver, destQpn: bth.destQpn });
  }
  const message = parseIcmpv6(packet);
  if (!message.ok) return message;
  const cnp = decodeLongHaulIcmpv6(message.value.message, { type: codes.longHaulType, objectClass: codes.objectClass });
  return cnp.ok ? ok({ format, node: message.value.source, cnp: cnp.value }) : cnp;
}

/** Reads a RoCEv2 packet whose E bit is set. Codes: those of readLongHaulRoce. */
export function readRoceFeedback(packet: RocePacket, codes: FeedbackCodes): Decoded<Feedback> {
  const cnp = readLongHaulRoce(packet, codes.objectClass);
  return cnp.ok ? ok({ format: 'long-haul-roce', node: packet.source, cnp: cnp.value }) : cnp;
}

/** Why a notification that can be read is not acted upon. */
type Refusal = 'unknown-node' | 'unknown-queue-pair';

/**
 * The active Queue Pairs that a notification is for (LHCNP-5.6-a; FCNP-4-n). A Long-haul CNP names the sender's own; a
 * Fast CNP names destination and Queue Pair of the receiver, which several connections may share: all of them are
 * meant.
 */
function queuePairsOf(feedback: Feedback, active: readonly QueuePairs[]): readonly QueuePairs[] {
  if (feedback.format !== 'fast-cnp') return active.filter((pair) => pair.senderQpn === feedback.cnp.sourceQpn);
  return active.filter(
    (pair) => pair.receiverQpn === feedback.destQpn && sameAddress(pair.receiver, feedback.originalDestination),
  );
}

/**
 * The two validations before anything is done (LHCNP-5.6-a, LHCNP-5.6-b, LHCNP-9-a; FCNP-5-c). A Fast CNP that the
 * receiver of the flow itself sent (FCNP-4-e) needs no entry in the access list: it is the connection's peer.
 * @returns the Queue Pairs to act upon, one at least
 */
export function validate(
  feedback: Feedback,
  knownNode: (node: IpAddress) => boolean,
  active: readonly QueuePairs[],
): Result<readonly QueuePairs[], Refusal> {
  const fromReceiver = feedback.format === 'fast-cnp' && feedback.fromReceiver;
  if (!fromReceiver && !knownNode(feedback.node)) return fail('unknown-node');
  const meant = queuePairsOf(feedback, active);
  return meant.length === 0 ? fail('unknown-queue-pair') : ok(meant);
}
