// cnpd's own LSA, for data without a standard place in OSPF. In OSPFv2 it is an area-scope opaque LSA of a private-use
// opaque type (RFC 5250 §9). In OSPFv3 it is an area-scope LSA of a private-use function code with the U-bit (RFC 5340
// §A.4.2.1). Its body is the container of packet/sid-container.ts, which other protocols use as well.
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
