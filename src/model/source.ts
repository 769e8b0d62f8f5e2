// What the source's role makes of the notifications that reach it for hosts behind it (LHCNP §5.6, FCNP §4).
import type { IpAddress } from './address.ts';
import { NOTIFICATION_FORMATS, type LongHaulInstruction, type NotificationFormat } from './notification.ts';

/**
 * `pass`: the host gets the notification as it is. `convert`: it gets a standard CNP. `enforce`: cnpd obeys in its
 * place.
 */
export type SourceAction = 'pass' | 'convert' | 'enforce';

export const SOURCE_ACTIONS: readonly SourceAction[] = ['pass', 'convert', 'enforce'];

/** `standard-cnp`: of the flow's receiver. */
export type ReceivedFormat = Exclude<NotificationFormat, 'proxy'> | 'standard-cnp';

export const RECEIVED_FORMATS: readonly ReceivedFormat[] = [
  'standard-cnp',
  ...NOTIFICATION_FORMATS.filter((format) => format !== 'proxy'),
];

/** Which held flows an operator lets go. */
export type ReleaseRequest =
  | 'all'
  | { readonly sender: IpAddress; readonly receiver: IpAddress; readonly receiverQpn: number };

/** A notification that the source's program has believed. */
export interface SourceNotification {
  /** Monotonic, ns. */
  readonly atNs: bigint;
  readonly format: ReceivedFormat;
  readonly action: SourceAction;
  /** Who has sent it. */
  readonly node: IpAddress;
  /** With `pass`, the receiver of a connection that is not known is the unspecified address with Queue Pair 0. */
  readonly flow: { readonly sender: IpAddress; readonly receiver: IpAddress; readonly receiverQpn: number };
  /** The Queue Pair that is to slow down; with `pass`, 0 where it is not known. */
  readonly senderQpn: number;
  readonly ifindex: number;
  /** Null: Fast CNP and standard CNP give no instruction. */
  readonly instruction: LongHaulInstruction | null;
  /** The metric of a Long-haul CNP: type in the upper 8 bits, value in the lower 24; null: none. */
  readonly metric: number | null;
  /** The IOAM trace of a Fast CNP, header and node data as on the wire; null: none. */
  readonly trace: { readonly kind: number; readonly bytes: Uint8Array } | null;
}
