// The BGP carrier: content, gobgpd's client and clock put together. What gobgpd reports goes into the content one event
// at a time, what the content originates goes to gobgpd, one batch after another. It starts without a gobgpd too, and
// waits for it.
import type { IpAddress } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
import { type Steps, finish } from '../../model/work.ts';
import type { Prefix } from '../../model/prefix.ts';
import type { Tape } from '../../model/recording.ts';
import type { BgpPathState, BgpPeerState, BgpSession } from '../../model/carrier-state.ts';
import type { GobgpFault } from '../../model/gobgp-fault.ts';
import type { Carrier } from '../carrier.ts';
import { takeNote } from '../effects.ts';
import { MachineTimer } from '../machine-timer.ts';
import { type CarrierDependencies, momentOf } from '../dependencies.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent } from './state.ts';
import { createContent, handleContent } from './content.ts';
import { domainOf, withDomain } from './learning/domain.ts';
import { createGobgpClient } from './gobgp/client.edge.ts';
import { faultOf } from './gobgp/fault.ts';
import type { GobgpClient, GobgpListener, GobgpOptions, Learn } from './gobgp/gobgp.ts';
import { disputed } from './own/dispute.ts';
import type { OwnChanges } from './own/state.ts';
import type { BgpKinds } from './kinds/table.ts';
import { pathStates, sessionState } from './show.ts';
import { contentWake } from './tasks.ts';

/** For the rows of paths() in one turn of the event loop. */
const ROWS_BUDGET_MS = 2;

/** The `bgp` section of the intent (same shape as BgpIntent). */
export interface BgpCarrierOptions {
  readonly gobgp: Omit<GobgpOptions, 'learn'>;
  readonly nextHop4?: IpAddress;
  readonly nextHop6?: IpAddress;
  readonly advertise: 'senders' | 'proxy-host';
  readonly communities: readonly number[];
  readonly largeCommunities: readonly (readonly [number, number, number])[];
  readonly domain: readonly number[];
  readonly confederation: readonly number[];
  readonly policy: boolean;
  readonly learn: Learn;
  readonly viaNextHop: boolean;
  readonly holdUnreachableMs: number;
}

export interface BgpCarrierDependencies extends CarrierDependencies {
  /** The real one when absent. */
  readonly createClient?: (listener: GobgpListener) => GobgpClient;
  /** Those that are shipped when absent. */
  readonly kinds?: BgpKinds;
}

export interface BgpCarrier extends Carrier {
  readonly name: 'bgp';
  session(): BgpSession;
  /** gobgpd's neighbors; undefined: it is not connected, or does not answer. */
  peers(): Promise<BgpPeerState[] | undefined>;
  /** Own paths, and those that have the characteristics attribute. Many are put together as work, a few at a time. */
  paths(): Promise<BgpPathState[]>;
  /** Declared prefixes and SIDs that are not advertised. */
  unplaced(): number;
  /** Somebody else at the same gobgpd changes cnpd's paths again and again. */
  disputed(): boolean;
  /** After a stop: gobgpd may still have paths of ours, and our policies. */
  leavesPaths(): boolean;
  /**
   * Takes over what and how it advertises and the hold time. False: something else changed, and the carrier must be
   * stopped and created anew.
   */
  update(options: BgpCarrierOptions): boolean;
}

/** What is recorded: also what is shown of the carrier beside its machine. */
export type RecordedContent = ContentConfig & { readonly target: string };

const contentConfig = (o: BgpCarrierOptions, { codePoints }: BgpCarrierDependencies): ContentConfig => ({
  ...changeable(o),
  domain: new Set(o.domain),
  confederation: new Set(o.confederation),
  learn: o.learn,
  viaNextHop: o.viaNextHop,
  codePoints,
});

/** What the content takes over in flight. */
const changeable = ({
  nextHop4,
  nextHop6,
  advertise,
  communities,
  largeCommunities,
  holdUnreachableMs,
}: BgpCarrierOptions) => ({
  nextHop4,
  nextHop6,
  advertise,
  communities,
  largeCommunities,
  holdUnreachableMs,
});

const fixed = ({ gobgp, domain, confederation, policy, learn, viaNextHop }: BgpCarrierOptions): string =>
  JSON.stringify([gobgp, domain, confederation, policy, learn, viaNextHop]);

export function createBgpCarrier(options: BgpCarrierOptions, dependencies: BgpCarrierDependencies): BgpCarrier {
  return new GobgpSideCarrier(options, dependencies);
}

class GobgpSideCarrier implements BgpCarrier {
  readonly name = 'bgp';
  private readonly options: BgpCarrierOptions;
  private readonly dependencies: BgpCarrierDependencies;
  private readonly content: Content;
  /** While the content's events are recorded. */
  private readonly tape: Tape | undefined;
  private readonly client: GobgpClient;
  private readonly timer: MachineTimer;
  private stopping: Promise<void> | undefined;
  private left = false;
  private onStopped: (clean: boolean) => void = () => {};

  constructor(options: BgpCarrierOptions, dependencies: BgpCarrierDependencies) {
    this.options = options;
    this.dependencies = dependencies;
    const config = contentConfig(options, dependencies);
    const now = dependencies.clock.now();
    this.tape = dependencies.recorder?.begin('bgp', now, {
      ...config,
      target: options.gobgp.target,
    } satisfies RecordedContent);
    this.content = createContent(config, now, dependencies.kinds);
    this.timer = new MachineTimer(dependencies, {
      dueAt: () => contentWake(this.content),
      timer: () => this.dispatch({ type: 'timer' }),
    });
    const listener: GobgpListener = {
      connected: (about) => this.dispatch({ type: 'connected', about }),
      routes: (routes) => {
        const { members } = this.content.learning;
        this.dispatch({ type: 'routes', routes });
        if (this.content.learning.members !== members) this.client.setMembers(this.content.learning.members);
      },
      listed: (without) => this.dispatch({ type: 'listed', without }),
      lost: (fault, retryAt) => this.dispatch({ type: 'lost', fault, retryAt }),
    };
    this.client =
      dependencies.createClient?.(listener) ??
      createGobgpClient({ ...options.gobgp, learn: options.learn }, { ...dependencies, listener, guard: options });
  }

  async start(): Promise<void> {
    this.client.start();
  }

  originate(origination: Origination): void {
    this.dispatch({ type: 'declare', origination });
  }

  /**
   * While paths of ours may be left in gobgpd, and for a carrier that takes this one's place there, the policies stay.
   */
  stop(next?: BgpCarrierOptions): Promise<void> {
    const resumes = next?.policy === true && JSON.stringify(next.gobgp) === JSON.stringify(this.options.gobgp);
    this.stopping ??= new Promise<boolean>((resolve) => {
      this.onStopped = resolve;
      this.dispatch({ type: 'stop' });
    }).then((clean) => {
      this.timer.close();
      this.left = !clean;
      return this.client.close(!clean || resumes);
    });
    return this.stopping;
  }

  session(): BgpSession {
    return sessionState(this.content, this.options.gobgp.target, momentOf(this.dependencies), {
      policy: this.client.policy(),
      silentMs: this.client.silentMs(),
    });
  }

  async peers(): Promise<BgpPeerState[] | undefined> {
    return (await this.client.peers())?.map((peer) => withDomain(peer, domainOf(this.content)));
  }

  paths(): Promise<BgpPathState[]> {
    return finish(this.dependencies.work, this.rows(), ROWS_BUDGET_MS);
  }

  private *rows(): Steps<BgpPathState[]> {
    const all: BgpPathState[] = [];
    for (const rows of pathStates(this.content, momentOf(this.dependencies))) {
      all.push(...rows);
      yield;
    }
    return all;
  }

  unplaced(): number {
    return this.content.unplaced;
  }

  disputed(): boolean {
    return disputed(this.content, this.dependencies.clock.now());
  }

  leavesPaths(): boolean {
    return this.left;
  }

  update(options: BgpCarrierOptions): boolean {
    if (fixed(options) !== fixed(this.options)) return false;
    this.dispatch({ type: 'configure', changes: changeable(options) });
    return true;
  }

  private dispatch(event: ContentEvent): void {
    const now = this.dependencies.clock.now();
    this.tape?.event(now, event);
    for (const effect of handleContent(this.content, event, now)) this.carryOut(effect);
    this.timer.arm();
  }

  private carryOut(effect: ContentEffect): void {
    const { sink } = this.dependencies;
    if (effect.type === 'learned') sink.learned(effect.report);
    else if (effect.type === 'reachability') sink.reachability({ carrier: this.name, reachable: effect.reachable });
    else if (effect.type === 'change') void this.change(effect.changes);
    else if (effect.type === 'look') void this.look(effect.prefixes);
    else if (effect.type === 'stopped') this.onStopped(effect.clean);
    else takeNote(effect, this.dependencies, { carrier: this.name });
  }

  private async change(changes: OwnChanges): Promise<void> {
    let failure: GobgpFault | undefined;
    try {
      if (changes.withdraw.length > 0) await this.client.withdraw(changes.withdraw);
      if (changes.add.length > 0) await this.client.add(changes.add);
    } catch (error) {
      failure = faultOf(error);
    }
    this.dispatch({ type: 'done', changes, ...(failure !== undefined && { failure }) });
  }

  private async look(prefixes: readonly Prefix[]): Promise<void> {
    const failure = await this.client.look(prefixes).then(() => undefined, faultOf);
    this.dispatch({ type: 'looked', prefixes, ...(failure !== undefined && { failure }) });
  }
}
