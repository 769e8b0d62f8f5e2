// The five packets of OSPF: bytes ↔ values (RFC 2328 §A.3; RFC 5340 §A.3). A malformed packet is rejected with an
// error. In an update, an LSA with a wrong checksum is skipped and recorded (RFC 2328 §13 step 1). Authentication is in
// auth-v2.ts and auth-v3.ts: verify first, then decode.
import { ok } from '../../model/result.ts';
import { concat, copyOf, put16, put24, put32, u16, u24, u32 } from '../bytes.ts';
import { type DecodeError, type Decoded, malformed, shifted } from '../decode.ts';
import { field } from '../field.ts';
import { decodeLsa } from './lsa.ts';
import { LSA_HEADER_LENGTH, putLsaId, readLsaHeader, writeLsaHeader } from './lsa-header.ts';
import type { Version } from './numbers.ts';
import {
  AUTHENTICATION_TYPE,
  HEADER_LENGTH,
  type PacketAddresses,
  type PacketHeader,
  packetChecksum,
  readPacketHeader,
  setChecksum,
  writePacketHeader,
} from './packet-header.ts';
import type {
  DatabaseDescription,
  Hello,
  LinkStateRequest,
  LinkStateUpdate,
  Lsa,
  LsaHeader,
  OspfPacket,
} from './types.ts';

/** The fields that decodePacket adds to the packet's own. */
interface Received {
  /** The packet without trailers, a copy. */
  readonly raw: Uint8Array;
  /** LSAs of an update with a wrong checksum. Offsets count from the start of the packet. */
  readonly badLsas: readonly DecodeError[];
}

export type ReceivedPacket = OspfPacket & Received;

export interface DecodeOptions {
  /** A trailer replaces the checksum. OSPFv3's header does not show that, so the interface's configuration decides. */
  readonly authenticated?: boolean;
}

const HELLO_FIXED = 20;
const DD_FIXED: Readonly<Record<Version, number>> = { 2: 8, 3: 12 };
const REQUEST_LENGTH = 12;
/** Flags of a Database Description. */
const INITIALIZE = 0x04;
const MORE = 0x02;
const MASTER = 0x01;

/** Decodes the packet at the start of `bytes` (an IP payload). `bytes` is copied. */
export function decodePacket(
  version: Version,
  bytes: Uint8Array,
  addresses: PacketAddresses,
  options: DecodeOptions = {},
): Decoded<ReceivedPacket> {
  const header = readPacketHeader(version, bytes);
  if (!header.ok) return header;
  const { kind, length, checksum, authenticationType, routerId, areaId, instanceId } = header.value;
  const raw = copyOf(bytes, 0, length);
  const covered = !options.authenticated && authenticationType !== AUTHENTICATION_TYPE.cryptographic;
  if (covered && packetChecksum(version, raw, addresses) !== 0)
    return malformed('bad-checksum', 12, `checksum 0x${checksum.toString(16)} is wrong`);
  const badLsas: DecodeError[] = [];
  const body = BODY_DECODERS[kind](version, raw, HEADER_LENGTH[version], badLsas);
  return body.ok ? ok({ ...body.value, routerId, areaId, instanceId, raw, badLsas }) : body;
}

type Body<P> = P extends OspfPacket ? Omit<P, 'routerId' | 'areaId' | 'instanceId'> : never;
type BodyDecoder = (version: Version, raw: Uint8Array, at: number, badLsas: DecodeError[]) => Decoded<Body<OspfPacket>>;

const BODY_DECODERS: Readonly<Record<PacketHeader['kind'], BodyDecoder>> = {
  hello: decodeHello,
  'database-description': decodeDatabaseDescription,
  'link-state-request': decodeRequest,
  'link-state-update': decodeUpdate,
  'link-state-acknowledgment'(version, raw, at) {
    const headers = decodeHeaders(version, raw, at);
    return headers.ok ? ok({ kind: 'link-state-acknowledgment', headers: headers.value }) : headers;
  },
};

function decodeHello(version: Version, raw: Uint8Array, at: number): Decoded<Body<Hello>> {
  const neighborsAt = at + HELLO_FIXED;
  if (raw.length < neighborsAt) return malformed('truncated', raw.length, 'shorter than the fixed part of a hello');
  if ((raw.length - neighborsAt) % 4 !== 0)
    return malformed('bad-body-length', neighborsAt, `${raw.length - neighborsAt} bytes are not whole router IDs`);
  const neighbors = Array.from({ length: (raw.length - neighborsAt) / 4 }, (_, i) => u32(raw, neighborsAt + i * 4));
  const versioned =
    version === 2
      ? {
          networkMask: u32(raw, at),
          interfaceId: 0,
          helloInterval: u16(raw, at + 4),
          options: raw[at + 6]!,
          priority: raw[at + 7]!,
          deadInterval: u32(raw, at + 8),
        }
      : {
          networkMask: 0,
          interfaceId: u32(raw, at),
          priority: raw[at + 4]!,
          options: u24(raw, at + 5),
          helloInterval: u16(raw, at + 8),
          deadInterval: u16(raw, at + 10),
        };
  return ok({
    kind: 'hello',
    ...versioned,
    designatedRouter: u32(raw, at + 12),
    backupDesignatedRouter: u32(raw, at + 16),
    neighbors,
  });
}

function decodeDatabaseDescription(version: Version, raw: Uint8Array, at: number): Decoded<Body<DatabaseDescription>> {
  const headersAt = at + DD_FIXED[version];
  if (raw.length < headersAt)
    return malformed('truncated', raw.length, 'shorter than the fixed part of a Database Description');
  const headers = decodeHeaders(version, raw, headersAt);
  if (!headers.ok) return headers;
  const flags = raw[headersAt - 5]!;
  return ok({
    kind: 'database-description',
    mtu: u16(raw, version === 2 ? at : at + 4),
    options: version === 2 ? raw[at + 2]! : u24(raw, at + 1),
    initialize: (flags & INITIALIZE) !== 0,
    more: (flags & MORE) !== 0,
    master: (flags & MASTER) !== 0,
    sequence: u32(raw, headersAt - 4),
    headers: headers.value,
  });
}

function decodeHeaders(version: Version, raw: Uint8Array, start: number): Decoded<LsaHeader[]> {
  const size = raw.length - start;
  if (size % LSA_HEADER_LENGTH !== 0)
    return malformed('bad-body-length', start, `${size} bytes are not whole LSA headers`);
  return ok(
    Array.from({ length: size / LSA_HEADER_LENGTH }, (_, i) =>
      readLsaHeader(version, raw, start + i * LSA_HEADER_LENGTH),
    ),
  );
}

/** The type takes four bytes in OSPFv2, the last two of them in OSPFv3 (RFC 5340 §A.3.4). */
function decodeRequest(version: Version, raw: Uint8Array, start: number): Decoded<Body<LinkStateRequest>> {
  const size = raw.length - start;
  if (size % REQUEST_LENGTH !== 0) return malformed('bad-body-length', start, `${size} bytes are not whole requests`);
  const requests = Array.from({ length: size / REQUEST_LENGTH }, (_, i) => {
    const at = start + i * REQUEST_LENGTH;
    return {
      type: version === 2 ? u32(raw, at) : u16(raw, at + 2),
      lsId: u32(raw, at + 4),
      advertisingRouter: u32(raw, at + 8),
    };
  });
  return ok({ kind: 'link-state-request', requests });
}

function decodeUpdate(
  version: Version,
  raw: Uint8Array,
  start: number,
  badLsas: DecodeError[],
): Decoded<Body<LinkStateUpdate>> {
  if (start + 4 > raw.length) return malformed('truncated', raw.length, 'shorter than the fixed part of an update');
  const lsas: Lsa[] = [];
  let at = start + 4;
  for (let left = u32(raw, start); left > 0; left--) {
    const length = at + LSA_HEADER_LENGTH > raw.length ? 0 : u16(raw, at + 18);
    if (length < LSA_HEADER_LENGTH || at + length > raw.length)
      return malformed('lsa-overrun', at, 'an LSA exceeds the update');
    const lsa = decodeLsa(version, raw.subarray(at, at + length));
    if (lsa.ok) lsas.push(lsa.value);
    else badLsas.push(shifted(lsa.error, at));
    at += length;
  }
  return at === raw.length
    ? ok({ kind: 'link-state-update', lsas })
    : malformed('trailing-bytes', at, `${raw.length - at} bytes after the last LSA`);
}

/** Encodes a packet and computes its length and checksum. @throws EncodeError if a field does not fit */
export function encodePacket(version: Version, packet: OspfPacket, addresses: PacketAddresses): Uint8Array {
  const out = concat(new Uint8Array(HEADER_LENGTH[version]), encodeBody(version, packet));
  writePacketHeader(version, out, packet);
  setChecksum(version, out, addresses);
  return out;
}

function encodeBody(version: Version, packet: OspfPacket): Uint8Array {
  switch (packet.kind) {
    case 'hello':
      return encodeHello(version, packet);
    case 'database-description':
      return encodeDatabaseDescription(version, packet);
    case 'link-state-request':
      return encodeRequest(version, packet);
    case 'link-state-update': {
      const count = new Uint8Array(4);
      put32(count, 0, packet.lsas.length);
      return concat(count, ...packet.lsas.map(({ raw }) => raw));
    }
    case 'link-state-acknowledgment':
      return encodeHeaders(version, packet.headers);
  }
}

function encodeHello(version: Version, hello: Hello): Uint8Array {
  const out = new Uint8Array(HELLO_FIXED + 4 * hello.neighbors.length);
  if (version === 2) {
    put32(out, 0, field('network mask', hello.networkMask, 32));
    put16(out, 4, field('hello interval', hello.helloInterval, 16));
    out[6] = field('options', hello.options, 8);
    out[7] = field('priority', hello.priority, 8);
    put32(out, 8, field('dead interval', hello.deadInterval, 32));
  } else {
    put32(out, 0, field('interface ID', hello.interfaceId, 32));
    out[4] = field('priority', hello.priority, 8);
    put24(out, 5, field('options', hello.options, 24));
    put16(out, 8, field('hello interval', hello.helloInterval, 16));
    put16(out, 10, field('dead interval', hello.deadInterval, 16));
  }
  put32(out, 12, field('designated router', hello.designatedRouter, 32));
  put32(out, 16, field('backup designated router', hello.backupDesignatedRouter, 32));
  hello.neighbors.forEach((id, i) => put32(out, HELLO_FIXED + i * 4, field('neighbor', id, 32)));
  return out;
}

function encodeDatabaseDescription(version: Version, dd: DatabaseDescription): Uint8Array {
  const fixed = DD_FIXED[version];
  const head = new Uint8Array(fixed);
  put16(head, version === 2 ? 0 : 4, field('MTU', dd.mtu, 16));
  if (version === 2) head[2] = field('options', dd.options, 8);
  else put24(head, 1, field('options', dd.options, 24));
  head[fixed - 5] = (dd.initialize ? INITIALIZE : 0) | (dd.more ? MORE : 0) | (dd.master ? MASTER : 0);
  put32(head, fixed - 4, field('sequence number', dd.sequence, 32));
  return concat(head, encodeHeaders(version, dd.headers));
}

function encodeHeaders(version: Version, headers: readonly LsaHeader[]): Uint8Array {
  const out = new Uint8Array(headers.length * LSA_HEADER_LENGTH);
  headers.forEach((header, i) => writeLsaHeader(version, out, i * LSA_HEADER_LENGTH, header));
  return out;
}

function encodeRequest(version: Version, { requests }: LinkStateRequest): Uint8Array {
  const out = new Uint8Array(requests.length * REQUEST_LENGTH);
  requests.forEach((key, i) => {
    const at = i * REQUEST_LENGTH;
    if (version === 2) put32(out, at, field('LS type', key.type, 32));
    else put16(out, at + 2, field('LS type', key.type, 16));
    putLsaId(out, at + 4, key);
  });
  return out;
}
