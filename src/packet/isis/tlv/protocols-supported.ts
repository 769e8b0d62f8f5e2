// TLV 129, Protocols Supported (RFC 1195 §5.3.1): one NLPID a byte.
import { field } from '../../field.ts';
import { ok } from '../../../model/result.ts';
import type { ProtocolsSupported } from './types.ts';
import { type TlvCodec } from './codec.ts';

export const NLPID_IPV4 = 0xcc;
export const NLPID_IPV6 = 0x8e;

export const PROTOCOLS_SUPPORTED: TlvCodec<ProtocolsSupported> = {
  type: 129,
  name: 'protocols-supported',
  decode: (value) => ok({ kind: 'protocols-supported', nlpids: [...value] }),
  encode: ({ nlpids }) => Uint8Array.from(nlpids, (nlpid) => field('NLPID', nlpid, 8)),
};
