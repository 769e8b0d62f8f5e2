// InfiniBand connection management (vol. 1 §12.6) over Queue Pair 1: REQ, REP, RTU, REJ, DREQ, DREP. From a REQ and its
// REP a middlebox learns both Queue Pairs of a connection and their starting PSNs. MRA, LAP, APR and SIDR are reported
// by number only; fields that are not used here are sent as 0 and ignored.
import { type IpAddress, addressFromBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, copyOf, put16, put24, put32, put64, readAddress, u16, u24, u32, u64 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';

/** Destination and source Queue Pair, and Q_Key, of management datagrams. */
export const CM_QPN = 1;
export const CM_QKEY = 0x80010000;

const MAD_HEADER = 24;
const MAD_LENGTH = 256;
const BODY_LENGTH = MAD_LENGTH - MAD_HEADER;
const CLASS_CM = 0x07;
const METHOD_SEND = 0x03;

interface Ids {
  readonly localCommId: number;
  readonly remoteCommId: number;
}

interface PrivateData {
  /** At most as long as the message's field; shorter data is padded with zeros. */
  readonly privateData: Uint8Array;
}

export interface CmReq extends PrivateData {
  readonly kind: 'req';
  readonly localCommId: number;
  readonly serviceId: bigint;
  /** The Queue Pair of the sender of this message. */
  readonly localQpn: number;
  readonly startingPsn: number;
  /** 0 RC, 1 UC, 3 XRC. */
  readonly transport: number;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly pkey: number;
  /** 1: 256 … 5: 4096 bytes. */
  readonly pathMtu: number;
  readonly retryCount: number;
  readonly rnrRetryCount: number;
  /** Addresses of the data path, normally those of the IP header. */
  readonly localGid: IpAddress;
  readonly remoteGid: IpAddress;
}

export interface CmRep extends Ids, PrivateData {
  readonly kind: 'rep';
  readonly localQpn: number;
  readonly startingPsn: number;
  readonly responderResources: number;
  readonly initiatorDepth: number;
}

interface CmRtu extends Ids, PrivateData {
  readonly kind: 'rtu';
}

interface CmRej extends Ids, PrivateData {
  readonly kind: 'rej';
  /** 0 REQ, 1 REP, 2 none of them. */
  readonly rejected: number;
  readonly reason: number;
}

export interface CmDreq extends Ids, PrivateData {
  readonly kind: 'dreq';
  /** The Queue Pair of the receiver of this message. */
  readonly remoteQpn: number;
}

interface CmDrep extends Ids, PrivateData {
  readonly kind: 'drep';
}

/** A message that nothing here uses. */
export interface CmOther {
  readonly kind: 'other';
  readonly attributeId: number;
}

export type CmMessage = CmReq | CmRep | CmRtu | CmRej | CmDreq | CmDrep;

interface CmMad {
  readonly transactionId: bigint;
  readonly message: CmMessage | CmOther;
}

interface MessageCodec {
  readonly attributeId: number;
  readonly kind: CmMessage['kind'];
  /** Where private data begins in the body; it ends with it. */
  readonly privateAt: number;
  decode(body: Uint8Array): object;
  encode(body: Uint8Array, message: CmMessage): void;
}

const ids = (b: Uint8Array): Ids => ({ localCommId: u32(b, 0), remoteCommId: u32(b, 4) });

function putIds(b: Uint8Array, message: CmMessage): void {
  put32(b, 0, message.localCommId);
  if ('remoteCommId' in message) put32(b, 4, message.remoteCommId);
}

const REQ: MessageCodec = {
  attributeId: 0x10,
  kind: 'req',
  privateAt: 140,
  decode: (b) => ({
    localCommId: u32(b, 0),
    serviceId: u64(b, 8),
    localQpn: u24(b, 32),
    responderResources: b[35]!,
    initiatorDepth: b[39]!,
    transport: (b[43]! >>> 1) & 3,
    startingPsn: u24(b, 44),
    retryCount: b[47]! & 7,
    pkey: u16(b, 48),
    pathMtu: b[50]! >>> 4,
    rnrRetryCount: b[50]! & 7,
    localGid: gidAddress(b, 56),
    remoteGid: gidAddress(b, 72),
  }),
  encode(b, message) {
    const req = message as CmReq;
    put64(b, 8, req.serviceId);
    put24(b, 32, req.localQpn);
    b[35] = req.responderResources;
    b[39] = req.initiatorDepth;
    b[43] = (req.transport & 3) << 1;
    put24(b, 44, req.startingPsn);
    b[47] = req.retryCount & 7;
    put16(b, 48, req.pkey);
    b[50] = ((req.pathMtu & 0xf) << 4) | (req.rnrRetryCount & 7);
    putGid(b, 56, req.localGid);
    putGid(b, 72, req.remoteGid);
  },
};

const REP: MessageCodec = {
  attributeId: 0x13,
  kind: 'rep',
  privateAt: 36,
  decode: (b) => ({
    ...ids(b),
    localQpn: u24(b, 12),
    startingPsn: u24(b, 20),
    responderResources: b[24]!,
    initiatorDepth: b[25]!,
  }),
  encode(b, message) {
    const rep = message as CmRep;
    put24(b, 12, rep.localQpn);
    put24(b, 20, rep.startingPsn);
    b[24] = rep.responderResources;
    b[25] = rep.initiatorDepth;
  },
};

const MESSAGES: readonly MessageCodec[] = [
  REQ,
  REP,
  { attributeId: 0x14, kind: 'rtu', privateAt: 8, decode: ids, encode: () => {} },
  {
    attributeId: 0x12,
    kind: 'rej',
    privateAt: 84,
    decode: (b) => ({ ...ids(b), rejected: b[8]! >>> 6, reason: u16(b, 10) }),
    encode(b, message) {
      b[8] = ((message as CmRej).rejected & 3) << 6;
      put16(b, 10, (message as CmRej).reason);
    },
  },
  {
    attributeId: 0x15,
    kind: 'dreq',
    privateAt: 12,
    decode: (b) => ({ ...ids(b), remoteQpn: u24(b, 8) }),
    encode: (b, message) => put24(b, 8, (message as CmDreq).remoteQpn),
  },
  { attributeId: 0x16, kind: 'drep', privateAt: 8, decode: ids, encode: () => {} },
];

/**
 * The payload of a UD SEND_ONLY to Queue Pair 1. Codes: `truncated`, `bad-mad-version`, `not-cm` (another class),
 * `bad-method`.
 */
export function decodeCmMad(mad: Uint8Array): Decoded<CmMad> {
  if (mad.length < MAD_LENGTH) return malformed('truncated', mad.length, 'a MAD has 256 bytes');
  if (mad[0] !== 1) return malformed('bad-mad-version', 0, `MAD version ${mad[0]}`);
  if (mad[1] !== CLASS_CM) return malformed('not-cm', 1, `management class ${mad[1]}`);
  if (mad[2] !== 2) return malformed('bad-mad-version', 2, `CM class version ${mad[2]}`);
  if (mad[3] !== METHOD_SEND) return malformed('bad-method', 3, `method ${mad[3]}`);
  const attributeId = u16(mad, 16);
  const transactionId = u64(mad, 8);
  const codec = MESSAGES.find((m) => m.attributeId === attributeId);
  if (!codec) return ok({ transactionId, message: { kind: 'other', attributeId } });
  const body = mad.subarray(MAD_HEADER, MAD_LENGTH);
  const message = { kind: codec.kind, ...codec.decode(body), privateData: copyOf(body, codec.privateAt) } as CmMessage;
  return ok({ transactionId, message });
}

/** 256 bytes. @throws EncodeError when the private data is too long */
export function encodeCmMad(transactionId: bigint, message: CmMessage): Uint8Array {
  const codec = MESSAGES.find((m) => m.kind === message.kind)!;
  const head = new Uint8Array(MAD_HEADER);
  head.set([1, CLASS_CM, 2, METHOD_SEND]);
  put64(head, 8, transactionId);
  put16(head, 16, codec.attributeId);
  const body = new Uint8Array(BODY_LENGTH);
  putIds(body, message);
  codec.encode(body, message);
  if (message.privateData.length > BODY_LENGTH - codec.privateAt) {
    throw new EncodeError(
      'private-data-too-long',
      `${message.privateData.length} bytes of private data in a ${message.kind.toUpperCase()}`,
    );
  }
  body.set(message.privateData, codec.privateAt);
  return concat(head, body);
}

/** A GID as an address: ::ffff:a.b.c.d is IPv4 (annex A17 §A17.4.5.1). */
function gidAddress(b: Uint8Array, offset: number): IpAddress {
  const gid = readAddress(b, offset, 6);
  return gid.value >> 32n === 0xffffn ? { family: 4, value: gid.value & 0xffffffffn } : gid;
}

function putGid(b: Uint8Array, offset: number, { family, value }: IpAddress): void {
  const gid = family === 4 ? (0xffffn << 32n) | value : value;
  put64(b, offset, gid >> 64n);
  put64(b, offset + 8, gid & 0xffffffffffffffffn);
}

/** The Linux RDMA connection manager's prefix of a REQ's private data. */
interface RdmaCmHeader {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number;
  /** From the service ID. */
  readonly destinationPort: number;
}

const RDMA_CM_HEADER = 36;
/** Upper bytes of the service ID, then a byte of port space and the port. */
const RDMA_CM_SERVICE = 0x01n;

/** Undefined when the REQ does not come from an RDMA CM. */
export function rdmaCmHeader({ serviceId, privateData }: CmReq): RdmaCmHeader | undefined {
  if (serviceId >> 24n !== RDMA_CM_SERVICE || privateData.length < RDMA_CM_HEADER || privateData[0] !== 0)
    return undefined;
  const version = privateData[1]! >>> 4;
  if (version !== 4 && version !== 6) return undefined;
  const at = (end: number): IpAddress => addressFromBytes(privateData.subarray(end - (version === 4 ? 4 : 16), end));
  return {
    source: at(20),
    destination: at(36),
    sourcePort: u16(privateData, 2),
    destinationPort: Number(serviceId & 0xffffn),
  };
}
