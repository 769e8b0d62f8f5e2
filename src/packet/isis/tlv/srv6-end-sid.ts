// Sub-TLV 5 of TLV 27, SRv6 End SID (RFC 9352 §7.2): one SID of a locator and what its owner does with packets to it.
// Its SID Structure (§9) is only checked: a wrong one means that the SID is to be ignored.
import { addressBytes } from '../../../model/address.ts';
import { fail, ok } from '../../../model/result.ts';
import { concat, put16, readAddress, u16 } from '../../bytes.ts';
import { type DecodeError, malformed, shifted } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import type { Srv6EndSid } from './types.ts';
import type { SubTlvCodec } from './codec.ts';

/** Flags 1, behavior 2, SID 16, length of the sub-sub-TLVs 1. */
const FIXED = 20;
const SID_STRUCTURE = 1;

export const SRV6_END_SID: SubTlvCodec<Srv6EndSid> = {
  type: 5,
  name: 'srv6-end-sid',
  decode(value) {
    if (value.length < FIXED)
      return malformed('bad-length', 0, `End SID of ${value.length} bytes; at least ${FIXED} are needed`);
    if (FIXED + value[FIXED - 1]! !== value.length)
      return malformed('sub-sub-tlv-overrun', FIXED - 1, 'the sub-sub-TLVs do not fill the End SID');
    const subSubTlvs = value.subarray(FIXED);
    const wrong = checkSubSubTlvs(subSubTlvs);
    if (wrong) return fail(shifted(wrong, FIXED));
    return ok({
      kind: 'srv6-end-sid',
      flags: value[0]!,
      behavior: u16(value, 1),
      sid: readAddress(value, 3, 6),
      subSubTlvs,
    });
  },
  encode({ flags, behavior, sid, subSubTlvs }) {
    if (sid.family !== 6) throw new EncodeError('bad-field', 'a SID is an IPv6 address');
    const head = new Uint8Array(3);
    head[0] = field('flags', flags, 8);
    put16(head, 1, field('endpoint behavior', behavior, 16));
    return concat(
      head,
      addressBytes(sid),
      Uint8Array.of(field('length of the sub-sub-TLVs', subSubTlvs.length, 8)),
      subSubTlvs,
    );
  },
};

/**
 * One SID Structure at most, of four lengths that make no more than 128 bits together (RFC 9352 §9). Undefined when
 * nothing is wrong.
 */
function checkSubSubTlvs(bytes: Uint8Array): DecodeError | undefined {
  let structures = 0;
  for (let at = 0; at < bytes.length;) {
    const end = at + 2 + (bytes[at + 1] ?? 0);
    if (at + 2 > bytes.length || end > bytes.length)
      return { code: 'sub-sub-tlv-overrun', offset: at, detail: 'a sub-sub-TLV exceeds the End SID' };
    if (bytes[at] === SID_STRUCTURE) {
      const bits = bytes.subarray(at + 2, end).reduce((sum, length) => sum + length, 0);
      if (++structures > 1 || end - at !== 6 || bits > 128)
        return {
          code: 'bad-sid-structure',
          offset: at,
          detail: 'a second SID Structure, one that is not 4 bytes, or more than 128 bits',
        };
    }
    at = end;
  }
  return undefined;
}
