// What does not work as declared, and what to do about it: gathered when somebody asks, from whoever knows. Nothing here is state.
import type { IsisCarrier } from '../carriers/isis/carrier.ts';
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../plan/desired.ts';

/** How long an adjacency may be missing before it is a problem: FRR's hello interval and its start, with room. Milliseconds. */
const ADJACENCY_PATIENCE_MS = 30_000;

/** IS-IS runs and nobody hears it: nothing is advertised, nothing is learned. `startedAt` and `now` are milliseconds since 1970. */
export function adjacencyProblems(intent: Intent, carrier: Pick<IsisCarrier, 'neighbors'> | undefined, startedAt: number, now: number): Problem[] {
  const neighbors = carrier?.neighbors() ?? [];
  if (!intent.isis || !carrier || neighbors.some((n) => n.state === 'up')) return [];
  const since = Math.max(startedAt, ...neighbors.map((n) => Date.parse(n.since)));
  if (now - since < ADJACENCY_PATIENCE_MS) return [];
  const problem = `no IS-IS neighbour is up on ${intent.isis.interface}: nothing is advertised, and what was learned is held for a while and then dropped`;
  return [{ feature: 'isis', problem, remedy: '`cnpctl doctor` asks FRR and names the line that mends it' }];
}

/** Prefixes that are declared and not advertised. */
export function placementProblems(unplaced: number): Problem[] {
  if (unplaced === 0) return [];
  const problem = `${unplaced} sender prefixes are not advertised: IS-IS has room for about 10,000 in the 255 fragments of one system`;
  return [{ feature: 'isis', problem, remedy: 'declare fewer, shorter prefixes' }];
}

/** The file and the intent in force differ. */
export const reloadProblems = (file: string, refused: boolean): Problem[] =>
  refused ? [{ feature: 'intent', problem: 'the last reload was refused; the intent before it is in force', remedy: `\`cnpd check ${file}\` shows the errors` }] : [];
