// Network-LSAs: the routers of a transit network, listed by its designated router. OSPFv2 type 2 (RFC 2328 §A.4.3),
// OSPFv3 function 2 (RFC 5340 §A.4.4): they differ in the first four bytes.
import { ok } from '../../../model/result.ts';
import { put24, put32, u24, u32 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import type { BodyCodec } from './codec.ts';
import type { NetworkLsaV2, NetworkLsaV3 } from './types.ts';

const FIXED = 4;

function decodeRouters(content: Uint8Array): Decoded<number[]> {
  if (content.length < FIXED)
    return malformed('truncated', content.length, 'shorter than the fixed part of a Network-LSA');
  if (content.length % 4 !== 0)
    return malformed('bad-length', FIXED, `${content.length - FIXED} bytes are not whole router IDs`);
  return ok(Array.from({ length: content.length / 4 - 1 }, (_, i) => u32(content, FIXED + i * 4)));
}

function encodeRouters(routers: readonly number[]): Uint8Array {
  const out = new Uint8Array(FIXED + 4 * routers.length);
  routers.forEach((router, i) => put32(out, FIXED + i * 4, field('router ID', router, 32)));
  return out;
}

export const NETWORK_V2: BodyCodec<NetworkLsaV2> = {
  name: 'network-v2',
  decode(content) {
    const routers = decodeRouters(content);
    return routers.ok ? ok({ kind: 'network-v2', mask: u32(content, 0), attachedRouters: routers.value }) : routers;
  },
  encode({ mask, attachedRouters }) {
    const out = encodeRouters(attachedRouters);
    put32(out, 0, field('mask', mask, 32));
    return out;
  },
};

export const NETWORK_V3: BodyCodec<NetworkLsaV3> = {
  name: 'network-v3',
  decode(content) {
    const routers = decodeRouters(content);
    return routers.ok ? ok({ kind: 'network-v3', options: u24(content, 1), attachedRouters: routers.value }) : routers;
  },
  encode({ options, attachedRouters }) {
    const out = encodeRouters(attachedRouters);
    put24(out, 1, field('options', options, 24));
    return out;
  },
};
