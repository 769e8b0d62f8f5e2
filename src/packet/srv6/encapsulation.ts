// IP in IPv6 as SRv6 does it (RFC 8986 §5.1 H.Encaps; RFC 2473): an outer header, a segment routing header when there
// is a path to steer, the inner packet untouched.
import type { IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { encodeIpv6 } from '../ip/ipv6.ts';
import { type IpLayer, walkHeaders } from '../ip/walk.ts';
import { PROTOCOL_ROUTING, encodeSrh } from './srh.ts';

const PROTOCOL = { 4: 4, 6: 41 } as const;

interface Encapsulation {
  readonly source: IpAddress;
  /** Of the outer header: the first segment of a path. */
  readonly destination: IpAddress;
  /** DSCP and ECN of the outer header; 0 when absent. */
  readonly trafficClass?: number;
  /** 64 when absent. */
  readonly hopLimit?: number;
  readonly flowLabel?: number;
  /** Segments after `destination`, in the order of travel. None: no SRH is needed. */
  readonly path?: readonly IpAddress[];
  /** A whole IPv4 or IPv6 packet. */
  readonly inner: Uint8Array;
}

/** The whole outer packet. @throws EncodeError when `inner` is no IP packet or does not fit */
export function encapsulate({ source, destination, path = [], inner, ...outer }: Encapsulation): Uint8Array {
  const version = inner.length > 0 ? inner[0]! >>> 4 : 0;
  if (version !== 4 && version !== 6) throw new EncodeError('bad-field', 'the inner packet is not an IP packet');
  const segments = [...[destination, ...path].reverse()];
  const srh =
    path.length === 0
      ? new Uint8Array()
      : encodeSrh({ nextHeader: PROTOCOL[version], segmentsLeft: path.length, flags: 0, tag: 0, segments, tlvs: [] });
  const header = encodeIpv6({
    source,
    destination,
    trafficClass: outer.trafficClass ?? 0,
    hopLimit: outer.hopLimit ?? 64,
    flowLabel: outer.flowLabel ?? 0,
    payloadLength: srh.length + inner.length,
    nextHeader: path.length === 0 ? PROTOCOL[version] : PROTOCOL_ROUTING,
  });
  return concat(header, srh, inner);
}

interface Decapsulated {
  readonly outer: IpLayer;
  /** From its IP header to the end that its length field or the outer one gives. A view. */
  readonly inner: Uint8Array;
}

/**
 * The packet inside the outermost IPv6 header. Codes: `not-encapsulated`, `segments-left`, or how the header chain
 * ended (`truncated`, `malformed`, `too-deep`).
 */
export function decapsulate(packet: Uint8Array): Decoded<Decapsulated> {
  const { layers, end } = walkHeaders(packet);
  const [outer, inner] = layers;
  if (!outer) return malformed(end, 0, 'no IP header chain');
  if (outer.family !== 6 || (outer.protocol !== PROTOCOL[4] && outer.protocol !== PROTOCOL[6])) {
    return malformed('not-encapsulated', outer.transportOffset, `IP protocol ${outer.protocol}`);
  }
  if (!inner) return malformed(end, outer.transportOffset, 'the inner header cannot be read');
  // A path that is not at its end is the business of the next segment.
  if (outer.finalDestination)
    return malformed('segments-left', outer.offset, 'the segment routing header has segments left');
  return ok({ outer, inner: packet.subarray(inner.offset, inner.end) });
}
