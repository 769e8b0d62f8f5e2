// For tests: two adjacent speakers, A and B, and PDUs given to A as if B had sent them.
import {
  AREA,
  foreignCsnp,
  foreignEntry,
  foreignHello,
  foreignLsp,
  adjacencyTlv,
} from '../../packet/isis/foreign.fixture.ts';
import { encodePdu } from '../../packet/isis/pdu.ts';
import type { IsisTlv, LspEntry } from '../../packet/isis/tlv/types.ts';
import type { Lsp, P2pHello } from '../../packet/isis/types.ts';
import { Agent, Simulation, type Wire, originate, systemId, testConfig } from './simulation.fixture.ts';
import type { SpeakerConfig } from './state.ts';

export { patched } from '../../packet/isis/foreign.fixture.ts';

export const A = '0000.0000.000a';
export const B = '0000.0000.000b';
export const C = '0000.0000.000c';

export interface Scene {
  simulation: Simulation;
  a: Agent;
  b: Agent;
  wire: Wire;
  /** Gives a PDU to A and lets 10 ms pass. */
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

/** Makes this system appear reachable until now: its advertisements remain valid for the hold time. */
export function reachedOnce({ speaker }: Agent, system = C): void {
  speaker.levels.get(2)!.graph.lostAt.set(system, speaker.now);
}

export const lsp = (fields: Partial<Lsp> = {}, system = C): Uint8Array =>
  foreignLsp(systemId(system), { sequence: 7, ...fields });

export const hello = (fields: Partial<P2pHello> = {}, tlvs?: IsisTlv[]): Uint8Array =>
  foreignHello(systemId(B), { tlvs: tlvs ?? [AREA, adjacencyTlv(systemId(A))], ...fields });

export const entry = (fields: Partial<LspEntry> = {}): LspEntry => foreignEntry(systemId(C), fields);

export const csnp = (fields: object = {}, entries: LspEntry[] = []): Uint8Array =>
  foreignCsnp(systemId(B), entries, fields);

export function psnp(entries: LspEntry[]): Uint8Array {
  const tlvs = Array.from({ length: Math.ceil(entries.length / 15) }, (_, i): IsisTlv => ({
    kind: 'lsp-entries',
    entries: entries.slice(15 * i, 15 * i + 15),
  }));
  return encodePdu({ kind: 'psnp', level: 2, systemId: systemId(B), tlvs });
}
