// The topology LSAs of RFC 8362: E-Router (function 33) and E-Network (34), in which links have sub-TLVs. A router that
// supports extended LSAs fully has these in place of Router- and Network-LSAs; FRR never does. A router may originate
// several E-Router-LSAs, whose links are combined.
import { fail, ok } from '../../../model/result.ts';
import { concat, put24, put32, u24, u32 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import { type TlvCodec, tlvSpace } from '../tlv.ts';
import type { BodyCodec } from './codec.ts';
import { LINK_LENGTH, encodeLink, readLink } from './router-v3.ts';
import type { AttachedRouters, ENetworkLsa, ERouterLsa, ExtendedRouterLink } from './types.ts';

const FIXED = 4;

const ROUTER_LINK: TlvCodec<ExtendedRouterLink> = {
  type: 1,
  name: 'router-link-tlv',
  decode: (value) =>
    value.length < LINK_LENGTH
      ? malformed('truncated', value.length, 'shorter than the fixed part of a Router-Link TLV')
      : ok({ kind: 'router-link-tlv', ...readLink(value, 0), subTlvs: value.subarray(LINK_LENGTH) }),
  encode: (link) => concat(encodeLink(link), link.subTlvs),
};

const ATTACHED_ROUTERS: TlvCodec<AttachedRouters> = {
  type: 2,
  name: 'attached-routers-tlv',
  decode: (value) =>
    value.length % 4 === 0
      ? ok({
          kind: 'attached-routers-tlv',
          routers: Array.from({ length: value.length / 4 }, (_, i) => u32(value, i * 4)),
        })
      : malformed('bad-length', 0, `${value.length} bytes are not whole router IDs`),
  encode({ routers }) {
    const out = new Uint8Array(4 * routers.length);
    routers.forEach((router, i) => put32(out, i * 4, field('router ID', router, 32)));
    return out;
  },
};

const ROUTER_TLVS = tlvSpace([ROUTER_LINK]);
const NETWORK_TLVS = tlvSpace([ATTACHED_ROUTERS]);

const tooShort = (content: Uint8Array, what: string): Decoded<never> | undefined =>
  content.length < FIXED
    ? malformed('truncated', content.length, `shorter than the fixed part of an ${what}`)
    : undefined;

function head(flags: number, options: number): Uint8Array {
  const out = new Uint8Array(FIXED);
  out[0] = field('flags', flags, 8);
  put24(out, 1, field('options', options, 24));
  return out;
}

export const E_ROUTER: BodyCodec<ERouterLsa> = {
  name: 'e-router',
  decode(content, report) {
    const short = tooShort(content, 'E-Router-LSA');
    if (short) return short;
    const tlvs = ROUTER_TLVS.decode(content, FIXED, report);
    if (!tlvs.ok) return fail(tlvs.error);
    return ok({ kind: 'e-router', flags: content[0]!, options: u24(content, 1), tlvs: tlvs.value });
  },
  encode: ({ flags, options, tlvs }) => concat(head(flags, options), ROUTER_TLVS.encode(tlvs)),
};

export const E_NETWORK: BodyCodec<ENetworkLsa> = {
  name: 'e-network',
  decode(content, report) {
    const short = tooShort(content, 'E-Network-LSA');
    if (short) return short;
    const tlvs = NETWORK_TLVS.decode(content, FIXED, report);
    return tlvs.ok ? ok({ kind: 'e-network', options: u24(content, 1), tlvs: tlvs.value }) : fail(tlvs.error);
  },
  encode: ({ options, tlvs }) => concat(head(0, options), NETWORK_TLVS.encode(tlvs)),
};
