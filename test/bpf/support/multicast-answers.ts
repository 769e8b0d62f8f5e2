// Answers of receivers and children of a group in the tests: ACKs, NAKs and CNPs, and the tunnel from child to parent.
import { type IpAddress, address, addressBytes } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { buildRocePacket } from '../../../src/packet/roce/packet.ts';
import { receiverAddress } from './multicast-branches.ts';
import { DESIGNATED, PROXY } from './multicast-packets.ts';

/** Of all packets, unless a test says otherwise. */
export const EPOCH = 1;
/** A source behind the core port. */
export const CORE_HOST = address('2001:db8:c00::55');
export const SOURCE_QPN = 0x77;

interface Said {
  psn?: number;
  kind?: 'ack' | 'nak' | 'rnr-nak';
  value?: number;
  msn?: number;
  source?: IpAddress;
  destination?: IpAddress;
  destQpn?: number;
}

export const answer = ({
  psn = 0,
  kind = 'ack',
  value,
  msn = 0,
  source,
  destination = PROXY,
  destQpn = DESIGNATED,
}: Said): Uint8Array =>
  buildRocePacket({
    source: source ?? receiverAddress(0),
    destination,
    sourcePort: 0xc123,
    trafficClass: 0,
    hopLimit: 64,
    bth: { opcode: 0x11, destQpn, psn },
    ext: { aeth: { kind, value: value ?? (kind === 'ack' ? 31 : 0), msn } },
    payload: new Uint8Array(0),
  });

export const cnp = (source: IpAddress, destQpn = DESIGNATED, destination = PROXY): Uint8Array =>
  buildRocePacket({
    source,
    destination,
    sourcePort: 0xc123,
    trafficClass: 0xc0,
    hopLimit: 64,
    bth: { opcode: 0x81, destQpn, psn: 0, becn: true },
    payload: new Uint8Array(16),
  });

/** What goes from a child to its parent. */
export function inTunnel(inside: Uint8Array, from: IpAddress, to: IpAddress, epoch = EPOCH, hops = 64): Uint8Array {
  const outer = new Uint8Array(40);
  const view = new DataView(outer.buffer);
  view.setUint32(0, (0x6c00_0000 | epoch) >>> 0);
  view.setUint16(4, inside.length);
  outer[6] = 41;
  outer[7] = hops;
  outer.set(addressBytes(from), 8);
  outer.set(addressBytes(to), 24);
  return concat(outer, inside);
}
