// cnpd's own TLV of the Segment Routing Header: which tree a packet follows. It is the first TLV, right behind the
// segment list. Here is the value, behind type and length.
import { ok } from '../../model/result.ts';
import { copyOf, put32, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { exactly, field } from '../field.ts';

/** Reserved (2), epoch (4), members digest (8), tree digest (8). */
const LENGTH = 22;
const [EPOCH_AT, MEMBERS_AT, TREE_AT] = [2, 6, 14];
const DIGEST = 8;
const EPOCH_BITS = 20;

export interface TreeTlv {
  /** 20 bits: the root counts its trees. */
  readonly epoch: number;
  /** 8 octets each (src/groups/digests.ts). */
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
}

/** The value. @throws EncodeError `bad-field` */
export function encodeTreeTlv({ epoch, membersDigest, treeDigest }: TreeTlv): Uint8Array {
  const value = new Uint8Array(LENGTH);
  put32(value, EPOCH_AT, field('epoch', epoch, EPOCH_BITS));
  value.set(exactly('members digest', membersDigest, DIGEST), MEMBERS_AT);
  value.set(exactly('tree digest', treeDigest, DIGEST), TREE_AT);
  return value;
}

/** Reserved bits are ignored. Code: `bad-length`. */
export function decodeTreeTlv(value: Uint8Array): Decoded<TreeTlv> {
  if (value.length !== LENGTH) return malformed('bad-length', 0, `a tree TLV of ${value.length} bytes, not ${LENGTH}`);
  return ok({
    epoch: u32(value, EPOCH_AT) & (2 ** EPOCH_BITS - 1),
    membersDigest: copyOf(value, MEMBERS_AT, TREE_AT),
    treeDigest: copyOf(value, TREE_AT, LENGTH),
  });
}
