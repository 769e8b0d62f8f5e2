// How senders may be notified (bpf/lib/detector/layout.h): the formats of a prefix, and formats that single hosts lack.
// Also the END.CON SIDs through which flows inside a tunnel may be notified, and this router's own addresses, which
// have no route.
import type { IpAddress } from '../../model/address.ts';
import { NOTIFICATION_FORMATS, type NotificationFormat } from '../../model/notification.ts';
import type { Prefix } from '../../model/prefix.ts';
import { structure, u32Key } from './layout.ts';
import { FORMAT_NUMBER, formatOf } from './notifications.ts';

/** The key is layout.ts's prefixKey. */
interface SenderPolicy {
  readonly prefix: Prefix;
  /** 1 to 4 formats, tried in this order. */
  readonly order: readonly NotificationFormat[];
  /** FCNP-4-a: a flow that gets Fast CNPs is marked as well. */
  readonly markCeWithFastCnp: boolean;
  /** Formats but `proxy` are tried only where the sender's prefix is advertised to understand them. */
  readonly onlyAdvertised?: boolean;
}

/** Offsets in struct sender_policy. */
export const SENDER_POLICY_SIZE = 8;
const POLICY = { order: 0, family: 4, mark: 5, onlyAdvertised: 6 } as const;
const MAX_ORDER = 4;

/** @throws RangeError: no format, or too many */
export function encodeSenderPolicy({
  prefix,
  order,
  markCeWithFastCnp,
  onlyAdvertised = false,
}: SenderPolicy): Uint8Array {
  if (order.length < 1 || order.length > MAX_ORDER)
    throw new RangeError(`${order.length} formats, not 1 to ${MAX_ORDER}`);
  return structure(SENDER_POLICY_SIZE, (_, bytes) => {
    bytes.set(
      order.map((format) => FORMAT_NUMBER[format]),
      POLICY.order,
    );
    bytes[POLICY.family] = prefix.address.family;
    bytes[POLICY.mark] = markCeWithFastCnp ? 1 : 0;
    bytes[POLICY.onlyAdvertised] = onlyAdvertised ? 1 : 0;
  });
}

export const decodeSenderPolicy = (value: Uint8Array): Omit<SenderPolicy, 'prefix'> => ({
  order: [...value.subarray(POLICY.order, POLICY.order + MAX_ORDER)].filter((number) => number !== 0).map(formatOf),
  markCeWithFastCnp: value[POLICY.mark] === 1,
  ...(value[POLICY.onlyAdvertised] === 1 && { onlyAdvertised: true }),
});

/** The key is layout.ts's mappedAddress of the host. */
export interface SenderCapability {
  readonly host: IpAddress;
  readonly lacks: readonly NotificationFormat[];
}

/** struct sender_capability. */
export const SENDER_CAPABILITY_SIZE = 8;

export const encodeSenderCapability = ({ lacks }: SenderCapability): Uint8Array =>
  structure(SENDER_CAPABILITY_SIZE, (_, bytes) => {
    bytes[0] = lacks.reduce((bits, format) => bits | (1 << FORMAT_NUMBER[format]), 0);
  });

export const decodeSenderCapability = (value: Uint8Array): Pick<SenderCapability, 'lacks'> => ({
  lacks: NOTIFICATION_FORMATS.filter((format) => (value[0]! >> FORMAT_NUMBER[format]) & 1),
});

/** Value of an END.CON SID: the tenant of the senders behind it (tenants.ts). The key is layout.ts's mappedAddress. */
export const encodeEndCon = (tenant: number): Uint8Array => u32Key(tenant);
/** Value of the set of own addresses; its key is the same. */
export const OWN_ADDRESS = Uint8Array.of(1);
