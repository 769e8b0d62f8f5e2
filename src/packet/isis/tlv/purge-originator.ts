// TLV 13, Purge Originator Identification (RFC 6232 §3): which system purged, and which neighbor it had the LSP from.
import { ok } from '../../../model/result.ts';
import { concat } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { exactly } from '../../field.ts';
import { SYSTEM_ID_LENGTH } from '../lsp-id.ts';
import type { PurgeOriginator } from './types.ts';
import { type TlvCodec } from './codec.ts';

export const PURGE_ORIGINATOR: TlvCodec<PurgeOriginator> = {
  type: 13,
  name: 'purge-originator',
  decode(value) {
    const count = value[0];
    if (count !== 1 && count !== 2) return malformed('bad-count', 0, `${count ?? 'no'} system IDs; 1 or 2 are allowed`);
    if (value.length !== 1 + count * SYSTEM_ID_LENGTH)
      return malformed('bad-length', 0, `${value.length} bytes for ${count} system IDs`);
    const originator = value.subarray(1, 7);
    return ok(
      count === 1
        ? { kind: 'purge-originator', originator }
        : { kind: 'purge-originator', originator, receivedFrom: value.subarray(7, 13) },
    );
  },
  encode({ originator, receivedFrom }) {
    const ids = [exactly('system ID', originator, SYSTEM_ID_LENGTH)];
    if (receivedFrom) ids.push(exactly('system ID', receivedFrom, SYSTEM_ID_LENGTH));
    return concat(Uint8Array.of(ids.length), ...ids);
  },
};
