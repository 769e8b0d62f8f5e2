// Changes of the configuration while cnpd runs: reload, apply, and gNMI Set. One after another, each as a whole. One
// that waits for its confirmation is taken back by cnpd itself when its time is over, whoever asked for it. Until then
// the file stays as it is, so a restart comes up with what was in force before.
import type { Intent } from '../intent/intent.ts';
import { editedText } from '../intent/edit.ts';
import { diffIntent } from '../intent/diff.ts';
import type { Clock } from '../model/clock.ts';
import type {
  ChangeTerms,
  Changes,
  ConfigActions,
  ConfigOutcome,
  ConfigPlan,
  RollBackReason,
  SectionChange,
  ShownConfig,
} from '../model/config-change.ts';
import type { ConfigurationState } from '../model/configuration-state.ts';
import { messageOf } from '../model/error-text.ts';
import type { ChangeRefusal } from '../model/group-change.ts';
import { type Result, fail, ok } from '../model/result.ts';
import type { Work } from '../model/work.ts';
import { fileRefusal } from './config-file-rules.ts';
import { ConfigKeeping, type KeepingDependencies } from './config-keeping.ts';
import { ConfigShown } from './config-shown.ts';
import { type Config, readConfig, withoutPlace } from './intent-file.ts';
import { Paced } from './paced.ts';
import { WaitingRoom } from './waiting-room.ts';

export interface ConfigChangesDependencies extends KeepingDependencies {
  /** Runs tasks one after another; plans are such tasks too. */
  readonly inTurn: <T>(run: () => Promise<T>) => Promise<T>;
  /** Puts what the file has in force into the plan and the carriers. */
  readonly follow: (before: Intent) => Promise<ConfigOutcome>;
  /** What the second would change in place of the first. */
  readonly compare: (before: Intent, after: Intent) => Promise<Changes>;
  /** Tells the service manager. */
  readonly reloading: (run: () => Promise<ConfigOutcome>) => Promise<ConfigOutcome>;
  readonly isStopping: () => boolean;
  readonly clock: Clock;
  readonly work: Work;
  /** Of the day. */
  readonly now: () => Date;
}

/** A configuration that waits for its confirmation. */
interface Trial extends ChangeTerms {
  readonly config: Config;
  readonly former: Config;
  confirmBy: Date;
  cancelTimer: () => void;
}

type Answer<T> = Result<T, ChangeRefusal>;

/** Requests that wait for their turn. Whoever may read may plan, and must not keep others from confirming. */
const MOST_CHANGES = 64;
const MOST_PLANS = 8;

const conflict = (error: string): Answer<never> => fail({ code: 'conflict', errors: [error] });
const STOPPING: ChangeRefusal = { code: 'stopping', errors: ['cnpd is stopping'] };

export class ConfigChanges implements ConfigActions {
  readonly #dependencies: ConfigChangesDependencies;
  #trial: Trial | undefined;
  readonly #waitingChanges = new WaitingRoom('changes', MOST_CHANGES);
  readonly #waitingPlans = new WaitingRoom('plans', MOST_PLANS);
  /** The reload that waits for its turn. */
  #reloadWaits: Promise<ConfigOutcome> | undefined;
  readonly #keeping: ConfigKeeping;
  readonly #shown: ConfigShown;
  readonly #plans: Paced;

  constructor(dependencies: ConfigChangesDependencies) {
    this.#dependencies = dependencies;
    this.#keeping = new ConfigKeeping(dependencies);
    this.#shown = new ConfigShown(dependencies.work);
    this.#plans = new Paced(dependencies.clock, dependencies.work);
  }

  stop(): void {
    this.#trial?.cancelTimer();
  }

  /** Requests share a reload that has not begun yet: it reads the file after all of them. */
  reload(): Promise<ConfigOutcome> {
    const { inTurn, reloading } = this.#dependencies;
    this.#reloadWaits ??= inTurn(() => {
      this.#reloadWaits = undefined;
      return reloading(() => this.#reload());
    });
    return this.#reloadWaits;
  }

  async #reload(): Promise<ConfigOutcome> {
    const { file, follow, isStopping, count, log } = this.#dependencies;
    const refused = (errors: readonly string[], message: string): ConfigOutcome => {
      count('intent.reload.refused');
      log.error({ errors }, message);
      return { ok: false, errors, changed: [] };
    };
    // A reload during the stop would build up what is being released.
    if (isStopping()) return { ok: false, errors: STOPPING.errors, changed: [] };
    if (this.#trial) return refused([this.#awaited(this.#trial)], 'not reloaded');
    const before = file.intent;
    const read = file.reload();
    if (!read.ok) return refused(read.error.errors, 'the file has errors; the old intent stays in force');
    count('intent.reload.done');
    const outcome = await this.#following(() => follow(before));
    log.info({ changed: outcome.changed }, 'reloaded');
    return outcome;
  }

  /** What fails is tried again, but the last reload has not done what it should. */
  async #following(follow: () => Promise<ConfigOutcome>): Promise<ConfigOutcome> {
    try {
      return await follow();
    } catch (error) {
      this.#dependencies.file.notDone(messageOf(error));
      throw error;
    }
  }

  plan(text: string | undefined, name: string): Promise<Answer<ConfigPlan>> {
    const { file, compare } = this.#dependencies;
    const run = async (): Promise<Answer<ConfigPlan>> => {
      const read = text === undefined ? file.read() : readConfig(text, name);
      if (!read.ok) return ok({ ok: false, errors: read.error.errors, changed: [] });
      const [before, after] = [file.intent, read.value.intent];
      const planes = await compare(before, after);
      return ok({ ok: true, errors: [], changed: diffIntent(before, after), planes });
    };
    return this.#waitingPlans.wait(() => this.#plans.run((timed) => this.#inTurn(() => timed(run))));
  }

  apply(text: string, name: string, terms: ChangeTerms): Promise<Answer<ConfigOutcome>> {
    return this.#change(() => readConfig(text, name), terms);
  }

  set(changes: readonly SectionChange[], terms: ChangeTerms): Promise<Answer<ConfigOutcome>> {
    return this.#change(() => {
      const text = editedText(this.#dependencies.file.inForce.text, changes);
      return text.ok ? readConfig(text.value, 'configuration', withoutPlace) : fail({ errors: [text.error] });
    }, terms);
  }

  #change(
    read: () => Result<Config, { readonly errors: readonly string[] }>,
    terms: ChangeTerms,
  ): Promise<Answer<ConfigOutcome>> {
    const { count } = this.#dependencies;
    return this.#queued(async () => {
      const config = read();
      const done = config.ok
        ? await this.#apply(config.value, terms)
        : fail<ChangeRefusal>({ code: 'invalid', errors: config.error.errors });
      count(done.ok ? 'intent.apply.done' : `intent.apply.refused.${done.error.code}`);
      return done;
    });
  }

  async #apply(config: Config, terms: ChangeTerms): Promise<Answer<ConfigOutcome>> {
    const { file, follow, reloading, log } = this.#dependencies;
    if (this.#trial) return conflict(this.#awaited(this.#trial));
    const refused = fileRefusal(file, config, terms) ?? (await this.#keeping.keep(config.text, terms));
    if (refused) return fail(refused);
    const former = file.inForce;
    const { confirmMs } = terms;
    if (confirmMs !== undefined) this.#trial = this.#begin({ ...terms, config, former }, confirmMs);
    const confirmBy = this.#trial?.confirmBy.toISOString();
    file.adopt(config);
    const outcome = await reloading(() => follow(former.intent));
    log.info(
      { event: 'config.applied', changed: outcome.changed, temporary: terms.isTemporary === true, confirmBy },
      confirmBy === undefined ? 'another configuration is in force' : 'another configuration is in force on trial',
    );
    return ok(confirmBy === undefined ? outcome : { ...outcome, confirmBy });
  }

  #begin(trial: Omit<Trial, 'confirmBy' | 'cancelTimer'>, confirmMs: number): Trial {
    const begun: Trial = { ...trial, confirmBy: new Date(0), cancelTimer: () => undefined };
    this.#wait(begun, confirmMs);
    return begun;
  }

  #wait(trial: Trial, confirmMs: number): void {
    const { clock, now, inTurn, log } = this.#dependencies;
    trial.cancelTimer();
    this.#dependencies.file.confirmBy = trial.confirmBy = new Date(now().getTime() + confirmMs);
    trial.cancelTimer = clock.after(
      confirmMs,
      () =>
        void inTurn(async () => {
          if (this.#trial === trial) await this.#takeBack(trial, 'not-confirmed');
        }).catch((error: unknown) =>
          log.error({ error: messageOf(error) }, 'taken back, but not all of it could be done; it is tried again'),
        ),
    );
  }

  #end(trial: Trial): void {
    trial.cancelTimer();
    this.#trial = this.#dependencies.file.confirmBy = undefined;
  }

  #awaited({ confirmBy }: Trial): string {
    return (
      `a configuration waits for its confirmation until ${confirmBy.toISOString()}: ` +
      '`cnpctl confirm` or `cnpctl rollback` first'
    );
  }

  /** Once it runs, nothing waits any more. */
  async #takeBack(trial: Trial, reason: RollBackReason): Promise<ConfigOutcome> {
    const { file, follow, reloading, isStopping, count, log } = this.#dependencies;
    this.#end(trial);
    if (isStopping()) return { ok: false, errors: STOPPING.errors, changed: [] };
    const before = file.intent;
    file.takeBack(trial.former, reason);
    count('intent.apply.rolled-back');
    log.warn({ event: 'config.rolled-back', reason }, 'the former configuration is in force again');
    return reloading(() => follow(before));
  }

  confirm(id?: string): Promise<Answer<undefined>> {
    return this.#ofTrial(id, async (trial) => {
      const { file, count, log } = this.#dependencies;
      const now = file.now();
      if (!trial.isTemporary && now !== file.loaded && now !== trial.config.text)
        return conflict(`${file.path} has changed meanwhile: restore it, or roll back; this configuration still waits`);
      const refused = trial.isTemporary ? undefined : await this.#keeping.write(trial.config.text);
      if (refused) return fail({ ...refused, errors: [...refused.errors, 'the configuration in force still waits'] });
      this.#end(trial);
      count('intent.apply.confirmed');
      log.info({ event: 'config.confirmed' }, 'the configuration in force is confirmed');
      return ok(undefined);
    });
  }

  rollBack(id?: string): Promise<Answer<ConfigOutcome>> {
    return this.#ofTrial(id, async (trial) => ok(await this.#takeBack(trial, 'requested')));
  }

  extend(id: string, confirmMs: number): Promise<Answer<undefined>> {
    return this.#ofTrial(id, async (trial) => {
      this.#wait(trial, confirmMs);
      return ok(undefined);
    });
  }

  #ofTrial<T>(id: string | undefined, run: (trial: Trial) => Promise<Answer<T>>): Promise<Answer<T>> {
    return this.#queued(async () => {
      const trial = this.#trial;
      if (!trial) return conflict('no configuration waits for its confirmation');
      if (id !== undefined && trial.id !== id)
        return fail({ code: 'invalid', errors: ['the configuration that waits has another id'] });
      return run(trial);
    });
  }

  shown(): Promise<ShownConfig> {
    return this.#shown.of(this.#dependencies.file.inForce.text);
  }

  /** For gNMI. */
  async state(): Promise<ConfigurationState> {
    const { inForce, isPersistent } = this.#dependencies.file;
    return { persistent: isPersistent, ...(await this.#shown.sections(inForce.text)) };
  }

  #queued<T>(run: () => Promise<Answer<T>>): Promise<Answer<T>> {
    return this.#waitingChanges.wait(() => this.#inTurn(run));
  }

  #inTurn<T>(run: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const { inTurn, isStopping } = this.#dependencies;
    return inTurn(async () => (isStopping() ? fail(STOPPING) : run()));
  }
}
