// Packets put together by hand for the walker and the notice: headers in any order, without the encoders under test
// checking them.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { encodeIpv4 } from './ipv4.ts';
import { encodeIpv6 } from './ipv6.ts';

type Ends = readonly [source: IpAddress, destination: IpAddress];

export const ipv4 = ([source, destination]: Ends, protocol: number, payload: Uint8Array): Uint8Array =>
  concat(
    encodeIpv4({ source, destination, protocol, payloadLength: payload.length, trafficClass: 2, hopLimit: 64 }),
    payload,
  );

export const ipv6 = ([source, destination]: Ends, nextHeader: number, payload: Uint8Array): Uint8Array =>
  concat(
    encodeIpv6({
      source,
      destination,
      nextHeader,
      payloadLength: payload.length,
      trafficClass: 2,
      flowLabel: 0,
      hopLimit: 64,
    }),
    payload,
  );

/** A segment routing header; `segments[0]` is the last segment. */
export const srh = (
  nextHeader: number,
  segmentsLeft: number,
  segments: readonly IpAddress[],
  payload: Uint8Array,
): Uint8Array =>
  concat(
    Uint8Array.of(nextHeader, segments.length * 2, 4, segmentsLeft, segments.length - 1, 0, 0, 0),
    ...segments.map(addressBytes),
    payload,
  );

/** Destination or hop-by-hop options: `units` times 8 bytes more than 8, all padding. */
export const options = (nextHeader: number, units: number, payload: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(nextHeader, units, 1, 4 + units * 8), new Uint8Array(4 + units * 8), payload);

export const fragment = (nextHeader: number, offsetUnits: number, more: boolean, payload: Uint8Array): Uint8Array =>
  concat(
    Uint8Array.of(nextHeader, 0, offsetUnits >>> 5, ((offsetUnits << 3) & 0xff) | (more ? 1 : 0), 0, 0, 0, 1),
    payload,
  );

/** UDP, its length not checked, with a payload. */
export const udp = (sourcePort: number, destinationPort: number, payload: Uint8Array = new Uint8Array(8)): Uint8Array =>
  concat(
    Uint8Array.of(
      sourcePort >>> 8,
      sourcePort,
      destinationPort >>> 8,
      destinationPort,
      (8 + payload.length) >>> 8,
      8 + payload.length,
      0,
      0,
    ),
    payload,
  );
