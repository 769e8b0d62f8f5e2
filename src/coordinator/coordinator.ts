// The one way from inputs to the kernel and to the network. Inputs are the intent, what the network has taught, and
// what is true of this router, among that what its kernel has refused. A plan follows from them; the dataplane works
// out the difference and applies it, and the carriers are handed what to advertise. Nothing downstream calls back: what
// comes of an application is an input of the next plan.
import { isDeepStrictEqual } from 'node:util';
import type { Intent } from '../intent/intent.ts';
import type { HostCapability } from '../learned/capabilities.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { Origination } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import type { Work } from '../model/work.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import { planSenderProxies } from '../plan/congested-node.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Facts, LinkFact } from '../plan/facts.ts';
import { holdTimes, patienceMs } from '../plan/hold-times.ts';
import { originated } from '../plan/origination.ts';
import { plan } from '../plan/plan.ts';
import { InTurn } from './in-turn.ts';
import { Learning } from './learning.ts';
import { Replanning } from './replanning.ts';

export interface Inputs {
  /** Links, qdiscs, addresses, local SIDs. Read anew for each plan. */
  readonly kernelFacts: (intent: Intent) => Promise<Facts>;
  /** Those of these links that lead to other routers. */
  readonly gatewayPorts: (links: readonly LinkFact[]) => ReadonlySet<number>;
  /** Port → RTT_est, milliseconds. */
  readonly rttMs: () => ReadonlyMap<string, number>;
  /** Hosts that have refused a format. */
  readonly capabilities: () => { entries(): Iterable<HostCapability> } | undefined;
}

/** What the coordinator needs of the dataplane (src/reconcile/dataplane.ts). */
export interface AppliesState {
  /** Makes the kernel as desired, as far as it goes. */
  apply(desired: DesiredState): void;
  /** Those of this router's SIDs that the kernel has not taken. */
  refusedSids(): ReadonlySet<string>;
  /** From now on what an earlier run had learned and nobody advertises any more is removed. */
  forgetUnknown(): void;
}

export interface CoordinatorDependencies {
  readonly table: LearnedTable;
  readonly inputs: Inputs;
  /** Asked for when it is needed. */
  readonly dataplane: () => AppliesState;
  /** What this router advertises has changed. */
  readonly originate: (origination: Origination) => void;
  /** SIDs or router addresses that the network has taught have changed, or their reachability has. */
  readonly onRouters: () => void;
  /** For parts of the agent that work by the plan, after each one. */
  readonly onPlanned: (desired: DesiredState, intent: Intent) => void;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
}

const NONE: ReadonlySet<string> = new Set();

export class Coordinator {
  readonly #dependencies: CoordinatorDependencies;
  /** Where carriers report what they learn. */
  readonly learning: Learning;
  readonly #replanning: Replanning;
  readonly #inTurn = new InTurn();
  #intent: Intent;
  #facts: Facts = { links: [], qdiscs: [], features: [] };
  #desired: DesiredState | undefined;
  #cancelForget: (() => void) | undefined;

  /** Plans nothing yet. */
  constructor(intent: Intent, dependencies: CoordinatorDependencies) {
    this.#intent = intent;
    this.#dependencies = dependencies;
    this.#replanning = new Replanning({ ...dependencies, replan: () => this.inTurn(() => this.#replan()) });
    this.learning = new Learning({
      ...dependencies,
      onSenders: () => this.#applySenders(),
      onRouters: () => {
        dependencies.onRouters();
        this.inputsChanged();
      },
    });
  }

  /** As last read. */
  get facts(): Facts {
    return this.#facts;
  }

  /** As last planned; undefined before the first plan. */
  get desired(): DesiredState | undefined {
    return this.#desired;
  }

  /** What this router advertises, by the intent in force and the facts. */
  get origination(): Origination {
    return originated(this.#intent, this.#facts);
  }

  /** One after another, in the order in which they are asked for; plans too. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#inTurn.run(run);
  }

  /**
   * This intent is in force from now on: plans and applies it. To be called in turn.
   * @throws when the kernel cannot be asked; it is planned again as soon as it can
   */
  async adopt(intent: Intent): Promise<void> {
    const { table } = this.#dependencies;
    this.#intent = intent;
    table.configure({ holdMs: holdTimes(intent) });
    table.declareOwn(this.origination);
    try {
      await this.#replan();
    } catch (error) {
      this.inputsChanged();
      throw error;
    }
  }

  /** Something that is planned by is not as it was: a plan is due, one for all that comes in a burst. */
  inputsChanged(): void {
    this.#replanning.due();
  }

  /**
   * The network needs time to teach everything again; until then nothing is forgotten that an earlier run has learned.
   */
  startPatience(): void {
    const { clock, dataplane } = this.#dependencies;
    this.#cancelForget = clock.after(patienceMs(this.#intent), () => dataplane().forgetUnknown());
  }

  /** What cannot be done as declared. Planned anew: what was learned since can be a problem too. */
  problems(): readonly Problem[] {
    return this.#desired ? this.#plan().problems : [];
  }

  /** Returns when the last of what was asked for in turn is done. */
  async stop(): Promise<void> {
    this.#cancelForget?.();
    this.#replanning.close();
    await this.#inTurn.idle();
  }

  /** Nothing that is learned from now on is handed over. */
  close(): void {
    this.learning.close();
  }

  async #replan(): Promise<void> {
    const { inputs, dataplane, onPlanned } = this.#dependencies;
    const kernel = await inputs.kernelFacts(this.#intent);
    this.#facts = {
      ...kernel,
      rttMs: inputs.rttMs(),
      ...this.#gatewayPorts(kernel),
      refusedSids: this.#facts.refusedSids ?? NONE,
    };
    const before = this.#desired;
    this.#desired = this.#plan();
    this.#warn(before, this.#desired);
    dataplane().apply(this.#desired);
    this.#takeRefusals();
    onPlanned(this.#desired, this.#intent);
    this.learning.changed();
  }

  /**
   * The learned table has handed over a piece of what changed. Only the senders' proxies follow from it, so only they
   * are planned anew: it costs what changed, whatever the size of the configuration and of the table.
   */
  #applySenders(): void {
    if (!this.#desired) return;
    this.#desired = planSenderProxies(this.#desired, this.#dependencies.table.senders);
    this.#dependencies.dataplane().apply(this.#desired);
  }

  /** Pure: what should be, by what is known now. */
  #plan(): DesiredState {
    const { table, inputs } = this.#dependencies;
    const capabilities = inputs.capabilities();
    const learned = {
      routers: table.routers,
      senders: table.senders,
      sizes: () => table.sizes(),
      ...(capabilities && { capabilities }),
    };
    return plan(this.#intent, learned, this.#facts);
  }

  /** Asked only where something is checked by it, and the operator has not named the ports. */
  #gatewayPorts({ links }: Facts): Pick<Facts, 'gatewayPorts'> {
    const { proxy, notifications, stamp, router } = this.#intent;
    const isAsked = (proxy ?? notifications ?? stamp) !== undefined && !router.corePorts;
    return isAsked ? { gatewayPorts: this.#dependencies.inputs.gatewayPorts(links) } : {};
  }

  /**
   * What the kernel refuses is known once it was asked, and is a fact like the others. Of all that is planned only the
   * origination depends on it, so a refusal that comes and goes costs no further application.
   */
  #takeRefusals(): void {
    const { dataplane, originate } = this.#dependencies;
    const refusedSids = dataplane().refusedSids();
    if (isDeepStrictEqual(refusedSids, this.#facts.refusedSids)) return;
    this.#facts = { ...this.#facts, refusedSids };
    originate(this.origination);
  }

  /** Each problem once, when it appears. */
  #warn(before: DesiredState | undefined, { problems }: DesiredState): void {
    const known = new Set(before?.problems.map((p) => p.problem));
    for (const problem of problems)
      if (!known.has(problem.problem))
        this.#dependencies.log.warn(problem, `cannot apply ${problem.feature} as declared`);
  }
}
