// TLV 10, Authentication (RFC 5304, RFC 5310): a type and its data. Computing and checking digests is auth.ts.
import { ok } from '../../../model/result.ts';
import { concat } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import type { Authentication } from './types.ts';
import { type TlvCodec } from './codec.ts';

export const AUTHENTICATION_TLV = 10;

export const AUTHENTICATION: TlvCodec<Authentication> = {
  type: AUTHENTICATION_TLV,
  name: 'authentication',
  decode(value) {
    if (value.length === 0) return malformed('bad-length', 0, 'authentication without a type');
    return ok({ kind: 'authentication', authType: value[0]!, value: value.subarray(1) });
  },
  encode: ({ authType, value }) => concat(Uint8Array.of(field('authentication type', authType, 8)), value),
};
