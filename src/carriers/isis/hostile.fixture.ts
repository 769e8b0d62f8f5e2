// For tests: two speakers in adjacency, A and B, and PDUs to be given to A as if B had sent them.
import { FIRST_LSP_ID, LAST_LSP_ID } from '../../packet/isis/lsp-id.ts';
import { encodePdu } from '../../packet/isis/pdu.ts';
import type { IsisTlv, Lsp, LspEntry, P2pHello } from '../../packet/isis/types.ts';
import { Agent, Simulation, type Wire, originate, systemId, testConfig } from './simulation.fixture.ts';
import type { SpeakerConfig } from './state.ts';

export const A = '0000.0000.000a';
export const B = '0000.0000.000b';
export const C = '0000.0000.000c';

export interface Scene {
  simulation: Simulation;
  a: Agent;
  b: Agent;
  wire: Wire;
  /** Hands a PDU to A and lets 10 ms pass. */
  give(pdu: Uint8Array): void;
}

export function adjacency(overrides: Partial<SpeakerConfig> = {}): Scene {
  const simulation = new Simulation();
  const a = new Agent(simulation, testConfig(A, overrides));
  const b = new Agent(simulation, testConfig(B, { seed: 2, ...overrides }));
  const wire = simulation.wire(a.attach, b.attach);
  a.event(originate([]));
  b.event(originate([]));
  simulation.run(2000);
  const give = (pdu: Uint8Array): void => {
    a.deliver(pdu);
    simulation.run(10);
  };
  return { simulation, a, b, wire, give };
}

/** As if this system had been reachable until now: what it says counts for the hold time. */
export function reachedOnce({ speaker }: Agent, system = C): void {
  speaker.levels.get(2)!.graph.lostAt.set(system, speaker.now);
}

export function lsp(fields: Partial<Lsp> = {}, system = C): Uint8Array {
  return encodePdu({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: { systemId: systemId(system), pseudonode: 0, fragment: 0 },
    sequence: 7,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType: 3,
    tlvs: [],
    ...fields,
  });
}

export function hello(fields: Partial<P2pHello> = {}, tlvs?: IsisTlv[]): Uint8Array {
  const threeWay: IsisTlv = {
    kind: 'three-way-adjacency',
    state: 'up',
    circuitId: 1,
    neighborSystemId: systemId(A),
    neighborCircuitId: 1,
  };
  const area: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
  return encodePdu({
    kind: 'p2p-hello',
    circuitType: 2,
    systemId: systemId(B),
    holdingTime: 30,
    localCircuitId: 1,
    tlvs: tlvs ?? [area, threeWay],
    ...fields,
  });
}

export const entry = (fields: Partial<LspEntry> = {}): LspEntry => ({
  remainingLifetime: 1200,
  lspId: { systemId: systemId(C), pseudonode: 0, fragment: 0 },
  sequence: 7,
  checksum: 0x1234,
  ...fields,
});

export function csnp(fields: object = {}, entries: LspEntry[] = []): Uint8Array {
  const tlvs: IsisTlv[] = entries.length > 0 ? [{ kind: 'lsp-entries', entries }] : [];
  return encodePdu({
    kind: 'csnp',
    level: 2,
    systemId: systemId(B),
    start: FIRST_LSP_ID,
    end: LAST_LSP_ID,
    tlvs,
    ...fields,
  });
}

export function psnp(entries: LspEntry[]): Uint8Array {
  const tlvs = Array.from({ length: Math.ceil(entries.length / 15) }, (_, i): IsisTlv => ({
    kind: 'lsp-entries',
    entries: entries.slice(15 * i, 15 * i + 15),
  }));
  return encodePdu({ kind: 'psnp', level: 2, systemId: systemId(B), tlvs });
}

export function patched(pdu: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = pdu.slice();
  copy.set(values, at);
  return copy;
}
