// Puts another configuration in force while cnpd runs, in all parts that follow it, and reports what that has changed.
import { diffIntent } from '../intent/diff.ts';
import type { Intent } from '../intent/intent.ts';
import { type Changes, type ConfigOutcome, MOST_PROBLEMS } from '../model/config-change.ts';
import type { StatusState } from '../model/state.ts';
import { type Work, finish } from '../model/work.ts';
import { type Outcome, changesBetween } from '../state/changes.ts';
import type { Carriers } from './carriers.ts';
import type { Coordinator } from '../coordinator/coordinator.ts';
import type { GroupMembers } from './group-members.ts';
import type { Logging } from './logging.ts';
import type { NorthboundPart } from './northbound-part.ts';
import { putInForce } from './put-in-force.ts';
import type { Receivers } from './receivers.ts';
import type { Telemetry } from './telemetry.ts';
import { noteGobgp } from './uninstall-gobgp.ts';

export interface Followers {
  readonly runDir: string;
  readonly file: { readonly intent: Intent };
  readonly members: GroupMembers;
  readonly coordinator: Coordinator;
  readonly carriers: Carriers;
  readonly northbound: NorthboundPart;
  readonly telemetry: () => Telemetry;
  readonly receivers: () => Receivers | undefined;
  readonly logging: Logging;
  readonly work: Work;
}

/** For the comparison of two plans, in one turn of the event loop. */
const BUDGET_MS = 4;

/**
 * Must run within the coordinator's inTurn.
 * @param before the intent of the file that was in force
 * @throws when the kernel cannot be read, or a carrier fails; everything has been tried
 */
export async function followConfig(before: Intent, followers: Followers): Promise<ConfigOutcome> {
  const { runDir, file, members, coordinator, carriers, northbound, telemetry, receivers, logging } = followers;
  const { intent: declared } = file;
  const { intent } = members;
  const former = outcomeOf(coordinator);
  logging.levels.follow(intent.logLevel);
  receivers()?.configure(intent);
  northbound.reload(declared);
  await northbound.serve(declared);
  await telemetry().follow(declared);
  const waiting = [...northbound.problems(declared), ...members.problems()];
  if (intent.bgp) noteGobgp(runDir, intent.bgp);
  await putInForce(intent, { coordinator, carriers });
  const now = outcomeOf(coordinator);
  const planes = former && now && (await finish(followers.work, changesBetween(former, now), BUDGET_MS));
  return {
    ok: true,
    errors: waiting.map(({ problem, remedy }) => `${problem}: ${remedy}`),
    changed: diffIntent(before, declared),
    ...(planes && { planes }),
    ...healthIn(await telemetry().state.status()),
  };
}

const outcomeOf = ({ desired, origination }: Coordinator): Outcome | undefined => desired && { desired, origination };

const healthIn = ({ health, problems }: StatusState) => ({
  health,
  problems: problems.slice(0, MOST_PROBLEMS).map(({ feature, problem }) => `${feature}: ${problem}`),
});

/** What the second file would change in place of the first. Must run within the coordinator's inTurn. */
export async function compareConfigs(
  before: Intent,
  after: Intent,
  { coordinator, members, work }: Pick<Followers, 'coordinator' | 'members' | 'work'>,
): Promise<Changes> {
  const former = await coordinator.preview(members.intentWith(before));
  const next = await coordinator.preview(members.intentWith(after));
  return finish(work, changesBetween(former, next), BUDGET_MS);
}
