// Texts by which maps find traffic.
import { familyKey, mapKey } from '../model/address.ts';
import type { HeldTraffic, Traffic } from '../model/flow-control.ts';

/** Equal for equal traffic. */
export function trafficKey(traffic: Traffic): string {
  if (traffic.mode === 'priority') return `p ${traffic.priority}`;
  const ends = `${familyKey(traffic.source)} ${mapKey(traffic.destination)}`;
  return traffic.mode === 'service'
    ? `s ${ends} ${traffic.protocol}`
    : `f ${ends} ${traffic.sourcePort} ${traffic.destinationPort}`;
}

export const heldKey = ({ traffic, egress }: HeldTraffic): string => `${egress} ${trafficKey(traffic)}`;
