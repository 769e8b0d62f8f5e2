// The TLV table, and the one place where TLVs are taken apart and put together. Unknown types, and known ones whose
// value is malformed, keep their bytes: what we do not understand is still flooded and re-encoded unchanged (ISO/IEC
// 10589 §9.3).
import { ok } from '../../model/result.ts';
import { concat } from '../bytes.ts';
import { type Decoded, malformed, shifted } from '../decode.ts';
import { field } from '../field.ts';
import {
  IPV4_INTERFACE_ADDRESSES,
  IPV4_TE_ROUTER_ID,
  IPV6_INTERFACE_ADDRESSES,
  IPV6_TE_ROUTER_ID,
} from './tlv/addresses.ts';
import { AREA_ADDRESSES } from './tlv/area-addresses.ts';
import { AUTHENTICATION } from './tlv/authentication.ts';
import { type SubTlvReport, type TlvCodec, tlvBytes } from './tlv/codec.ts';
import { GENINFO } from './tlv/geninfo.ts';
import { HOSTNAME } from './tlv/hostname.ts';
import {
  IPV4_REACHABILITY,
  IPV6_REACHABILITY,
  MT_IPV4_REACHABILITY,
  MT_IPV6_REACHABILITY,
} from './tlv/ip-reachability.ts';
import { EXTENDED_IS_REACHABILITY, MT_IS_REACHABILITY } from './tlv/is-reachability.ts';
import { LSP_ENTRIES } from './tlv/lsp-entries.ts';
import { MULTI_TOPOLOGY } from './tlv/multi-topology.ts';
import { PADDING } from './tlv/padding.ts';
import { PROTOCOLS_SUPPORTED } from './tlv/protocols-supported.ts';
import { PURGE_ORIGINATOR } from './tlv/purge-originator.ts';
import { ROUTER_CAPABILITY } from './tlv/router-capability.ts';
import { SRV6_LOCATOR } from './tlv/srv6-locator.ts';
import { THREE_WAY_ADJACENCY } from './tlv/three-way-adjacency.ts';
import type { IsisTlv } from './tlv/types.ts';
import type { BadTlv } from './types.ts';

export const TLV_CODECS: readonly TlvCodec[] = [
  AREA_ADDRESSES,
  PADDING,
  LSP_ENTRIES,
  AUTHENTICATION,
  PURGE_ORIGINATOR,
  EXTENDED_IS_REACHABILITY,
  SRV6_LOCATOR,
  PROTOCOLS_SUPPORTED,
  IPV4_INTERFACE_ADDRESSES,
  IPV4_TE_ROUTER_ID,
  IPV4_REACHABILITY,
  HOSTNAME,
  IPV6_TE_ROUTER_ID,
  MT_IS_REACHABILITY,
  MULTI_TOPOLOGY,
  IPV6_INTERFACE_ADDRESSES,
  MT_IPV4_REACHABILITY,
  IPV6_REACHABILITY,
  MT_IPV6_REACHABILITY,
  THREE_WAY_ADJACENCY,
  ROUTER_CAPABILITY,
  GENINFO,
];
const BY_TYPE = new Map(TLV_CODECS.map((codec) => [codec.type, codec]));
const BY_NAME = new Map(TLV_CODECS.map((codec) => [codec.name, codec]));

/**
 * Checks only that the TLVs from `start` fill `bytes` exactly; one that exceeds it makes the PDU bad. Undefined when
 * they do.
 */
export function checkTlvStructure(bytes: Uint8Array, start: number): ReturnType<typeof malformed> | undefined {
  let at = start;
  while (at < bytes.length) {
    const next = at + 2 + (bytes[at + 1] ?? 0);
    if (at + 2 > bytes.length || next > bytes.length)
      return malformed('tlv-overrun', at, `TLV ${bytes[at]} exceeds the PDU`);
    at = next;
  }
  return undefined;
}

/** TLVs of a PDU that passed checkTlvStructure. Values are views of `bytes`. */
export function decodeTlvs(bytes: Uint8Array, start: number): { tlvs: IsisTlv[]; badTlvs: BadTlv[] } {
  const tlvs: IsisTlv[] = [];
  const badTlvs: BadTlv[] = [];
  for (let at = start; at < bytes.length; at += 2 + bytes[at + 1]!) {
    const type = bytes[at]!;
    const valueAt = at + 2;
    const value = bytes.subarray(valueAt, valueAt + bytes[at + 1]!);
    const decoded = BY_TYPE.get(type)?.decode(value, (subType, error) =>
      badTlvs.push({ type, subType, error: shifted(error, valueAt) }),
    );
    if (decoded && !decoded.ok) badTlvs.push({ type, error: shifted(decoded.error, valueAt) });
    tlvs.push(decoded?.ok ? decoded.value : { kind: 'unknown', type, value });
  }
  return { tlvs, badTlvs };
}

/** One TLV out of context. `report` is called with malformed sub-TLVs, offsets counted from the start of the value. */
export function decodeTlv(type: number, value: Uint8Array, report: SubTlvReport = () => {}): Decoded<IsisTlv> {
  return BY_TYPE.get(type)?.decode(value, report) ?? ok({ kind: 'unknown', type, value });
}

/** Type, length, value. @throws EncodeError */
export function encodeTlv(tlv: IsisTlv): Uint8Array {
  if (tlv.kind === 'unknown') return tlvBytes(field('TLV type', tlv.type, 8), tlv.value);
  const codec = BY_NAME.get(tlv.kind)!;
  return tlvBytes(codec.type, codec.encode(tlv));
}

/** @throws EncodeError */
export const encodeTlvs = (tlvs: readonly IsisTlv[]): Uint8Array => concat(...tlvs.map(encodeTlv));
