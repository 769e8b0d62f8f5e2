// For tests: PDUs as others send them, or an attacker in their name. What is not given is as for a router of
// level 2 without anything odd.
import { prefix } from '../../model/prefix.ts';
import { put16 } from '../bytes.ts';
import { lspChecksum } from './checksum.ts';
import { type LspId, FIRST_LSP_ID, LAST_LSP_ID } from './lsp-id.ts';
import { encodePdu } from './pdu.ts';
import type { IsisTlv, LspEntry, PrefixReachability, PrefixSubTlv } from './tlv/types.ts';
import type { Csnp, Lsp, P2pHello } from './types.ts';

export const fragmentOf = (systemId: Uint8Array, fragment = 0): LspId => ({ systemId, pseudonode: 0, fragment });

/** @param of a system, whose fragment 0 it is; or what it is called */
export const foreignLsp = (of: Uint8Array | LspId, fields: Partial<Lsp> = {}): Uint8Array =>
  encodePdu({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: of instanceof Uint8Array ? fragmentOf(of) : of,
    sequence: 1,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType: 3,
    tlvs: [],
    ...fields,
  });

/** The flag of PNC, where it is until a bit is assigned. */
export const P_FLAG: PrefixSubTlv = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) };

/** An entry of a reachability TLV. */
export const prefixEntry = (
  text: string,
  subTlvs: readonly PrefixSubTlv[] = [],
  fields: Partial<PrefixReachability> = {},
): PrefixReachability => ({ prefix: prefix(text), metric: 1, down: false, external: false, subTlvs, ...fields });

/** TLV 236. */
export const tlv236 = (...prefixes: readonly PrefixReachability[]): IsisTlv => ({
  kind: 'ipv6-reachability',
  prefixes,
});

export const AREA: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
/** Says that this neighbor is heard; `down`: that its state is another. */
export const adjacencyTlv = (neighborSystemId: Uint8Array, state: 'up' | 'down' = 'up'): IsisTlv => ({
  kind: 'three-way-adjacency',
  state,
  circuitId: 1,
  neighborSystemId,
  neighborCircuitId: 1,
});

export const foreignHello = (systemId: Uint8Array, fields: Partial<P2pHello> = {}): Uint8Array =>
  encodePdu({
    kind: 'p2p-hello',
    circuitType: 2,
    systemId,
    holdingTime: 30,
    localCircuitId: 1,
    tlvs: [AREA],
    ...fields,
  });

export const foreignEntry = (systemId: Uint8Array, fields: Partial<LspEntry> = {}): LspEntry => ({
  remainingLifetime: 1200,
  lspId: fragmentOf(systemId),
  sequence: 7,
  checksum: 0x1234,
  ...fields,
});

/** Of the whole database by default. */
export const foreignCsnp = (
  systemId: Uint8Array,
  entries: readonly LspEntry[],
  fields: Partial<Csnp> = {},
): Uint8Array =>
  encodePdu({
    kind: 'csnp',
    level: 2,
    systemId,
    start: FIRST_LSP_ID,
    end: LAST_LSP_ID,
    tlvs: entries.length > 0 ? [{ kind: 'lsp-entries', entries }] : [],
    ...fields,
  });

/** An LSP whose last TLV says that it is longer than the LSP. */
export function overrun(pdu: Uint8Array): Uint8Array {
  const longer = Uint8Array.of(...pdu, 99, 200);
  put16(longer, 8, longer.length);
  put16(longer, 24, lspChecksum(longer));
  return longer;
}

/** With other bytes from this offset on. */
export function patched(pdu: Uint8Array, at: number, ...bytes: number[]): Uint8Array {
  const copy = pdu.slice();
  copy.set(bytes, at);
  return copy;
}
