// Problems of IS-IS: it has no neighbor; or a level has a fault: another router has our system ID, LSPs of ours are
// forged, the database is full.
import type { IsisCarrier } from '../carriers/isis/carrier.ts';
import type { Intent, IsisIntent } from '../intent/intent.ts';
import type { IsisTrouble } from '../model/carrier-state.ts';
import type { Problem, ProblemCode } from '../model/problem.ts';
import { suiteNameOf, titleOf } from '../model/router-suite.ts';
import { formatSystemId } from '../packet/isis/lsp-id.ts';
import { ADJACENCY_PATIENCE_MS } from './patience.ts';

/** Routers that a problem names. */
const MOST_NAMES = 3;

const isisProblem = (code: ProblemCode, problem: string, remedy: string): Problem => ({
  code,
  feature: 'isis',
  problem,
  remedy,
});

/** Nothing is advertised, nothing is learned. `startedAt` and `now` are milliseconds since 1970. */
export function adjacencyProblems(
  intent: Intent,
  carrier: Pick<IsisCarrier, 'neighbors' | 'lastUp'> | undefined,
  startedAt: number,
  now: number,
): Problem[] {
  if (!intent.isis || !carrier || carrier.neighbors().some((n) => n.state === 'up')) return [];
  // Not the time in its state: one that is tried again and again is never in one for long.
  if (now - Math.max(startedAt, carrier.lastUp()) < ADJACENCY_PATIENCE_MS) return [];
  const problem =
    `no IS-IS neighbor is up on ${intent.isis.interface}: nothing is advertised, ` +
    'and learned entries are held for a while and then dropped';
  return [isisProblem('isis.no-neighbor', problem, `fix what \`cnpctl doctor\` finds in ${titleOf(intent.router)}`)];
}

/** For each level. */
export function isisProblems(intent: Intent, carrier: { trouble(): IsisTrouble[] } | undefined): Problem[] {
  return carrier?.trouble().flatMap((trouble) => levelProblems(intent, trouble)) ?? [];
}

function levelProblems(
  { isis, router }: Intent,
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
  if (exhausted.length > 0) problems.push(exhaustedProblem(isis?.authentication, level, exhausted, router));
  if (databaseFull) {
    const problem = `the level-${level} database of IS-IS is full: LSPs were refused, or their prefixes are not learned`;
    const remedy = 'find the routers with many or long LSPs in `cnpctl show isis database`';
    problems.push(isisProblem('isis.database-full', problem, remedy));
  }
  return problems;
}

/**
 * Routers between levels whose routing daemon forwards no flags. @param lost by learned/lost-flags.ts
 * @param nameOf the hostname of an originator, where it is known
 */
export function lostFlagProblems(
  { prefixes, originators }: { readonly prefixes: number; readonly originators: readonly string[] },
  nameOf: (originator: string) => string | undefined,
): Problem[] {
  if (prefixes === 0) return [];
  const names = originators.map((originator) => nameOf(originator) ?? originator.replace(/^L[12] /, ''));
  const routers = names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')} and others` : names.join(', ');
  const problem =
    `${prefixes === 1 ? 'a sender prefix comes' : `${prefixes} sender prefixes come`} from another level of IS-IS ` +
    `without the P-flag: their senders are not notified. The routing daemon of ${routers} drops the flag`;
  return [isisProblem('isis.flags-lost', problem, `run cnpd with isis.level 1-2 there as well: at ${routers}`)];
}

/** Known from the file alone. */
export function holoProblems({ router, isis }: Pick<Intent, 'router' | 'isis'>): Problem[] {
  if (suiteNameOf(router) !== 'holo' || !isis) return [];
  const problem =
    'Holo (0.9) stops its IS-IS when its database is read over its northbound: with metrics for signaling in it, ' +
    'state of all of IS-IS must not be asked for';
  const remedy = 'read the database with `cnpctl show isis database`, and keep other clients from reading it of Holo';
  return [isisProblem('isis.holo-database', problem, remedy)];
}

const keyOfLevel = (router: Intent['router'], key: string, level: 1 | 2): string =>
  suiteNameOf(router) === 'frr'
    ? `${key}-password md5 KEY authenticate snp validate in FRR`
    : `the same HMAC-MD5 key of level ${level} in ${titleOf(router)}`;

function exhaustedProblem(
  authentication: IsisIntent['authentication'] | undefined,
  level: 1 | 2,
  exhausted: IsisTrouble['exhausted'],
  router: Intent['router'],
): Problem {
  const key = level === 1 ? 'area' : 'domain';
  const have = authentication?.[key] !== undefined;
  const authenticate =
    `${have ? 'change' : 'set'} isis.authentication.${key} in cnpd.yaml and ` +
    `${keyOfLevel(router, key, level)}, on all routers of the level`;
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
