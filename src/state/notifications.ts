// Converts a notification for the northbound and `cnpctl show notifications`.
import { formatAddress } from '../model/address.ts';
import type { SentNotification } from '../model/notification.ts';
import type { NotificationState } from '../model/state.ts';
import type { Names } from './names.ts';

const isLongHaul = ({ format }: SentNotification): boolean =>
  format === 'long-haul-icmpv6' || format === 'long-haul-roce';

export function notificationState(sequence: number, n: SentNotification, names: Names): NotificationState {
  return {
    sequence,
    at: names.timeOfDay(n.atNs),
    port: names.port(n.ifindex),
    format: n.format,
    reason: n.reason,
    source: formatAddress(n.source),
    destination: formatAddress(n.destination),
    destinationQpn: n.destinationQpn,
    // 0: the format does not need it.
    sourceQpn: n.sourceQpn === 0 ? null : n.sourceQpn,
    endCon: n.endCon && formatAddress(n.endCon),
    queueBytes: n.queueBytes,
    level: n.level,
    action: isLongHaul(n) ? n.action : null,
    parameter: isLongHaul(n) ? n.parameter : null,
  };
}
