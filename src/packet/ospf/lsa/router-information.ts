// Router Information LSA (RFC 7770): OSPFv2 opaque type 4, OSPFv3 function 12, with the same TLVs.
import { ok } from '../../../model/result.ts';
import { concat, put16, u16 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { type TlvCodec, tlvSpace } from '../tlv.ts';
import { tlvBody } from './codec.ts';
import type {
  Hostname,
  InformationalCapabilities,
  RouterInformationLsa,
  RouterInformationTlv,
  Srv6Capabilities,
  UnknownTlv,
} from './types.ts';

type Known = Exclude<RouterInformationTlv, UnknownTlv>;

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const SRV6_FIXED = 4;

const INFORMATIONAL: TlvCodec<InformationalCapabilities> = {
  type: 1,
  name: 'informational-capabilities',
  decode: (value) =>
    value.length > 0 && value.length % 4 === 0
      ? ok({ kind: 'informational-capabilities', flags: value })
      : malformed('bad-length', 0, `capabilities of ${value.length} bytes, not whole words`),
  encode({ flags }) {
    if (flags.length === 0 || flags.length % 4 !== 0)
      throw new EncodeError('bad-field', `capabilities of ${flags.length} bytes, not whole words`);
    return flags;
  },
};

const HOSTNAME: TlvCodec<Hostname> = {
  type: 7,
  name: 'hostname',
  decode(value) {
    const name = String.fromCharCode(...value.subarray(0, 256));
    return PRINTABLE.test(name)
      ? ok({ kind: 'hostname', name })
      : malformed('bad-hostname', 0, 'not 1 to 255 printable ASCII characters');
  },
  encode({ name }) {
    if (!PRINTABLE.test(name)) throw new EncodeError('bad-field', 'a hostname is 1 to 255 printable ASCII characters');
    return new TextEncoder().encode(name);
  },
};

const SRV6_CAPABILITIES: TlvCodec<Srv6Capabilities> = {
  type: 20,
  name: 'srv6-capabilities',
  decode: (value) =>
    value.length < SRV6_FIXED
      ? malformed('truncated', value.length, 'shorter than the fixed part of SRv6 Capabilities')
      : ok({ kind: 'srv6-capabilities', flags: u16(value, 0), subTlvs: value.subarray(SRV6_FIXED) }),
  encode({ flags, subTlvs }) {
    const head = new Uint8Array(SRV6_FIXED);
    put16(head, 0, field('flags', flags, 16));
    return concat(head, subTlvs);
  },
};

const TLVS = tlvSpace<Known>([INFORMATIONAL, HOSTNAME, SRV6_CAPABILITIES] as readonly TlvCodec<Known>[]);

export const ROUTER_INFORMATION = tlvBody<Known, RouterInformationLsa>('router-information', TLVS);
