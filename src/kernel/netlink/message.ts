// Netlink messages as bytes (RFC 3549 §2; include/uapi/linux/netlink.h): header, attributes, acknowledgments with the
// kernel's extended text. Pure. Host byte order, which is little-endian here, unless a field is documented otherwise.
// The kernel's messages are still checked: a length that does not fit is reported and ends the walk.

export const NLM_F = {
  REQUEST: 0x1,
  MULTI: 0x2,
  ACK: 0x4,
  DUMP_INTR: 0x10,
  DUMP: 0x300,
  CAPPED: 0x100,
  ACK_TLVS: 0x200,
  REPLACE: 0x100,
  EXCL: 0x200,
  CREATE: 0x400,
} as const;
export const NLMSG = { NOOP: 1, ERROR: 2, DONE: 3, OVERRUN: 4 } as const;
const NLA_F_NESTED = 0x8000;
const NLA_TYPE_MASK = 0x3fff;
/** Attributes of an acknowledgement: enum nlmsgerr_attrs. */
const ERROR_ATTRIBUTE = { MESSAGE: 1, OFFSET: 2, MISSING_TYPE: 5 } as const;
const HEADER = 16;
const align = (length: number): number => (length + 3) & ~3;

export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** Bytes after the header. */
  readonly body: Uint8Array;
}

export type Attributes = ReadonlyMap<number, Uint8Array>;

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A structure of `size` bytes, zero but for what `fill` writes. */
export function struct(size: number, fill: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  fill(viewOf(bytes));
  return bytes;
}

export const u32 = (value: number): Uint8Array => struct(4, (view) => view.setUint32(0, value, true));
export const u64 = (value: bigint): Uint8Array => struct(8, (view) => view.setBigUint64(0, value, true));
/** NUL-terminated. */
export const text = (value: string): Uint8Array => new TextEncoder().encode(`${value}\0`);

/** One attribute, padded to four bytes. */
export function attribute(type: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(align(4 + value.length));
  const view = viewOf(bytes);
  view.setUint16(0, 4 + value.length, true);
  view.setUint16(2, type, true);
  bytes.set(value, 4);
  return bytes;
}

export const nested = (type: number, ...children: readonly Uint8Array[]): Uint8Array =>
  attribute(type | NLA_F_NESTED, concat(children));

export function encodeMessage(message: NetlinkMessage): Uint8Array {
  const bytes = new Uint8Array(HEADER + message.body.length);
  const view = viewOf(bytes);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, message.type, true);
  view.setUint16(6, message.flags, true);
  view.setUint32(8, message.sequence, true);
  bytes.set(message.body, HEADER);
  return bytes;
}

/**
 * The messages in one datagram. `complete` is false when a length field does not fit the datagram; the messages before
 * it are returned.
 */
export function decodeMessages(bytes: Uint8Array): { messages: NetlinkMessage[]; complete: boolean } {
  const messages: NetlinkMessage[] = [];
  const view = viewOf(bytes);
  let offset = 0;
  while (offset + HEADER <= bytes.length) {
    const length = view.getUint32(offset, true);
    if (length < HEADER || length > bytes.length - offset) return { messages, complete: false };
    messages.push({
      type: view.getUint16(offset + 4, true),
      flags: view.getUint16(offset + 6, true),
      sequence: view.getUint32(offset + 8, true),
      body: bytes.subarray(offset + HEADER, offset + length),
    });
    offset += align(length);
  }
  return { messages, complete: offset >= bytes.length };
}

/** The attributes from `offset` on; the last one of a repeated type. Stops at a length that does not fit. */
export function decodeAttributes(bytes: Uint8Array, offset = 0): Attributes {
  const attributes = new Map<number, Uint8Array>();
  const view = viewOf(bytes);
  while (offset + 4 <= bytes.length) {
    const length = view.getUint16(offset, true);
    if (length < 4 || length > bytes.length - offset) break;
    attributes.set(view.getUint16(offset + 2, true) & NLA_TYPE_MASK, bytes.subarray(offset + 4, offset + length));
    offset += align(length);
  }
  return attributes;
}

export const readU32 = (value: Uint8Array | undefined): number | undefined =>
  value && value.length >= 4 ? viewOf(value).getUint32(0, true) : undefined;
export const readU64 = (value: Uint8Array | undefined): bigint | undefined =>
  value && value.length >= 8 ? viewOf(value).getBigUint64(0, true) : undefined;
export function readText(value: Uint8Array | undefined): string | undefined {
  if (!value) return undefined;
  const end = value.indexOf(0);
  return new TextDecoder().decode(end < 0 ? value : value.subarray(0, end));
}

export interface Acknowledgement {
  /** Positive errno, 0 for success. */
  readonly errno: number;
  /** The kernel's text, e.g. `Device does not exist`. */
  readonly detail: string | undefined;
}

/** NLMSG_ERROR: errno, the request's header (and its body unless CAPPED), attributes if ACK_TLVS. */
export function decodeAcknowledgement(message: NetlinkMessage): Acknowledgement {
  const view = viewOf(message.body);
  if (message.body.length < 4) return { errno: 0, detail: 'the kernel sent an acknowledgement without a result' };
  const errno = 0 - view.getInt32(0, true);
  if ((message.flags & NLM_F.ACK_TLVS) === 0 || message.body.length < 4 + HEADER) return { errno, detail: undefined };
  const request = (message.flags & NLM_F.CAPPED) !== 0 ? HEADER : align(view.getUint32(4, true));
  return { errno, detail: extendedText(decodeAttributes(message.body, 4 + request)) };
}

/** NLMSG_DONE, the end of a dump: errno, then attributes if ACK_TLVS. */
export function decodeDone(message: NetlinkMessage): Acknowledgement {
  if (message.body.length < 4) return { errno: 0, detail: undefined };
  const errno = 0 - viewOf(message.body).getInt32(0, true);
  return {
    errno,
    detail: (message.flags & NLM_F.ACK_TLVS) !== 0 ? extendedText(decodeAttributes(message.body, 4)) : undefined,
  };
}

function extendedText(attributes: Attributes): string | undefined {
  const words = readText(attributes.get(ERROR_ATTRIBUTE.MESSAGE));
  const missing = readU32(attributes.get(ERROR_ATTRIBUTE.MISSING_TYPE));
  const offset = readU32(attributes.get(ERROR_ATTRIBUTE.OFFSET));
  const place =
    missing !== undefined
      ? `attribute ${missing} is missing`
      : offset !== undefined
        ? `at byte ${offset} of the request`
        : undefined;
  if (words === undefined) return place;
  return place === undefined ? words : `${words} (${place})`;
}
