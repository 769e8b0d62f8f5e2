// cnpd's own LSA, for data without a standard place in OSPF: an area-scope opaque LSA of a private-use opaque type in
// OSPFv2 (RFC 5250 §9), an area-scope LSA of a private-use function code with the U-bit in OSPFv3 (RFC 5340 §A.4.2.1).
// Its body is the container of packet/sid-container.ts, which is encoded and read there: it is the same in other
// protocols.
import { ok } from '../../../model/result.ts';
import { EncodeError } from '../../encode-error.ts';
import type { BodyCodec } from './codec.ts';
import type { PrivateLsa } from './types.ts';

export const PRIVATE: BodyCodec<PrivateLsa> = {
  name: 'private',
  decode: (container) => ok({ kind: 'private', container }),
  encode({ container }) {
    if (container.length % 4 !== 0)
      throw new EncodeError('bad-field', `a container of ${container.length} bytes, not whole words`);
    return container;
  },
};
