// `cnpd --configure` beside Holo: gives it what the preconditions miss and cnpd may give, as one change. Holo takes all
// of a change or nothing of it, so there is nothing to take back. It judges what it is to merge as a whole
// configuration, so the change goes there with what it has already. It has no startup configuration to write: what
// loads Holo's configuration when it starts has to have these leaves too.
import { ConfigureError, type ConfigureDependencies, type ConfigureOptions } from '../model/router-suite.ts';
import type { HoloCheck } from './check.ts';
import { HoloError, type HoloNorthbound } from './northbound.ts';
import { type Tree, leavesOf, merged, withoutSecrets } from './tree.ts';

interface ConfigureOutcome {
  /** Empty when nothing was changed. */
  readonly applied: Tree;
  readonly remaining: readonly HoloCheck[];
}

/** @param examine what Holo lacks now @throws ConfigureError */
export async function configureHolo(
  examine: () => Promise<readonly HoloCheck[]>,
  { save, dryRun }: ConfigureOptions,
  northbound: Pick<HoloNorthbound, 'config' | 'validate' | 'commit'>,
  { say }: Pick<ConfigureDependencies, 'say'>,
): Promise<ConfigureOutcome> {
  const before = await examine();
  const deaf = before.find(({ code }) => code === 'daemon-silent');
  if (deaf) throw new ConfigureError('unreachable', `${deaf.problem}; ${UNCHANGED}. To fix it: ${deaf.remedy}`);
  const change = before.reduce<Tree>((all, check) => merged(all, check.change ?? {}), {});
  const leaves = leavesOf(change);
  if (leaves.length === 0) say('Holo has everything that cnpd can give it; nothing to do');
  for (const leaf of leaves) say(leaf);
  const validated = async (): Promise<Tree> => {
    const whole = merged(await northbound.config(false), change);
    await northbound.validate(whole);
    return whole;
  };
  const whole = leaves.length === 0 ? undefined : await attempt(change, validated, UNCHANGED);
  if (dryRun) return { applied: {}, remaining: notOk(before) };
  if (whole) await attempt(change, () => northbound.commit(whole), 'it may be changed or not: configure it again');
  const after = leaves.length === 0 ? before : await examine();
  const stubborn = after.find(
    (check) => check.change !== undefined && before.some((old) => old.id === check.id && old.change !== undefined),
  );
  if (stubborn) throw new ConfigureError('refused', `Holo reported no error, but ${stubborn.problem} still`);
  if (save)
    throw new ConfigureError('save', 'Holo has no startup configuration: add these leaves to what configures it');
  return { applied: change, remaining: notOk(after) };
}

const notOk = (checks: readonly HoloCheck[]): HoloCheck[] => checks.filter(({ state }) => state !== 'ok');

const UNCHANGED = 'nothing was changed';

/** @param unanswered what is known of Holo's configuration when it does not answer */
async function attempt<T>(change: Tree, run: () => Promise<T>, unanswered: string): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof HoloError)) throw error;
    const leaves = leavesOf(change);
    const what = leaves.length === 1 ? leaves[0]! : `these ${leaves.length} leaves`;
    const why = withoutSecrets(error.message, change);
    throw error.code === 'refused'
      ? new ConfigureError('refused', `Holo refuses ${what}: ${why}; ${UNCHANGED}`)
      : new ConfigureError('unreachable', `no answer of Holo about ${what}: ${why}; ${unanswered}`);
  }
}
