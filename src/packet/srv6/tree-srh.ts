// The Segment Routing Header of packets to a group (draft RMC §7; decision "Groups"): two segments, the root's
// replication SID and behind it the Proxy Address. Its first TLV, cnpd's own, names the tree; End.MT TLVs follow.
import type { IpAddress } from '../../model/address.ts';
import { put32 } from '../bytes.ts';
import { type EndMtTlv, encodeEndMtTlv } from './end-mt-tlv.ts';
import { type Srh, decodeSrh, encodeSrh } from './srh.ts';
import { type TreeTlv, decodeTreeTlv, encodeTreeTlv } from './tree-tlv.ts';

export const MAX_EPOCH = 0xf_ffff;
/** Offset of the epoch: behind 8 octets, two segments, type and length of the TLV, and its reserved octets. */
const EPOCH_AT = 8 + 2 * 16 + 2 + 2;
const PAD_N = 4;

export interface TreeSrh extends TreeTlv {
  readonly proxyAddress: IpAddress;
  readonly replicationSid: IpAddress;
  /** 1 to 11 receivers each. */
  readonly endMtTlvs: readonly EndMtTlv[];
}

export interface TreeTlvTypes {
  readonly endMtTlv: number;
  readonly treeTlv: number;
}

type Tlv = Srh['tlvs'][number];

/** @throws EncodeError when it exceeds 2,048 bytes, or a value does not fit its field */
export function encodeTreeSrh(tree: TreeSrh, types: TreeTlvTypes): Uint8Array {
  return encodeSrh({
    nextHeader: 0,
    segmentsLeft: 1,
    flags: 0,
    tag: 0,
    segments: [tree.proxyAddress, tree.replicationSid],
    tlvs: [
      { type: types.treeTlv, value: encodeTreeTlv(tree) },
      ...tree.endMtTlvs.flatMap((tlv) => padded({ type: types.endMtTlv, value: encodeEndMtTlv(tlv) })),
    ],
  });
}

/** The tree that a header names in its first TLV; undefined when it is not such a header. */
export function treeOfSrh(srh: Uint8Array, treeTlvType: number): TreeTlv | undefined {
  const decoded = decodeSrh(srh);
  const first = decoded.ok ? decoded.value.tlvs[0] : undefined;
  if (first?.type !== treeTlvType) return undefined;
  const tree = decodeTreeTlv(first.value);
  return tree.ok ? tree.value : undefined;
}

/** The same header of another epoch, 20 bits. `srh`: as from encodeTreeSrh(). */
export function withEpoch(srh: Uint8Array, epoch: number): Uint8Array {
  const changed = srh.slice();
  put32(changed, EPOCH_AT, epoch & MAX_EPOCH);
  return changed;
}

/** An End.MT TLV of an odd number of receivers is followed by padding: each TLV begins at a multiple of 8 octets. */
const padded = (tlv: Tlv): readonly Tlv[] =>
  (2 + tlv.value.length) % 8 === 0 ? [tlv] : [tlv, { type: PAD_N, value: new Uint8Array(2) }];
