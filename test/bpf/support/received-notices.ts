// Notices as a receiver sees them, taken apart by the agent's own codec (src/packet), which shares no code with the
// dataplane.
import type { IpAddress } from '../../../src/model/address.ts';
import { u16 } from '../../../src/packet/bytes.ts';
import { ipv4ChecksumValid } from '../../../src/packet/ip/ipv4.ts';
import { type UdpHeader, decodeUdp, udpChecksum } from '../../../src/packet/ip/udp.ts';
import { walkHeaders } from '../../../src/packet/ip/walk.ts';
import { type Notice, decodeNotice } from '../../../src/packet/notice/pnc.ts';
import { PNC_PORT } from './congested-router.ts';

export interface ReceivedNotice {
  readonly frame: Uint8Array;
  /** The whole IP packet. */
  readonly packet: Uint8Array;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly udp: UdpHeader;
  readonly checksum: 'valid' | 'wrong' | 'absent';
  readonly headerChecksumValid: boolean;
  readonly notice: Notice;
}

/** The notices among frames, in order. @throws Error when one to the notices' port is malformed */
export function notices(frames: readonly Uint8Array[], port = PNC_PORT): ReceivedNotice[] {
  return frames.flatMap((frame) => {
    const packet = frame.subarray(14);
    const type = u16(frame, 12);
    if (type !== 0x86dd && type !== 0x0800) return [];
    const layer = walkHeaders(packet).layers[0];
    if (!layer || layer.protocol !== 17) return [];
    const udp = decodeUdp(packet, layer.transportOffset, layer.end);
    if (!udp.ok || udp.value.destinationPort !== port) return [];
    const notice = decodeNotice(packet.subarray(layer.transportOffset + 8, layer.transportOffset + udp.value.length));
    if (!notice.ok) throw new Error(`a malformed notice: ${notice.error.code}: ${notice.error.detail}`);
    return [
      {
        frame,
        packet,
        source: layer.source,
        destination: layer.destination,
        trafficClass: layer.trafficClass,
        hopLimit: layer.hopLimit,
        udp: udp.value,
        checksum: udpChecksum(packet, layer.transportOffset, udp.value.length, layer.source, layer.destination),
        headerChecksumValid: layer.family === 6 || ipv4ChecksumValid(packet, 0, 20),
        notice: notice.value,
      },
    ];
  });
}
