// A notification as the dataplane reports it, for tests.
import { address } from '../model/address.ts';
import type { SentNotification } from '../model/notification.ts';

export const SENDER = address('2001:db8:1::1');
export const RECEIVER = address('2001:db8:2::1');

export const sentNotification = (more: Partial<SentNotification> = {}): SentNotification => ({
  atNs: 1_000_000_000n,
  format: 'long-haul-icmpv6',
  reason: 'queue-depth',
  ifindex: 3,
  source: SENDER,
  destination: RECEIVER,
  destinationQpn: 200,
  sourceQpn: 100,
  endCon: null,
  queueBytes: 130_000_000,
  level: 180,
  action: 'rate-reduce',
  parameter: 30,
  datagram: false,
  sourcePort: 0xc123,
  pkey: 0x8001,
  ...more,
});
