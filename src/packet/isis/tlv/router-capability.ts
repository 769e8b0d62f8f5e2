// TLV 242, Router Capability (RFC 7981 §2): router ID, flags, and sub-TLVs that stay bytes.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, readAddress } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import type { RouterCapability } from './types.ts';
import { type TlvCodec } from './codec.ts';

export const ROUTER_CAPABILITY: TlvCodec<RouterCapability> = {
  type: 242,
  name: 'router-capability',
  decode(value) {
    if (value.length < 5) return malformed('bad-length', 0, `${value.length} bytes; at least 5 are needed`);
    return ok({
      kind: 'router-capability',
      routerId: readAddress(value, 0, 4),
      flags: value[4]!,
      subTlvs: value.subarray(5),
    });
  },
  encode({ routerId, flags, subTlvs }) {
    if (routerId.family !== 4) throw new EncodeError('bad-field', 'a router ID is an IPv4 address');
    return concat(addressBytes(routerId), Uint8Array.of(field('flags', flags, 8)), subTlvs);
  },
};
