// The five-tuple of a flow (RFC 6438): addresses, protocol, and ports where the protocol has them.
import { type IpAddress, sameAddress } from '../../model/address.ts';
import { u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { ok } from '../../model/result.ts';
import { type IpLayer, walkHeaders } from './walk.ts';

export interface FiveTuple {
  /** Both addresses are of one family. */
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly protocol: number;
  /** 0 for a protocol without ports. */
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** TCP, UDP, DCCP, SCTP, UDP-Lite: ports are their first four bytes. */
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 33, 132, 136]);

/** Undefined when the packet is cut before the ports. */
export function layerTuple(packet: Uint8Array, layer: IpLayer): FiveTuple | undefined {
  const { source, destination, protocol, transportOffset } = layer;
  if (!WITH_PORTS.has(protocol) || layer.laterFragment) return { source, destination, protocol, sourcePort: 0, destinationPort: 0 };
  if (transportOffset + 4 > layer.end) return undefined;
  return { source, destination, protocol, sourcePort: u16(packet, transportOffset), destinationPort: u16(packet, transportOffset + 2) };
}

/** The innermost flow of a whole packet: the customer's, below any VPN encapsulation (PNC-4-c). Code: how the header chain ended. */
export function innermostTuple(packet: Uint8Array): Decoded<FiveTuple> {
  const { layers, end } = walkHeaders(packet);
  const layer = layers.at(-1);
  if (!layer || (end !== 'transport' && end !== 'fragment')) return malformed(end, layer?.transportOffset ?? 0, 'no innermost flow can be read');
  const tuple = layerTuple(packet, layer);
  return tuple ? ok(tuple) : malformed('truncated', layer.transportOffset, 'cut before the ports');
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
