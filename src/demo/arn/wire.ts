// ARNs on the wires of the scene `arn`, captured where they arrive and decoded by src/packet.
import { monotonicMs } from '../../lab/roce/report.ts';
import { ipv6PacketOf } from '../../lab/roce/wire.ts';
import { formatAddress } from '../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { decodeArn, scopeOf, type Arn } from '../../packet/arn/arn.ts';
import { type WireDependencies, type WireTap, tap } from '../wire.ts';
import type { ArnSeen } from './results.ts';
import type { Wire } from './scene.ts';

const IPV6 = { header: 40, nextHeader: 6, hopLimit: 7 } as const;
const UDP = { protocol: 17, header: 8 } as const;

/** What every ARN has: no router has forwarded it, it precedes data, and its port is the protocol's at both ends. */
export const ARN_SOUND = {
  hopLimit: 255,
  trafficClass: 0xc0,
  sourcePort: DEFAULT_CODE_POINTS['arn-udp-port'],
  destinationPort: DEFAULT_CODE_POINTS['arn-udp-port'],
} as const;

type Reading = Omit<ArnSeen, 't' | 'wire'>;

/** What an ARN names. */
function trafficOf(arn: Arn): string | null {
  const scope = scopeOf(arn);
  if (scope === 'priority') return `priority ${arn.priority!}`;
  if (scope === 'service') return serviceText(formatAddress(arn.flow!.source), formatAddress(arn.flow!.destination));
  return null;
}

export const serviceText = (source: string, destination: string): string => `service ${source} to ${destination}`;

/** The ARN that an Ethernet frame is; undefined for all others. Either of its ports makes it one. */
export function readArn(frame: Uint8Array): Reading | undefined {
  const packet = ipv6PacketOf(frame);
  if (!packet || packet[IPV6.nextHeader] !== UDP.protocol || packet.length < IPV6.header + UDP.header) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const [sourcePort, destinationPort] = [view.getUint16(IPV6.header), view.getUint16(IPV6.header + 2)];
  if (sourcePort !== ARN_SOUND.sourcePort && destinationPort !== ARN_SOUND.destinationPort) return undefined;
  const arn = decodeArn(packet.subarray(IPV6.header + UDP.header));
  return {
    hopLimit: packet[IPV6.hopLimit]!,
    trafficClass: (view.getUint16(0) >> 4) & 0xff,
    ...{ sourcePort, destinationPort },
    type: arn.ok ? arn.value.type : null,
    traffic: arn.ok ? trafficOf(arn.value) : null,
  };
}

/** Every ARN that arrives at the end of a wire. */
export const tapArns = (wire: Wire, dependencies: WireDependencies): WireTap<ArnSeen> =>
  tap(
    wire.at,
    (frame) => {
      const reading = readArn(frame);
      return reading && { t: monotonicMs(), wire: wire.name, ...reading };
    },
    dependencies,
  );
