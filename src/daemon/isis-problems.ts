// What goes wrong in a level of IS-IS though its neighbor is there: somebody has our system ID, LSPs of ours are
// forged, the database is full.
import type { Intent, IsisIntent } from '../intent/intent.ts';
import type { IsisTrouble } from '../model/carrier-state.ts';
import { formatSystemId } from '../packet/isis/lsp-id.ts';
import type { Problem } from '../plan/desired.ts';

/** Of every level. */
export function isisProblems(intent: Intent, carrier: { trouble(): IsisTrouble[] } | undefined): Problem[] {
  return carrier?.trouble().flatMap((trouble) => levelProblems(intent, trouble)) ?? [];
}

function levelProblems(
  { isis }: Intent,
  { level, databaseFull, systemIdContested, exhausted }: IsisTrouble,
): Problem[] {
  const feature = 'isis';
  const problems: Problem[] = [];
  if (systemIdContested) {
    const system = isis ? ` ${formatSystemId(isis.systemId)}` : '';
    const problem =
      `another router in level ${level} has the system ID${system}: ` + 'each undoes what the other advertises';
    problems.push({
      feature,
      problem,
      remedy:
        'give one of the two another isis.system-id in cnpd.yaml, and `cnpctl reload`; ' +
        'if no other router has it, somebody forges our LSPs: authenticate the level',
    });
  }
  if (exhausted.length > 0) problems.push(exhaustedProblem(isis?.authentication, level, exhausted));
  if (databaseFull) {
    const problem =
      `the level-${level} database of IS-IS is full: LSPs were refused, ` + 'or their prefixes are not learned';
    problems.push({ feature, problem, remedy: 'see in `cnpctl show isis database` whose LSPs are so many or so long' });
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
    `${have ? 'change' : 'set'} isis.authentication.${key} in cnpd.yaml and ${key}-password md5 KEY authenticate ` +
    'snp validate in FRR, on all routers of the level';
  const forged = `somebody issued LSPs of this router in level ${level} with the highest sequence number`;
  const zero = exhausted.find(({ fragment }) => fragment === 0);
  if (zero) {
    const problem =
      `${forged}, its fragment 0 too: it cannot be reached in IS-IS until ${zero.until}; ` +
      'what others have learned they hold for hold-unreachable';
    return {
      feature: 'isis',
      problem,
      remedy: `${authenticate}; to be heard at once, set another isis.system-id, and \`cnpctl reload\``,
    };
  }
  const [first] = exhausted;
  const which = exhausted.length === 1 ? `fragment ${first!.fragment} is` : `${exhausted.length} fragments are`;
  return {
    feature: 'isis',
    problem: `${forged}: ${which} out of use until ${exhausted.at(-1)!.until}, and their prefixes are in others`,
    remedy: authenticate,
  };
}
