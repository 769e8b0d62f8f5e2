// TLV 251, GENINFO (RFC 6823 §3): flags 1, application ID 2, an IPv4 address if flag I is set, an IPv6 address if flag
// V is set, then the application's information. The four high bits of the flags are reserved.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, copyOf, put16, readAddress, u16 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import type { TlvCodec } from './codec.ts';
import type { GenInfo } from './types.ts';

const FLAG = { domainWide: 0x01, down: 0x02, ipv4: 0x04, ipv6: 0x08 } as const;
const RESERVED = 0xf0;
const HEADER = 3;
const ADDRESS_SIZE = { 4: 4, 6: 16 } as const;

export const GENINFO: TlvCodec<GenInfo> = {
  type: 251,
  name: 'geninfo',
  decode(value) {
    if (value.length < HEADER) return malformed('bad-length', value.length, 'shorter than flags and application ID');
    const flags = value[0]!;
    const families = ([4, 6] as const).filter((family) => flags & (family === 4 ? FLAG.ipv4 : FLAG.ipv6));
    const end = families.reduce((at, family) => at + ADDRESS_SIZE[family], HEADER);
    if (value.length < end) return malformed('bad-length', value.length, 'shorter than its addresses');
    let at = HEADER;
    const addresses = families.map((family) => {
      const address = readAddress(value, at, family);
      at += ADDRESS_SIZE[family];
      return { [`ipv${family}`]: address };
    });
    return ok({
      kind: 'geninfo',
      applicationId: u16(value, 1),
      domainWide: (flags & FLAG.domainWide) !== 0,
      down: (flags & FLAG.down) !== 0,
      otherFlags: flags & RESERVED,
      ...Object.assign({}, ...addresses),
      info: copyOf(value, end),
    });
  },
  encode({ applicationId, domainWide, down, otherFlags, ipv4, ipv6, info }) {
    if ((ipv4 && ipv4.family !== 4) || (ipv6 && ipv6.family !== 6))
      throw new EncodeError('bad-field', 'an address of the other family');
    if ((otherFlags & ~RESERVED) !== 0) throw new EncodeError('bad-field', 'flags with a meaning of their own');
    const header = new Uint8Array(HEADER);
    header[0] =
      otherFlags |
      (domainWide ? FLAG.domainWide : 0) |
      (down ? FLAG.down : 0) |
      (ipv4 ? FLAG.ipv4 : 0) |
      (ipv6 ? FLAG.ipv6 : 0);
    put16(header, 1, field('application ID', applicationId, 16));
    return concat(header, ...[ipv4, ipv6].map((one) => (one ? addressBytes(one) : new Uint8Array())), info);
  },
};
