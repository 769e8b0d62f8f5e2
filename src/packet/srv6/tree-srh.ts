// The Segment Routing Header of packets to a group (draft RMC §7; decision "Groups"): two segments, the root's
// replication SID and the Proxy Address behind it. Its first TLV, cnpd's own, names the tree; End.MT TLVs follow.
import type { IpAddress } from '../../model/address.ts';
import { addressBytes } from '../../model/address.ts';
import { concat, put16 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import { type Srh, decodeSrh, encodeSrh } from './srh.ts';

/** RMC §7.2: the length octet allows no more. */
export const MAX_RECEIVERS = 11;
const DIGEST = 8;
const TREE_TLV_VALUE = 22;
/** In the value: reserved, epoch, members digest, tree digest. */
const AT = { epoch: 2, members: 6, tree: 14 } as const;
export const MAX_EPOCH = 0xf_ffff;
const PAD_N = 4;
const HMAC = { type: 5, value: 38, keyId: 2, flag: 0x08 } as const;

export interface TreeName {
  /** 20 bits. */
  readonly epoch: number;
  /** 8 bytes each. */
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
}

export interface EndMtTlv {
  readonly edge: IpAddress;
  /** 1 to 11; `qpn` 24 bits. */
  readonly receivers: readonly { readonly address: IpAddress; readonly qpn: number }[];
}

export interface TreeSrh extends TreeName {
  readonly proxyAddress: IpAddress;
  readonly replicationSid: IpAddress;
  readonly endMtTlvs: readonly EndMtTlv[];
  /** Absent: no HMAC TLV. The value of the TLV is zero: the kernel computes it for each packet. */
  readonly hmacKeyId?: number | undefined;
}

export interface TreeTlvTypes {
  readonly endMtTlv: number;
  readonly treeTlv: number;
}

/** Value: reserved (2), epoch (4), members digest (8), tree digest (8). @throws EncodeError */
function treeTlv({ epoch, membersDigest, treeDigest }: TreeName): Uint8Array {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > MAX_EPOCH)
    throw new EncodeError('bad-field', `epoch ${epoch} is not of 20 bits`);
  if (membersDigest.length !== DIGEST || treeDigest.length !== DIGEST)
    throw new EncodeError('bad-field', `digests of ${membersDigest.length} and ${treeDigest.length} bytes`);
  const value = new Uint8Array(TREE_TLV_VALUE);
  new DataView(value.buffer).setUint32(AT.epoch, epoch);
  value.set(membersDigest, AT.members);
  value.set(treeDigest, AT.tree);
  return value;
}

/** RMC §7.2: flags (1), number (1), reserved (4), edge (16), then per receiver address (16), reserved (1), QPN (3). */
