// IS-IS PDUs: bytes ↔ values (ISO/IEC 10589 §9). A bad PDU is rejected with an error; a bad TLV is recorded in
// `badTlvs` and skipped. LAN hellos are recognized but not decoded; authentication is in auth.ts; the TLVs of an LSP
// are parsed at their first use.
import { ok } from '../../model/result.ts';
import { concat, copyOf, put16, put32, u16, u32 } from '../bytes.ts';
import { type DecodeError, type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { exactly, field } from '../field.ts';
import { lspChecksum, lspChecksumValid } from './checksum.ts';
import { PDU_BY_TYPE, type PduFormat, pduFormat } from './pdu-format.ts';
import { SYSTEM_ID_LENGTH, lspIdBytes, readLspId } from './lsp-id.ts';
import { checkTlvStructure, decodeTlvs, encodeTlvs } from './tlvs.ts';
import type { IsisTlv } from './tlv/types.ts';
import type { BadTlv, CircuitType, Csnp, IsisPdu, LanHello, Level, Lsp, P2pHello, Psnp, ReceivedPdu } from './types.ts';

const DISCRIMINATOR = 0x83;
/** LSP flags, byte 26. */
const PARTITION_REPAIR = 0x80;
/** Four metrics can be attached; FRR and cnpd set the default metric's. */
const ATTACHED_MASK = 0x78;
const ATTACHED_DEFAULT = 0x08;
const OVERLOAD = 0x04;

/**
 * Decodes the PDU that `bytes` begins with (after LLC); what follows PDU Length is Ethernet padding and cut. `bytes` is
 * copied.
 */
export function decodePdu(bytes: Uint8Array): Decoded<ReceivedPdu> {
  const format = checkHeader(bytes);
  if (!format.ok) return format;
  const { kind, headerLength, lengthOffset } = format.value;
  const pduLength = u16(bytes, lengthOffset);
  if (pduLength < headerLength)
    return malformed('bad-pdu-length', lengthOffset, `PDU length ${pduLength} is shorter than the header`);
  if (pduLength > bytes.length)
    return malformed('truncated', lengthOffset, `PDU length ${pduLength}, but ${bytes.length} bytes arrived`);
  const raw = copyOf(bytes, 0, pduLength);
  const overrun = checkTlvStructure(raw, headerLength);
  if (overrun && kind !== 'lsp') return overrun;
  return DECODERS[kind](raw, format.value);
}

function checkHeader(bytes: Uint8Array): Decoded<PduFormat> {
  if (bytes.length < 8) return malformed('truncated', bytes.length, 'shorter than the common header');
  if (bytes[0] !== DISCRIMINATOR) return malformed('not-isis', 0, `protocol discriminator 0x${bytes[0]!.toString(16)}`);
  if (bytes[2] !== 1 || bytes[5] !== 1) return malformed('bad-version', bytes[2] !== 1 ? 2 : 5, 'version is not 1');
  if (bytes[3] !== 0 && bytes[3] !== SYSTEM_ID_LENGTH)
    return malformed('bad-id-length', 3, `ID length ${bytes[3]}; only 6 is supported`);
  const format = PDU_BY_TYPE.get(bytes[4]! & 0x1f);
  if (!format) return malformed('unknown-pdu-type', 4, `PDU type ${bytes[4]! & 0x1f}`);
  if (bytes[7] !== 0 && bytes[7] !== 3)
    return malformed('bad-max-areas', 7, `maximum area addresses ${bytes[7]}; only 3 is supported`);
  if (bytes[1] !== format.headerLength)
    return malformed('bad-header-length', 1, `length indicator ${bytes[1]}, not ${format.headerLength}`);
  if (bytes.length < format.headerLength)
    return malformed('truncated', bytes.length, `shorter than the header of a ${format.kind}`);
  return ok(format);
}

type Decoder = (raw: Uint8Array, format: PduFormat) => Decoded<ReceivedPdu>;

const DECODERS: Readonly<Record<IsisPdu['kind'], Decoder>> = {
  'p2p-hello': (raw) =>
    hello(raw, (common) => ({ kind: 'p2p-hello', ...common, localCircuitId: raw[19]!, raw, ...decodeTlvs(raw, 20) })),
  'lan-hello': (raw, { level }) =>
    hello(raw, (common) => ({ kind: 'lan-hello', level: level!, ...common, raw, badTlvs: [] })),
  lsp: decodeLsp,
  csnp: (raw, { level }) =>
    ok({
      kind: 'csnp',
      level: level!,
      systemId: raw.subarray(10, 16),
      start: readLspId(raw, 17),
      end: readLspId(raw, 25),
      raw,
      ...decodeTlvs(raw, 33),
    }),
  psnp: (raw, { level }) =>
    ok({ kind: 'psnp', level: level!, systemId: raw.subarray(10, 16), raw, ...decodeTlvs(raw, 17) }),
};

interface HelloCommon {
  readonly circuitType: CircuitType;
  readonly systemId: Uint8Array;
  readonly holdingTime: number;
}

function hello(raw: Uint8Array, rest: (common: HelloCommon) => ReceivedPdu): Decoded<ReceivedPdu> {
  const circuitType = raw[8]! & 3;
  if (circuitType === 0) return malformed('bad-circuit-type', 8, 'circuit type 0 is reserved');
  const holdingTime = u16(raw, 15);
  if (holdingTime === 0) return malformed('bad-holding-time', 15, 'holding time 0');
  return ok(rest({ circuitType: circuitType as CircuitType, systemId: raw.subarray(9, 15), holdingTime }));
}

function decodeLsp(raw: Uint8Array, format: PduFormat): Decoded<ReceivedPdu> {
  const remainingLifetime = u16(raw, 10);
  const checksum = u16(raw, 24);
  // A purge may be only the header of the purged LSP: its checksum means nothing (ISO/IEC 10589 §7.3.16.4).
  if (remainingLifetime > 0 && checksum !== 0 && !lspChecksumValid(raw))
    return malformed('bad-checksum', 24, `checksum 0x${checksum.toString(16)} is wrong`);
  const flags = raw[26]!;
  const unusable = unusableContent(raw, format);
  let parsed: { tlvs: IsisTlv[]; badTlvs: BadTlv[] } | undefined;
  const parse = (): { tlvs: IsisTlv[]; badTlvs: BadTlv[] } =>
    (parsed ??= unusable ? { tlvs: [], badTlvs: [] } : decodeTlvs(raw, format.headerLength));
  return ok({
    kind: 'lsp',
    level: format.level as Level,
    remainingLifetime,
    lspId: readLspId(raw, 12),
    sequence: u32(raw, 20),
    checksum,
    partitionRepair: (flags & PARTITION_REPAIR) !== 0,
    attached: (flags & ATTACHED_MASK) !== 0,
    overload: (flags & OVERLOAD) !== 0,
    isType: flags & 3,
    ...(unusable && { unusable }),
    raw,
    get tlvs() {
      return parse().tlvs;
    },
    get badTlvs() {
      return parse().badTlvs;
    },
  });
}

/**
 * An LSP that must be stored, acknowledged and flooded like any other (ISO/IEC 10589 §7.3.15), but whose content means
 * nothing.
 */
function unusableContent(raw: Uint8Array, { headerLength }: PduFormat): DecodeError | undefined {
  const bad = (code: string, offset: number, detail: string): DecodeError => ({ code, offset, detail });
  if (u32(raw, 20) === 0) return bad('zero-sequence', 20, 'sequence number 0 is not of an LSP');
  // isisd takes it for one whose checksum was not computed, and floods it.
  if (u16(raw, 10) > 0 && u16(raw, 24) === 0)
    return bad('zero-checksum', 24, 'checksum 0 in an LSP that is alive (RFC 3719 §7)');
  const overrun = checkTlvStructure(raw, headerLength);
  return overrun && !overrun.ok ? overrun.error : undefined;
}

/**
 * Encodes; the checksum of an LSP is computed, whatever `checksum` says.
 * @throws EncodeError when a field does not fit its place
 */
export function encodePdu(pdu: Exclude<IsisPdu, LanHello>): Uint8Array {
  const format = pduFormat(pdu.kind, 'level' in pdu ? pdu.level : undefined);
  const head = new Uint8Array(format.headerLength);
  head.set([DISCRIMINATOR, format.headerLength, 1, 0, format.type, 1, 0, 0]);
  encodeFixed(head, pdu);
  const out = concat(head, encodeTlvs(pdu.tlvs));
  if (out.length > 0xffff) throw new EncodeError('pdu-too-long', `a PDU of ${out.length} bytes`);
  put16(out, format.lengthOffset, out.length);
  if (pdu.kind === 'lsp') put16(out, 24, lspChecksum(out));
  return out;
}

function encodeFixed(head: Uint8Array, pdu: P2pHello | Lsp | Csnp | Psnp): void {
  switch (pdu.kind) {
    case 'p2p-hello':
      head[8] = pdu.circuitType;
      head.set(exactly('system ID', pdu.systemId, SYSTEM_ID_LENGTH), 9);
      put16(head, 15, field('holding time', pdu.holdingTime, 16));
      head[19] = field('local circuit ID', pdu.localCircuitId, 8);
      return;
    case 'lsp':
      put16(head, 10, field('remaining lifetime', pdu.remainingLifetime, 16));
      head.set(lspIdBytes(pdu.lspId), 12);
      put32(head, 20, field('sequence', pdu.sequence, 32));
      head[26] = field('IS type', pdu.isType, 2);
      head[26] |=
        (pdu.partitionRepair ? PARTITION_REPAIR : 0) |
        (pdu.attached ? ATTACHED_DEFAULT : 0) |
        (pdu.overload ? OVERLOAD : 0);
      return;
    case 'csnp':
      head.set(exactly('system ID', pdu.systemId, SYSTEM_ID_LENGTH), 10);
      head.set(lspIdBytes(pdu.start), 17);
      head.set(lspIdBytes(pdu.end), 25);
      return;
    case 'psnp':
      head.set(exactly('system ID', pdu.systemId, SYSTEM_ID_LENGTH), 10);
  }
}
