// Notifications to senders as they are on the wire, read by the agent's codecs, which share no code with the dataplane
// that built them.
import { type IpAddress, formatAddress } from '../../../src/model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import type { NotificationFormat } from '../../../src/model/notification.ts';
import { decodeLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import type { LongHaulCnp } from '../../../src/packet/long-haul/body.ts';
import { type FastCnp, type FastCnpCodes, parseFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { isLongHaulRoce, readLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';

export const FAST_CNP: FastCnpCodes = {
  option: DEFAULT_CODE_POINTS['fast-cnp-option'],
  ioamOption: DEFAULT_CODE_POINTS['fast-cnp-ioam-option'],
  icrc: 'cover',
};
export const LONG_HAUL = {
  type: DEFAULT_CODE_POINTS['long-haul-icmpv6-type'],
  objectClass: DEFAULT_CODE_POINTS['long-haul-object-class'],
};

export interface Notification {
  readonly format: Exclude<NotificationFormat, 'proxy'>;
  /** The whole IP packet. */
  readonly packet: Uint8Array;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  /** Of a Fast CNP. */
  readonly fastCnp?: FastCnp;
  /** Of a Long-haul CNP in either form. */
  readonly longHaul?: LongHaulCnp;
}

/** One notification; undefined: another packet. @throws when a Long-haul CNP is malformed */
export function notification(packet: Uint8Array): Notification | undefined {
  const fast = packet[0]! >> 4 === 6 ? parseFastCnp(packet, FAST_CNP) : undefined;
  if (fast?.ok)
    return {
      format: 'fast-cnp',
      packet,
      source: fast.value.packet.source,
      destination: fast.value.packet.destination,
      fastCnp: fast.value,
    };
  const icmp = packet[0]! >> 4 === 6 ? parseIcmpv6(packet) : undefined;
  if (icmp?.ok && icmp.value.type === LONG_HAUL.type) {
    const { message, source, destination } = icmp.value;
    return {
      format: 'long-haul-icmpv6',
      packet,
      source,
      destination,
      longHaul: must(decodeLongHaulIcmpv6(message, LONG_HAUL)),
    };
  }
  const roce = parseRocePacket(packet);
  if (!roce.ok || !isLongHaulRoce(roce.value)) return undefined;
  const { source, destination } = roce.value;
  return {
    format: 'long-haul-roce',
    packet,
    source,
    destination,
    longHaul: must(readLongHaulRoce(roce.value, LONG_HAUL.objectClass)),
  };
}

export const notifications = (packets: readonly Uint8Array[]): Notification[] =>
  packets.flatMap((packet) => notification(packet) ?? []);

/** Those to one sender. */
export const notificationsTo = (sender: IpAddress, packets: readonly Uint8Array[]): Notification[] =>
  notifications(packets).filter(({ destination }) => formatAddress(destination) === formatAddress(sender));

function must<T>(
  decoded:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly error: { readonly code: string; readonly detail: string } },
): T {
  if (!decoded.ok) throw new Error(`a malformed Long-haul CNP: ${decoded.error.code}: ${decoded.error.detail}`);
  return decoded.value;
}
