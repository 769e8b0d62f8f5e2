// The one way from inputs to the kernel and to the network. Inputs are the intent, the learned table, and the facts
// about this router, such as SIDs that its kernel has refused. They determine a plan. The dataplane computes the
// difference and applies it; the carriers advertise the origination. Nothing downstream calls back: results of an
// application are inputs of the next plan.
import { isDeepStrictEqual } from 'node:util';
import type { Tree } from '../groups/tree.ts';
import type { Intent } from '../intent/intent.ts';
import type { HostCapability } from '../learned/capabilities.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { IpAddress } from '../model/address.ts';
import type { Origination } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import type { Work } from '../model/work.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import { planSenderProxies } from '../plan/congested-node.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Facts, LinkFact } from '../plan/facts.ts';
import { type LearnedAboutGroups, groupTrees } from '../plan/group-view.ts';
import { holdTimes, patienceMs } from '../plan/hold-times.ts';
import { NearestEdges } from '../plan/nearest-edges.ts';
import { originated } from '../plan/origination.ts';
import { plan } from '../plan/plan.ts';
import { takesForHosts } from '../plan/source.ts';
import { InTurn } from './in-turn.ts';
import { Learning } from './learning.ts';
import { Replanning } from './replanning.ts';

export interface Inputs {
  /** Links, qdiscs, addresses, local SIDs. Read anew for each plan. */
  readonly kernelFacts: (intent: Intent) => Promise<Facts>;
  /** The ports among these links that lead to other routers, by interface index. */
  readonly gatewayPorts: (links: readonly LinkFact[]) => ReadonlySet<number>;
  /** Port → RTT_est, milliseconds. */
  readonly rttMs: () => ReadonlyMap<string, number>;
  /** Hosts that have refused a notification format. */
  readonly capabilities: () => { entries(): Iterable<HostCapability> } | undefined;
}

/** The part of the dataplane (src/reconcile/dataplane.ts) that the coordinator uses. */
export interface AppliesState {
  /** Applies the desired state. Whatever the kernel refuses is retried later. */
  apply(desired: DesiredState): void;
  /** Resolves when what takes many turns is in the kernel or refused; undefined: it is. */
  readonly attaching?: Promise<void> | undefined;
  /** This router's SIDs that the kernel has not accepted, as text. */
  refusedSids(): ReadonlySet<string>;
  /** From now on, also removes entries that an earlier run learned and no router advertises any more. */
  forgetUnknown(): void;
}

export interface CoordinatorDependencies {
  readonly table: LearnedTable;
  readonly inputs: Inputs;
  /** Called when it is needed: the dataplane is opened later than the coordinator. */
  readonly dataplane: () => AppliesState;
  /** Called when the router's advertisements have changed. */
  readonly originate: (origination: Origination) => void;
  /** Called when learned SIDs or router addresses have changed, or their reachability. */
  readonly onRouters: () => void;
  /** Called after each plan, for parts of the agent that follow the plan. */
  readonly onPlanned: (desired: DesiredState, intent: Intent) => void;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
}

const NONE: ReadonlySet<string> = new Set();

/** A default route leads everywhere: it says nothing about where an address is. */
function originatorOf(table: LearnedTable, address: IpAddress): ReturnType<LearnedAboutGroups['originatorOf']> {
  const found = table.lookup(address);
  return found && found.prefix.length > 0 ? found : undefined;
}

export class Coordinator {
  readonly #dependencies: CoordinatorDependencies;
  /** Takes the carriers' reports. */
  readonly learning: Learning;
  readonly #replanning: Replanning;
  readonly #inTurn = new InTurn();
  /** As it was given. */
  #intent: Intent;
  readonly #edges = new NearestEdges();
  /** Of the last plan: the intent as it was given, and with the edges decided. */
  #planned: { readonly given: Intent; readonly decided: Intent } | undefined;
  #facts: Facts = { links: [], qdiscs: [], features: [] };
  #desired: DesiredState | undefined;
  #cancelForget: (() => void) | undefined;
  /** Members of groups have changed since the last plan. */
  #hasNewMembers = false;

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
      onTopology: () => this.inputsChanged(),
      onSettled: () => {
        if (this.#hasOtherEdges) this.inputsChanged();
      },
    });
  }

  /** The facts as last read. */
  get facts(): Facts {
    return this.#facts;
  }

  /** The last plan; undefined before the first one. */
  get desired(): DesiredState | undefined {
    return this.#desired;
  }

  /** In force, with the edges of receivers that name none, as far as they can be decided. */
  get intent(): Intent {
    return this.#edges.decide(this.#intent, this.#aboutGroups, this.#facts);
  }

  /** Whether other edges are decided than in the last plan of this intent. */
  get #hasOtherEdges(): boolean {
    return this.#planned?.given === this.#intent && this.#planned.decided !== this.intent;
  }

  /** The trees of End.MT groups, by Proxy Address as text. */
  get trees(): ReadonlyMap<string, Tree> {
    return groupTrees(this.intent, this.#aboutGroups);
  }

  /** This router's advertisements: from the current intent, and what of it is at work. */
  get origination(): Origination {
    const { refusedSids = NONE } = this.#facts;
    return originated(this.intent, { refusedSids, takesForHosts: takesForHosts(this.#desired ?? {}) });
  }

  /** Runs tasks one after another, in order of the calls. Plans are such tasks too. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#inTurn.run(run);
  }

  /**
   * Puts this intent into force: plans and applies it. Must run within inTurn.
   * @throws when the kernel cannot be read; the plan is then retried
   */
  async adopt(intent: Intent): Promise<void> {
    const { table } = this.#dependencies;
    this.#intent = intent;
    table.configure({ holdMs: holdTimes(intent) });
    this.#declareOwn();
    try {
      await this.#replan();
    } catch (error) {
      this.inputsChanged();
      throw error;
    }
  }

  /** An input of the plan has changed: a new plan is due, one for a whole burst of changes. */
  inputsChanged(): void {
    this.#replanning.due();
  }

  /**
   * Members of groups have come or gone at run time; all else of the intent is as it was. A burst of changes is planned
   * and advertised once.
   */
  membersChanged(intent: Intent): void {
    this.#intent = intent;
    this.#hasNewMembers = true;
    this.inputsChanged();
  }

  /**
   * Starts the time that the network needs to advertise everything again. Until it is over, entries learned by an
   * earlier run are kept.
   */
  startPatience(): void {
    const { clock, dataplane } = this.#dependencies;
    this.#cancelForget = clock.after(patienceMs(this.#intent), () => dataplane().forgetUnknown());
  }

  /** What cannot be applied. Plans anew, since advertisements learned since the last plan can cause problems too. */
  problems(): readonly Problem[] {
    return this.#desired ? this.#plan().problems : [];
  }

  /** Resolves when all tasks of inTurn are done. */
  async stop(): Promise<void> {
    this.#cancelForget?.();
    this.#replanning.close();
    await this.#inTurn.idle();
  }

  /** Stops passing on what carriers report. */
  close(): void {
    this.learning.close();
  }

  #declareOwn(): void {
    this.#dependencies.table.declareOwn(this.origination);
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
    const { intent } = this;
    const given = this.#intent;
    const hasNewMembers = this.#hasNewMembers || this.#hasOtherEdges;
    if (hasNewMembers) this.#declareOwn();
    this.#desired = this.#plan();
    const hasOtherClaims =
      intent.source?.advertise === true && takesForHosts(this.#desired) !== takesForHosts(before ?? {});
    if (hasOtherClaims) this.#declareOwn();
    dataplane().apply(this.#desired);
    this.#hasNewMembers = false;
    this.#planned = { given, decided: intent };
    const { attaching } = dataplane();
    // What is refused shows afterwards. Senders and members may change meanwhile.
    if (attaching) await attaching;
    this.#takeRefusals(hasNewMembers || hasOtherClaims);
    onPlanned(this.#desired, given);
    this.learning.changed();
  }

  /**
   * The learned table has passed on a batch of changes. Only the senders' proxies depend on it, so only they are
   * planned anew. Cost is proportional to the changes, whatever the size of the configuration and of the table.
   */
  #applySenders(): void {
    if (!this.#desired) return;
    this.#desired = planSenderProxies(this.#desired, this.#dependencies.table.senders);
    this.#dependencies.dataplane().apply(this.#desired);
  }

  get #aboutGroups(): LearnedAboutGroups {
    const { table } = this.#dependencies;
    return {
      sids: () => table.routers.sids(),
      members: () => table.routers.members(),
      membersLeftOut: () => table.routers.membersLeftOut(),
      topologies: () => table.topologies(),
      routerAddresses: () => table.routers.routerAddresses(),
      originatorOf: (address) => originatorOf(table, address),
    };
  }

  /**
   * What would be desired and advertised with this intent, from the inputs as they are now. Nothing is applied. A SID
   * that the kernel has not been asked for counts as accepted, and what the network would answer is not known.
   * @throws when the kernel cannot be read
   */
  async preview(given: Intent): Promise<{ readonly desired: DesiredState; readonly origination: Origination }> {
    const { inputs } = this.#dependencies;
    const kernel = await inputs.kernelFacts(given);
    const { refusedSids = NONE } = this.#facts;
    const facts: Facts = { ...kernel, rttMs: inputs.rttMs(), ...this.#gatewayPorts(kernel, given), refusedSids };
    const intent = new NearestEdges().decide(given, this.#aboutGroups, facts);
    const desired = this.#plan(intent, facts);
    return { desired, origination: originated(intent, { refusedSids, takesForHosts: takesForHosts(desired) }) };
  }

  /** Computes the desired state from the current inputs. No side effects. */
  #plan(intent = this.intent, facts = this.#facts): DesiredState {
    const { table, inputs } = this.#dependencies;
    const capabilities = inputs.capabilities();
    const learned = {
      routers: table.routers,
      groups: this.#aboutGroups,
      senders: table.senders,
      sizes: () => table.sizes(),
      ...(capabilities && { capabilities }),
    };
    return plan(intent, learned, facts);
  }

  /** Looked up only if some check uses it and the operator has not named the core ports. */
  #gatewayPorts({ links }: Facts, { proxy, notifications, stamp, router } = this.#intent): Pick<Facts, 'gatewayPorts'> {
    const isAsked = (proxy ?? notifications ?? stamp) !== undefined && !router.corePorts;
    return isAsked ? { gatewayPorts: this.#dependencies.inputs.gatewayPorts(links) } : {};
  }

  /**
   * The kernel's refusals become known by applying, and are facts like others. Only the origination depends on them, so
   * a change of refusals needs no further application.
   * @param isNew the origination has changed in any case
   */
  #takeRefusals(isNew: boolean): void {
    const { dataplane, originate } = this.#dependencies;
    const refusedSids = dataplane().refusedSids();
    if (!isNew && isDeepStrictEqual(refusedSids, this.#facts.refusedSids)) return;
    this.#facts = { ...this.#facts, refusedSids };
    originate(this.origination);
  }
}
