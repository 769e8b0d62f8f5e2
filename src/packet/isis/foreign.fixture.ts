// For tests: PDUs as others send them, or somebody in their name. Of what is not said they are those of a router of
// level 2 without anything odd.
import { FIRST_LSP_ID, LAST_LSP_ID } from './lsp-id.ts';
import { encodePdu } from './pdu.ts';
import type { Csnp, IsisTlv, Lsp, LspEntry, LspId, P2pHello } from './types.ts';

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

export const AREA: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
/** Says that this neighbour is heard; `down`: that its state is another. */
export const hears = (neighborSystemId: Uint8Array, state: 'up' | 'down' = 'up'): IsisTlv => ({
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

/** Of the whole database, unless said otherwise. */
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

/** With other bytes from this offset on. */
export function patched(pdu: Uint8Array, at: number, ...bytes: number[]): Uint8Array {
  const copy = pdu.slice();
  copy.set(bytes, at);
  return copy;
}
