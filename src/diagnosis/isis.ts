// Problems of IS-IS: it has no neighbor; or a level has a fault: another router has our system ID, LSPs of ours are
// forged, the database is full.
import type { Intent, IsisIntent } from '../intent/intent.ts';
import type { IsisNeighborState, IsisTrouble } from '../model/carrier-state.ts';
import type { Problem, ProblemCode } from '../model/problem.ts';
import { formatSystemId } from '../packet/isis/lsp-id.ts';
import { ADJACENCY_PATIENCE_MS } from './patience.ts';

const isisProblem = (code: ProblemCode, problem: string, remedy: string): Problem => ({
  code,
  feature: 'isis',
  problem,
  remedy,
});

/** Nothing is advertised, nothing is learned. `startedAt` and `now` are milliseconds since 1970. */
export function adjacencyProblems(
  intent: Intent,
  carrier: { neighbors(): IsisNeighborState[] } | undefined,
  startedAt: number,
  now: number,
): Problem[] {
  const neighbors = carrier?.neighbors() ?? [];
  if (!intent.isis || !carrier || neighbors.some((n) => n.state === 'up')) return [];
  const since = Math.max(startedAt, ...neighbors.map((n) => Date.parse(n.since)));
  if (now - since < ADJACENCY_PATIENCE_MS) return [];
  const problem =
    `no IS-IS neighbor is up on ${intent.isis.interface}: nothing is advertised, ` +
    'and learned entries are held for a while and then dropped';
  return [isisProblem('isis.no-neighbor', problem, 'fix what `cnpctl doctor` finds in FRR')];
}

/** For each level. */
export function isisProblems(intent: Intent, carrier: { trouble(): IsisTrouble[] } | undefined): Problem[] {
  return carrier?.trouble().flatMap((trouble) => levelProblems(intent, trouble)) ?? [];
}

function levelProblems(
  { isis }: Intent,
  { level, databaseFull, systemIdContested, exhausted }: IsisTrouble,
): Problem[] {
  const problems: Problem[] = [];
  if (systemIdContested) {
    const system = isis ? ` ${formatSystemId(isis.systemId)}` : '';
    const problem = `another router in level ${level} has the system ID${system}: each undoes the other's advertisements`;
    const remedy =
      'give one of the two another isis.system-id in cnpd.yaml, and `cnpctl reload`; ' +
      'if no other router has it, LSPs of this router are forged: authenticate the level';
    problems.push(isisProblem('isis.system-id-contested', problem, remedy));
  }
  if (exhausted.length > 0) problems.push(exhaustedProblem(isis?.authentication, level, exhausted));
  if (databaseFull) {
    const problem = `the level-${level} database of IS-IS is full: LSPs were refused, or their prefixes are not learned`;
    const remedy = 'find the routers with many or long LSPs in `cnpctl show isis database`';
    problems.push(isisProblem('isis.database-full', problem, remedy));
  }
  return problems;
}

function exhaustedProblem(
  authentication: IsisIntent['authentication'] | undefined,
  level: 1 | 2,
  exhausted: IsisTrouble['exhausted'],
): Problem {
  const key = level === 1 ? 'area' : 'domain';
  const have = authentication?.[key] !== undefined;
  const authenticate =
    `${have ? 'change' : 'set'} isis.authentication.${key} in cnpd.yaml and ${key}-password md5 KEY ` +
    'authenticate snp validate in FRR, on all routers of the level';
  const forged = `LSPs of this router with the highest sequence number, which it did not issue, were in level ${level}`;
  const zero = exhausted.find(({ fragment }) => fragment === 0);
  if (zero) {
    const problem =
      `${forged}, its fragment 0 too: it is unreachable in IS-IS until ${zero.until}; ` +
      'other routers hold what they learned for hold-unreachable';
    const remedy = `${authenticate}; to recover at once, set another isis.system-id, and \`cnpctl reload\``;
    return isisProblem('isis.fragment-zero-exhausted', problem, remedy);
  }
  const [first] = exhausted;
  const which = exhausted.length === 1 ? `fragment ${first!.fragment} is` : `${exhausted.length} fragments are`;
  const problem = `${forged}: ${which} out of use until ${exhausted.at(-1)!.until}, and their prefixes have moved to others`;
  return isisProblem('isis.fragments-exhausted', problem, authenticate);
}
