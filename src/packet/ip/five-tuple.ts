// The five-tuple of a flow (RFC 6438): addresses, protocol, and ports where the protocol has them.
import { type Family, type IpAddress, addressBytes, sameAddress } from '../../model/address.ts';
import { concat, put16, readAddress, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import { ok } from '../../model/result.ts';
import { type IpLayer, walkHeaders } from './walk.ts';

export interface FiveTuple {
  /** Both addresses are of one family. */
  readonly source: IpAddress;
  /** Where the flow ends: the last segment, when a segment routing header has segments left. */
  readonly destination: IpAddress;
  readonly protocol: number;
  /** 0 for a protocol without ports. */
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** Octets of a tuple in a message. */
export const TUPLE_SIZE: Readonly<Record<Family, number>> = { 4: 13, 6: 37 };

/**
 * As messages have it: source 4|16, destination 4|16, protocol 1, source port 2, destination port 2.
 * @throws EncodeError `bad-tuple`, `bad-field`
 */
export function encodeTuple({ source, destination, protocol, sourcePort, destinationPort }: FiveTuple): Uint8Array {
  if (source.family !== destination.family) throw new EncodeError('bad-tuple', 'a five-tuple of two families');
  const tail = new Uint8Array(5);
  tail[0] = field('protocol', protocol, 8);
  put16(tail, 1, field('source port', sourcePort, 16));
  put16(tail, 3, field('destination port', destinationPort, 16));
  return concat(addressBytes(source), addressBytes(destination), tail);
}

/** The TUPLE_SIZE octets at `offset`. */
export function readTuple(bytes: Uint8Array, offset: number, family: Family): FiveTuple {
  const size = family === 4 ? 4 : 16;
  const tail = offset + 2 * size;
  return {
    source: readAddress(bytes, offset, family),
    destination: readAddress(bytes, offset + size, family),
    protocol: bytes[tail]!,
    sourcePort: u16(bytes, tail + 1),
    destinationPort: u16(bytes, tail + 3),
  };
}

/** TCP, UDP, DCCP, SCTP, UDP-Lite: ports are their first four bytes. */
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 33, 132, 136]);

interface InnermostFlow {
  readonly tuple: FiveTuple;
  readonly layer: IpLayer;
}

/**
 * The innermost flow of a packet: the customer's, below any VPN encapsulation (PNC-4-c). Codes: how the header chain
 * ended, when not at a transport header (`fragment`, `truncated`, `malformed`, `too-deep`).
 */
export function innermostFlow(packet: Uint8Array): Decoded<InnermostFlow> {
  const { layers, end } = walkHeaders(packet);
  const layer = layers.at(-1);
  if (!layer || end !== 'transport')
    return malformed(end, layer?.transportOffset ?? 0, 'no innermost flow can be read');
  const { source, protocol, transportOffset } = layer;
  const ends = { source, destination: layer.finalDestination ?? layer.destination, protocol };
  if (!WITH_PORTS.has(protocol)) return ok({ layer, tuple: { ...ends, sourcePort: 0, destinationPort: 0 } });
  if (transportOffset + 4 > layer.end) return malformed('truncated', transportOffset, 'cut before the ports');
  return ok({
    layer,
    tuple: { ...ends, sourcePort: u16(packet, transportOffset), destinationPort: u16(packet, transportOffset + 2) },
  });
}

export function innermostTuple(packet: Uint8Array): Decoded<FiveTuple> {
  const flow = innermostFlow(packet);
  return flow.ok ? ok(flow.value.tuple) : flow;
}

export function sameTuple(a: FiveTuple, b: FiveTuple): boolean {
  return (
    a.protocol === b.protocol &&
    a.sourcePort === b.sourcePort &&
    a.destinationPort === b.destinationPort &&
    sameAddress(a.source, b.source) &&
    sameAddress(a.destination, b.destination)
  );
}
