// The Segment Routing Header of packets to a group (draft RMC §7; decision "Groups"): two segments, the root's
// replication SID and behind it the Proxy Address. Its first TLV, cnpd's own, names the tree; End.MT TLVs follow.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { EncodeError } from '../encode-error.ts';
import { type Srh, decodeSrh, encodeSrh } from './srh.ts';

/** RMC §7.2: the length octet allows no more. */
export const MAX_RECEIVERS = 11;
export const MAX_EPOCH = 0xf_ffff;
const DIGEST = 8;
/** Value of the tree TLV: reserved (2), epoch (4), members digest, tree digest. */
const TREE = { size: 22, epoch: 2, members: 6, tree: 14 } as const;
/** Offset in the header: behind 8 octets, two segments, and the type and length of the TLV. */
const TREE_TLV_VALUE = 8 + 2 * 16 + 2;
/**
 * Value of an End.MT TLV: reserved (2), edge, number of receivers, reserved (3); per receiver address, QPN, reserved.
 */
const END_MT = { edge: 2, count: 18, receivers: 22, receiver: 20, qpn: 16 } as const;
const PAD_N = 4;
/** Value of an HMAC TLV: D bit and reserved (2), key ID, HMAC (RFC 8754 §2.1.2). */
const HMAC = { type: 5, size: 38, keyId: 2 } as const;
/** SR6_FLAG1_HMAC: Linux looks for an HMAC TLV only with this flag, and only at the end of the header. */
const HMAC_FLAG = 0x08;

export interface TreeName {
  /** 20 bits. */
  readonly epoch: number;
  /** 8 bytes each. */
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
}

export interface TreeSrh extends TreeName {
  readonly proxyAddress: IpAddress;
  readonly replicationSid: IpAddress;
  /** 1 to 11 receivers each. */
  readonly endMtTlvs: readonly {
    readonly edge: IpAddress;
    readonly receivers: readonly { readonly address: IpAddress; readonly qpn: number }[];
  }[];
  /** Absent: no HMAC TLV. Its value is zero: the kernel computes it for each packet. */
  readonly hmacKeyId?: number | undefined;
}

export interface TreeTlvTypes {
  readonly endMtTlv: number;
  readonly treeTlv: number;
}

type Tlv = Srh['tlvs'][number];

/** @throws EncodeError when it exceeds 2,048 bytes, or a value does not fit its field */
export function encodeTreeSrh(tree: TreeSrh, types: TreeTlvTypes): Uint8Array {
  const tlvs = [treeTlv(tree, types.treeTlv), ...tree.endMtTlvs.flatMap((tlv) => endMtTlv(tlv, types.endMtTlv))];
  if (tree.hmacKeyId !== undefined) tlvs.push(hmacTlv(tree.hmacKeyId));
  return encodeSrh({
    nextHeader: 0,
    segmentsLeft: 1,
    flags: tree.hmacKeyId === undefined ? 0 : HMAC_FLAG,
    tag: 0,
    segments: [tree.proxyAddress, tree.replicationSid],
    tlvs,
  });
}

/** The tree that a header names in its first TLV; undefined when it is not such a header. */
export function decodeTreeName(srh: Uint8Array, treeTlvType: number): TreeName | undefined {
  const decoded = decodeSrh(srh);
  const first = decoded.ok ? decoded.value.tlvs[0] : undefined;
  if (first?.type !== treeTlvType || first.value.length !== TREE.size) return undefined;
  const view = new DataView(first.value.buffer, first.value.byteOffset);
  return {
    epoch: view.getUint32(TREE.epoch) & MAX_EPOCH,
    membersDigest: first.value.slice(TREE.members, TREE.members + DIGEST),
    treeDigest: first.value.slice(TREE.tree, TREE.tree + DIGEST),
  };
}

/** The same header of another epoch, 20 bits. `srh`: as from encodeTreeSrh(). */
export function withEpoch(srh: Uint8Array, epoch: number): Uint8Array {
  const changed = srh.slice();
  new DataView(changed.buffer).setUint32(TREE_TLV_VALUE + TREE.epoch, epoch & MAX_EPOCH);
  return changed;
}

function treeTlv({ epoch, membersDigest, treeDigest }: TreeName, type: number): Tlv {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > MAX_EPOCH)
    throw new EncodeError('bad-field', `epoch ${epoch} has more than 20 bits`);
  if (membersDigest.length !== DIGEST || treeDigest.length !== DIGEST)
    throw new EncodeError('bad-field', `digests of ${membersDigest.length} and ${treeDigest.length} bytes`);
  const value = new Uint8Array(TREE.size);
  new DataView(value.buffer).setUint32(TREE.epoch, epoch);
  value.set(membersDigest, TREE.members);
  value.set(treeDigest, TREE.tree);
  return { type, value };
}

/** With the padding that brings it to a multiple of 8 octets. */
function endMtTlv({ edge, receivers }: TreeSrh['endMtTlvs'][number], type: number): readonly Tlv[] {
  if (receivers.length < 1 || receivers.length > MAX_RECEIVERS)
    throw new EncodeError('bad-field', `an End.MT TLV with ${receivers.length} receivers`);
  const value = new Uint8Array(END_MT.receivers + receivers.length * END_MT.receiver);
  value.set(addressBytes(edge), END_MT.edge);
  value[END_MT.count] = receivers.length;
  receivers.forEach(({ address, qpn }, i) => {
    const at = END_MT.receivers + i * END_MT.receiver;
    value.set(addressBytes(address), at);
    value.set([qpn >>> 16, qpn >>> 8, qpn], at + END_MT.qpn);
  });
  const isPadded = receivers.length % 2 === 1;
  return [{ type, value }, ...(isPadded ? [{ type: PAD_N, value: new Uint8Array(2) }] : [])];
}

function hmacTlv(keyId: number): Tlv {
  const value = new Uint8Array(HMAC.size);
  new DataView(value.buffer).setUint32(HMAC.keyId, keyId);
  return { type: HMAC.type, value };
}
