// OSPFv2 Router-LSA, type 1 (RFC 2328 §A.4.2).
import { ok } from '../../../model/result.ts';
import { concat, put16, put32, u16, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import type { BodyCodec } from './codec.ts';
import type { RouterLinkV2, RouterLsaV2 } from './types.ts';

const FIXED = 4;
const LINK = 12;
const TOS_METRIC = 4;

function encodeLink(link: RouterLinkV2): Uint8Array {
  const { tosMetrics } = link;
  if (tosMetrics.length % TOS_METRIC !== 0)
    throw new EncodeError('bad-field', `${tosMetrics.length} bytes are not whole TOS metrics`);
  const head = new Uint8Array(LINK);
  put32(head, 0, field('link ID', link.linkId, 32));
  put32(head, 4, field('link data', link.linkData, 32));
  head[8] = field('link type', link.type, 8);
  head[9] = field('number of TOS metrics', tosMetrics.length / TOS_METRIC, 8);
  put16(head, 10, field('metric', link.metric, 16));
  return concat(head, tosMetrics);
}

export const ROUTER_V2: BodyCodec<RouterLsaV2> = {
  name: 'router-v2',
  decode(content) {
    if (content.length < FIXED)
      return malformed('truncated', content.length, 'shorter than the fixed part of a Router-LSA');
    const links: RouterLinkV2[] = [];
    let at = FIXED;
    for (let left = u16(content, 2); left > 0; left--) {
      const end = at + LINK + (content[at + 9] ?? 0) * TOS_METRIC;
      if (end > content.length) return malformed('link-overrun', at, 'a link exceeds the Router-LSA');
      links.push({
        type: content[at + 8]!,
        linkId: u32(content, at),
        linkData: u32(content, at + 4),
        metric: u16(content, at + 10),
        tosMetrics: content.subarray(at + LINK, end),
      });
      at = end;
    }
    if (at !== content.length)
      return malformed('trailing-bytes', at, `${content.length - at} bytes after the last link`);
    return ok({ kind: 'router-v2', flags: content[0]!, links });
  },
  encode({ flags, links }) {
    const head = new Uint8Array(FIXED);
    head[0] = field('flags', flags, 8);
    put16(head, 2, field('number of links', links.length, 16));
    return concat(head, ...links.map(encodeLink));
  },
};
