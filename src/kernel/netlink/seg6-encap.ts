// Routes that encapsulate packets in IPv6 with a Segment Routing Header (LWTUNNEL_ENCAP_SEG6, mode encap;
// include/uapi/linux/{lwtunnel,seg6_iptunnel}.h). Pure. The header is passed whole, with its TLVs, which `ip route`
// cannot express. For each packet the kernel fills in the next header, and the destination from the segment at Last
// Entry; Segments Left stays as given.
import { type NetlinkMessage, attribute, concat, decodeAttributes, nested, struct, viewOf } from './message.ts';

const RTA = { ENCAP_TYPE: 21, ENCAP: 22 } as const;
const LWTUNNEL_ENCAP_SEG6 = 5;
const SEG6_IPTUNNEL_SRH = 1;
const SEG6_IPTUN_MODE_ENCAP = 1;
const ROUTE_HEADER = 12;

/** The attributes of a route that make it encapsulate. `srh`: a whole header in network order, its length included. */
export const encodeSeg6Encap = (srh: Uint8Array): Uint8Array =>
  concat([
    attribute(
      RTA.ENCAP_TYPE,
      struct(2, (view) => view.setUint16(0, LWTUNNEL_ENCAP_SEG6, true)),
    ),
    // struct seg6_iptunnel_encap: mode, then the header.
    nested(
      RTA.ENCAP,
      attribute(SEG6_IPTUNNEL_SRH, concat([struct(4, (view) => view.setInt32(0, SEG6_IPTUN_MODE_ENCAP, true)), srh])),
    ),
  ]);

/** The header of a route that encapsulates, as it was passed; undefined for other routes and for other modes. */
export function decodeSeg6Encap({ body }: NetlinkMessage): Uint8Array | undefined {
  if (body.length < ROUTE_HEADER) return undefined;
  const attributes = decodeAttributes(body, ROUTE_HEADER);
  const kind = attributes.get(RTA.ENCAP_TYPE);
  const encap = attributes.get(RTA.ENCAP);
  if (!kind || kind.length < 2 || !encap || viewOf(kind).getUint16(0, true) !== LWTUNNEL_ENCAP_SEG6) return undefined;
  const tunnel = decodeAttributes(encap).get(SEG6_IPTUNNEL_SRH);
  if (!tunnel || tunnel.length < 4 || viewOf(tunnel).getInt32(0, true) !== SEG6_IPTUN_MODE_ENCAP) return undefined;
  return tunnel.slice(4);
}
