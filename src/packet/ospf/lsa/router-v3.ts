// OSPFv3 Router-LSA, function 1 (RFC 5340 §A.4.3). A router may originate several, with different link-state IDs; their
// links are combined.
import { ok } from '../../../model/result.ts';
import { concat, put16, put24, put32, u16, u24, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import type { BodyCodec } from './codec.ts';
import type { RouterLinkV3, RouterLsaV3 } from './types.ts';

const FIXED = 4;
/** Of a link, here and in the Router-Link TLV of RFC 8362. */
export const LINK_LENGTH = 16;

export function encodeLink(link: RouterLinkV3): Uint8Array {
  const out = new Uint8Array(LINK_LENGTH);
  out[0] = field('link type', link.type, 8);
  put16(out, 2, field('metric', link.metric, 16));
  put32(out, 4, field('interface ID', link.interfaceId, 32));
  put32(out, 8, field("neighbor's interface ID", link.neighborInterfaceId, 32));
  put32(out, 12, field("neighbor's router ID", link.neighborRouterId, 32));
  return out;
}

export const readLink = (bytes: Uint8Array, at: number): RouterLinkV3 => ({
  type: bytes[at]!,
  metric: u16(bytes, at + 2),
  interfaceId: u32(bytes, at + 4),
  neighborInterfaceId: u32(bytes, at + 8),
  neighborRouterId: u32(bytes, at + 12),
});

export const ROUTER_V3: BodyCodec<RouterLsaV3> = {
  name: 'router-v3',
  decode(content) {
    if (content.length < FIXED)
      return malformed('truncated', content.length, 'shorter than the fixed part of a Router-LSA');
    if ((content.length - FIXED) % LINK_LENGTH !== 0)
      return malformed('link-overrun', FIXED, `${content.length - FIXED} bytes are not whole links`);
    const length = (content.length - FIXED) / LINK_LENGTH;
    const links = Array.from({ length }, (_, i) => readLink(content, FIXED + i * LINK_LENGTH));
    return ok({ kind: 'router-v3', flags: content[0]!, options: u24(content, 1), links });
  },
  encode({ flags, options, links }) {
    const head = new Uint8Array(FIXED);
    head[0] = field('flags', flags, 8);
    put24(head, 1, field('options', options, 24));
    return concat(head, ...links.map(encodeLink));
  },
};
