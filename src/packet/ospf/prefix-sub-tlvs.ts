// Sub-TLVs of prefixes: Prefix Extended Flags (RFC 9792), the originator's router ID and address (RFC 9084). Both
// versions have the same three, with different type numbers.
import { type Family, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { withFlag } from '../bit-string.ts';
import { put32, readAddress, u32 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import type { Version } from './numbers.ts';
import { type TlvCodec, type TlvSpace, checkLength, malformedLsa, tlvSpace } from './tlv.ts';
import type {
  PrefixExtendedFlags,
  PrefixSubTlv,
  SourceRouterAddress,
  SourceRouterId,
  UnknownTlv,
} from './lsa/types.ts';

type Known = Exclude<PrefixSubTlv, UnknownTlv>;
const WORD = 4;

/** The shortest flags with these bits set: at least one whole 32-bit word. */
export const extendedFlags = (...bits: readonly number[]): Uint8Array =>
  bits.reduce<Uint8Array>((flags, bit) => withFlag(flags, bit, WORD), new Uint8Array(WORD));

const prefixExtendedFlags = (type: number): TlvCodec<PrefixExtendedFlags> => ({
  type,
  name: 'prefix-extended-flags',
  decode(value) {
    // RFC 9792 §2: the whole LSA is malformed and MUST be ignored.
    if (value.length % WORD !== 0)
      return malformedLsa('bad-flags-length', 0, `Prefix Extended Flags of ${value.length} bytes, not whole words`);
    return ok({ kind: 'prefix-extended-flags', flags: value });
  },
  encode({ flags }) {
    if (flags.length % WORD !== 0)
      throw new EncodeError('bad-field', `Prefix Extended Flags of ${flags.length} bytes, not whole words`);
    return flags;
  },
});

const sourceRouterId = (type: number): TlvCodec<SourceRouterId> => ({
  type,
  name: 'source-router-id',
  decode: (value) =>
    checkLength(value, 4, 'source router ID') ?? ok({ kind: 'source-router-id', routerId: u32(value, 0) }),
  encode({ routerId }) {
    const out = new Uint8Array(4);
    put32(out, 0, field('source router ID', routerId, 32));
    return out;
  },
});

const sourceRouterAddress = (type: number, family: Family): TlvCodec<SourceRouterAddress> => ({
  type,
  name: 'source-router-address',
  decode: (value) =>
    checkLength(value, family === 4 ? 4 : 16, 'source router address') ??
    ok({ kind: 'source-router-address', address: readAddress(value, 0, family) }),
  encode({ address }) {
    if (address.family !== family)
      throw new EncodeError('bad-field', `an IPv${address.family} address in sub-TLV ${type}`);
    return addressBytes(address);
  },
});

/** OSPFv2: numbers of the Extended Prefix TLV's registry. OSPFv3: of the Extended-LSA sub-TLVs. */
export const PREFIX_SUB_TLVS: Readonly<Record<Version, TlvSpace<PrefixSubTlv>>> = {
  2: tlvSpace<Known>([
    sourceRouterId(4),
    sourceRouterAddress(5, 4),
    prefixExtendedFlags(11),
  ] as readonly TlvCodec<Known>[]),
  3: tlvSpace<Known>([
    sourceRouterId(27),
    sourceRouterAddress(28, 6),
    prefixExtendedFlags(37),
  ] as readonly TlvCodec<Known>[]),
};
