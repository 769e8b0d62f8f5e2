// The IS-IS carrier: the speaker with its link and its clock. Events go into the speaker one at a time. The carrier
// executes its effects and sends the `timer` event when the speaker needs it.
import type { Origination } from '../../model/advertisement.ts';
import type { IsisLspState, IsisNeighborState, IsisTrouble } from '../../model/carrier-state.ts';
import type { Netns } from '../../kernel/netns.ts';
import type { Poller } from '../../kernel/poller.ts';
import type { Tape } from '../../model/recording.ts';
import type { Level } from '../../packet/isis/types.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';
import type { Carrier } from '../carrier.ts';
import { takeNote } from '../effects.ts';
import { MachineTimer } from '../machine-timer.ts';
import { type CarrierDependencies, momentOf, seedOf, sinceEpoch } from '../dependencies.ts';
import { LSDB_BYTES, LSDB_LIMIT } from './constants.ts';
import { IsisNetwork } from './network.ts';
import { beginTape } from './recorded.ts';
import { databaseState, hostnameOf, neighborState, troubleState, unplacedPrefixes } from './show.ts';
import type { Effect, Speaker, SpeakerConfig, SpeakerEvent, TunableConfig } from './state.ts';
import { createSpeaker, handle } from './speaker.ts';
import { nextWake } from './tasks.ts';

/** The part of the intent's `isis` section that the carrier reads (same shape as IsisIntent). */
export interface IsisCarrierOptions {
  readonly systemId: Uint8Array;
  readonly area: Uint8Array;
  readonly levels: '1' | '2' | '1-2';
  readonly interface: string;
  readonly mtu: number;
  readonly helloIntervalMs: number;
  readonly holdMultiplier: number;
  readonly lifetimeSeconds: number;
  readonly refreshSeconds: number;
  readonly authentication: {
    readonly interface?: { readonly key: string };
    readonly area?: { readonly key: string };
    readonly domain?: { readonly key: string };
  };
  readonly holdUnreachableMs: number;
  /** Whether to report the topology. Default: no. */
  readonly reportsTopology?: boolean;
}

export interface IsisCarrierDependencies extends CarrierDependencies {
  readonly poller: Poller;
  /** The router's namespace; that of the process when absent. */
  readonly netns?: Netns;
  /** TLV 137, so that `show isis database` names us. */
  readonly hostname?: string;
}

export interface IsisCarrier extends Carrier {
  neighbors(): IsisNeighborState[];
  /** When an adjacency that is no longer was up the last time, milliseconds since 1970; -Infinity: never. */
  lastUp(): number;
  database(): IsisLspState[];
  /** Of a router, by its originator; undefined: none is known. */
  hostnameOf(originator: string): string | undefined;
  /**
   * Number of declared prefixes and SIDs that do not fit into the 255 fragments of a level and are not advertised
   * there.
   */
  unplaced(): number;
  trouble(): IsisTrouble[];
  /** One LSP as received or issued; its Remaining Lifetime is that of its arrival or last transmission. */
  lsp(level: Level, lspId: string): Uint8Array | undefined;
  /**
   * Applies changed timers and keys. @returns false when something else changed: the carrier must be stopped and
   * created again
   */
  update(options: IsisCarrierOptions): boolean;
}

const LEVELS = { '1': [1], '2': [2], '1-2': [1, 2] } as const;

const key = (auth: { readonly key: string } | undefined): Uint8Array | undefined =>
  auth && new TextEncoder().encode(auth.key);

function tunable(o: IsisCarrierOptions): TunableConfig {
  const [forInterface, area, domain] = [
    key(o.authentication.interface),
    key(o.authentication.area),
    key(o.authentication.domain),
  ];
  return {
    helloIntervalMs: o.helloIntervalMs,
    holdMultiplier: o.holdMultiplier,
    lifetimeSeconds: o.lifetimeSeconds,
    refreshSeconds: o.refreshSeconds,
    holdUnreachableMs: o.holdUnreachableMs,
    reportsTopology: o.reportsTopology ?? false,
    keys: { ...(forInterface && { interface: forInterface }), ...(area && { area }), ...(domain && { domain }) },
  };
}

function speakerConfig(o: IsisCarrierOptions, dependencies: IsisCarrierDependencies): SpeakerConfig {
  const { now, toWall } = momentOf(dependencies);
  return {
    ...tunable(o),
    systemId: o.systemId,
    area: o.area,
    levels: LEVELS[o.levels],
    // TLV 137 is ASCII. A host name may contain other characters; then routers show the system ID.
    ...(dependencies.hostname !== undefined &&
      /^[\x21-\x7e]{1,64}$/.test(dependencies.hostname) && { hostname: dependencies.hostname }),
    mtu: o.mtu,
    circuitId: 1,
    codePoints: dependencies.codePoints,
    // 2³² seconds are reached in 2156.
    startSequence: Math.max(1, Math.floor(sinceEpoch(now + toWall) / 1000)),
    seed: seedOf(dependencies),
    lsdbLimit: LSDB_LIMIT,
    lsdbBytes: LSDB_BYTES,
  };
}

export function createIsisCarrier(options: IsisCarrierOptions, dependencies: IsisCarrierDependencies): IsisCarrier {
  return new RouterSideCarrier(options, dependencies);
}

class RouterSideCarrier implements IsisCarrier {
  readonly name = 'isis';
  private readonly options: IsisCarrierOptions;
  private readonly dependencies: IsisCarrierDependencies;
  private readonly speaker: Speaker;
  /** While its events are recorded. */
  private readonly tape: Tape | undefined;
  private readonly network: IsisNetwork;
  private readonly timer: MachineTimer;
  private stopping: Promise<void> | undefined;
  private onStopped: () => void = () => {};

  constructor(options: IsisCarrierOptions, dependencies: IsisCarrierDependencies) {
    this.options = options;
    this.dependencies = dependencies;
    const { poller, clock, log, count, netns, recorder, suite } = dependencies;
    const config = speakerConfig(options, dependencies);
    this.tape = beginTape(recorder, clock.now(), { ...config, interface: options.interface });
    this.speaker = createSpeaker({ ...config, findings: this.tape }, formatSystemId(options.systemId));
    this.timer = new MachineTimer(dependencies, {
      dueAt: () => nextWake(this.speaker),
      timer: () => this.dispatch({ type: 'timer' }),
    });
    this.network = new IsisNetwork(
      { interface: options.interface, mtu: options.mtu, netns, suite },
      {
        poller,
        clock,
        log,
        count,
        onPdu: (pdu) => this.dispatch({ type: 'received', pdu }),
        onUp: (linkLocal) => this.dispatch({ type: 'link-up', linkLocal }),
        onDown: (reason) => this.dispatch({ type: 'link-down', reason }),
      },
    );
  }

  start(): Promise<void> {
    return this.network.start();
  }

  originate(origination: Origination): void {
    this.dispatch({ type: 'originate', origination });
  }

  stop(): Promise<void> {
    this.stopping ??= this.withdraw();
    return this.stopping;
  }

  neighbors(): IsisNeighborState[] {
    return neighborState(this.speaker, this.options.interface, momentOf(this.dependencies));
  }

  lastUp(): number {
    return this.speaker.lastUp + momentOf(this.dependencies).toWall;
  }

  database(): IsisLspState[] {
    return databaseState(this.speaker, this.dependencies.clock.now());
  }

  hostnameOf(originator: string): string | undefined {
    return hostnameOf(this.speaker, originator);
  }

  unplaced(): number {
    return unplacedPrefixes(this.speaker);
  }

  trouble(): IsisTrouble[] {
    return troubleState(this.speaker, momentOf(this.dependencies));
  }

  lsp(level: Level, lspId: string): Uint8Array | undefined {
    return this.speaker.levels.get(level)?.lsdb.byKey.get(lspId)?.raw.slice();
  }

  update(options: IsisCarrierOptions): boolean {
    const fixed = (o: IsisCarrierOptions): string =>
      JSON.stringify([[...o.systemId], [...o.area], o.levels, o.interface, o.mtu]);
    if (fixed(options) !== fixed(this.options)) return false;
    this.dispatch({ type: 'configure', config: tunable(options) });
    return true;
  }

  private async withdraw(): Promise<void> {
    const stopped = new Promise<void>((resolve) => (this.onStopped = resolve));
    this.dispatch({ type: 'stop' });
    await stopped;
    this.timer.close();
    await this.network.stop();
  }

  private dispatch(event: SpeakerEvent): void {
    const now = this.dependencies.clock.now();
    this.tape?.event(now, event);
    for (const effect of handle(this.speaker, event, now)) this.carryOut(effect);
    this.timer.arm();
  }

  private carryOut(effect: Effect): void {
    const { dependencies } = this;
    switch (effect.type) {
      case 'send':
        return this.network.send(effect.pdu);
      case 'learned':
        return dependencies.sink.learned(effect.report);
      case 'reachability':
        return dependencies.sink.reachability({ carrier: 'isis', reachable: effect.reachable });
      case 'topology':
        return dependencies.sink.topology({ carrier: 'isis', areas: effect.areas });
      case 'count':
      case 'log':
        return takeNote(effect, dependencies, {});
      case 'stopped':
        return this.onStopped();
    }
  }
}
