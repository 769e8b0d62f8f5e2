// The OSPF carrier, one for each version: puts core, content, links and clock together. Events go into the core and
// into the content one at a time. What the content originates goes into the core. What the core receives from other
// routers goes into the content.
import type { IpAddress } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
import type { OspfLsaState, OspfNeighborState } from '../../model/carrier-state.ts';
import type { Netns } from '../../kernel/netns.ts';
import type { Poller } from '../../kernel/poller.ts';
import type { Tape } from '../../model/recording.ts';
import type { AuthenticationKey, DigestAlgorithm } from '../../packet/ospf/digest.ts';
import { privateTypesOf } from '../../packet/ospf/lsa.ts';
import type { Carrier } from '../carrier.ts';
import { takeNote } from '../effects.ts';
import { MachineTimer } from '../machine-timer.ts';
import { type CarrierDependencies, momentOf, seedOf, sinceEpoch } from '../dependencies.ts';
import { LSA_OVERHEAD, LSA_CAPACITY, LSDB_LIMIT } from './constants.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent } from './content-state.ts';
import { createContent, handleContent } from './content.ts';
import { contentWake } from './content-tasks.ts';
import { OspfNetwork } from './network.ts';
import { type OspfChange, OspfRunner } from './runner.edge.ts';
import { beginContentTape } from './recorded.ts';
import { databaseState, neighborState, unplacedEntries } from './show.ts';
import type { SpeakerConfig } from './state.ts';
import { OSPFV2, OSPFV3 } from './version.ts';

export interface OspfAreaOptions {
  readonly areaId: number;
  /** Name of the router's end of the link. */
  readonly interface: string;
  readonly mtu: number;
  readonly ignoreMtu: boolean;
  readonly instanceId: number;
  /** Required in OSPFv2; absent in OSPFv3. */
  readonly link?: { readonly router: IpAddress; readonly own: IpAddress; readonly length: number };
  readonly keys: readonly { readonly id: number; readonly algorithm: DigestAlgorithm; readonly key: string }[];
}

/** The `ospfv2` or `ospfv3` section of the intent (same shape as OspfIntent). */
export interface OspfCarrierOptions {
  readonly version: 2 | 3;
  readonly routerId: number;
  readonly areas: readonly OspfAreaOptions[];
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  readonly retransmitMs: number;
  readonly holdUnreachableMs: number;
  /** Whether to report the topology. Default: no. */
  readonly reportsTopology?: boolean;
}

export interface OspfCarrierDependencies extends CarrierDependencies {
  readonly poller: Poller;
  /** The router's namespace. Default: that of the process. */
  readonly netns?: Netns;
}

export interface OspfCarrier extends Carrier {
  /** One row per area. */
  neighbors(): OspfNeighborState[];
  database(): OspfLsaState[];
  /** Declared prefixes and SIDs that are not advertised. */
  unplaced(): number;
  /**
   * Applies changed keys and a changed hold time. Returns false if anything else changed: the caller must stop this
   * carrier and create a new one.
   */
  update(options: OspfCarrierOptions): boolean;
}

const VERSIONS = { 2: OSPFV2, 3: OSPFV3 } as const;

const authenticationKeys = (keys: OspfAreaOptions['keys']): AuthenticationKey[] =>
  keys.map(({ id, algorithm, key }) => ({ id, algorithm, secret: new TextEncoder().encode(key) }));

function speakerConfig(o: OspfCarrierOptions, dependencies: OspfCarrierDependencies): SpeakerConfig {
  const { helloSeconds, deadSeconds, retransmitMs } = o;
  const { toWall } = momentOf(dependencies);
  return {
    version: VERSIONS[o.version],
    routerId: o.routerId,
    areas: o.areas.map(({ areaId, instanceId, mtu, ignoreMtu, keys }, index) => ({
      areaId,
      instanceId,
      mtu,
      ignoreMtu,
      interfaceId: index + 1,
      helloSeconds,
      deadSeconds,
      retransmitMs,
      keys: authenticationKeys(keys),
    })),
    privateTypes: privateTypesOf(dependencies.codePoints),
    // Tenths of a second; the time of the clock is added to it.
    authenticationBase: Math.max(1, Math.floor(sinceEpoch(toWall) / 100)),
    seed: seedOf(dependencies),
    lsdbLimit: LSDB_LIMIT,
  };
}

const contentConfig = (o: OspfCarrierOptions, { codePoints }: OspfCarrierDependencies): ContentConfig => ({
  version: o.version,
  name: VERSIONS[o.version].name,
  routerId: o.routerId,
  areas: o.areas.map(({ areaId, mtu }) => ({ areaId, capacity: Math.min(LSA_CAPACITY, mtu - LSA_OVERHEAD) })),
  codePoints,
  privateTypes: privateTypesOf(codePoints),
  holdUnreachableMs: o.holdUnreachableMs,
  reportsTopology: o.reportsTopology ?? false,
});

/** The options that cannot change while the carrier runs, as text. */
function fixed({ holdUnreachableMs: _hold, reportsTopology: _reports, areas, ...rest }: OspfCarrierOptions): string {
  const withoutKeys = areas.map(({ keys: _keys, ...area }) => area);
  return JSON.stringify({ ...rest, areas: withoutKeys }, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

export function createOspfCarrier(options: OspfCarrierOptions, dependencies: OspfCarrierDependencies): OspfCarrier {
  return new RouterSideCarrier(options, dependencies);
}

class RouterSideCarrier implements OspfCarrier {
  readonly name: 'ospfv2' | 'ospfv3';
  private options: OspfCarrierOptions;
  private readonly dependencies: OspfCarrierDependencies;
  private readonly content: Content;
  /** While the content's events are recorded. */
  private readonly tape: Pick<Tape, 'event'> | undefined;
  private readonly runner: OspfRunner;
  private readonly networks: readonly OspfNetwork[];
  /** Areas without a Full neighbor, and when that state began. */
  private readonly downSince = new Map<number, number>();
  private readonly timer: MachineTimer;
  private stopping: Promise<void> | undefined;

  constructor(options: OspfCarrierOptions, dependencies: OspfCarrierDependencies) {
    this.options = options;
    this.dependencies = dependencies;
    this.name = VERSIONS[options.version].name;
    const { poller, clock, work, log, count, netns, recorder, suite } = dependencies;
    const config = contentConfig(options, dependencies);
    this.tape = beginContentTape(recorder, clock.now(), {
      ...config,
      interfaces: options.areas.map((area) => area.interface),
    });
    this.content = createContent(config);
    this.timer = new MachineTimer(dependencies, {
      dueAt: () => contentWake(this.content),
      timer: () => this.dispatch({ type: 'timer' }),
    });
    this.runner = new OspfRunner(speakerConfig(options, dependencies), {
      poller,
      clock,
      work,
      log,
      count,
      recorder,
      onChange: (change) => this.changed(change),
    });
    this.networks = options.areas.map(
      ({ areaId, interface: name, mtu, link }, index) =>
        new OspfNetwork({ areaId, index, interface: name, mtu, addresses: link, netns, suite }, this.runner, {
          poller,
          clock,
          log,
          count,
        }),
    );
    for (const { areaId } of options.areas) this.downSince.set(areaId, clock.now());
  }

  async start(): Promise<void> {
    try {
      for (const network of this.networks) await network.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  originate(origination: Origination): void {
    this.dispatch({ type: 'declare', origination });
  }

  stop(): Promise<void> {
    this.stopping ??= this.withdraw();
    return this.stopping;
  }

  neighbors(): OspfNeighborState[] {
    const { speaker } = this.runner;
    const moment = momentOf(this.dependencies);
    return this.options.areas.map(({ areaId, interface: name }) =>
      neighborState(speaker, speaker.areas.get(areaId)!, name, this.downSince.get(areaId)!, moment),
    );
  }

  database(): OspfLsaState[] {
    return databaseState(this.runner.speaker, this.content, this.dependencies.clock.now());
  }

  unplaced(): number {
    return unplacedEntries(this.content);
  }

  update(options: OspfCarrierOptions): boolean {
    if (fixed(options) !== fixed(this.options)) return false;
    this.options = options;
    for (const { areaId, keys } of options.areas)
      this.runner.event({ type: 'keys', areaId, keys: authenticationKeys(keys) });
    const { holdUnreachableMs, reportsTopology = false } = options;
    this.dispatch({ type: 'configure', holdUnreachableMs, reportsTopology });
    return true;
  }

  private async withdraw(): Promise<void> {
    this.timer.close();
    await this.runner.stop();
    for (const network of this.networks) await network.stop();
  }

  private changed(change: OspfChange): void {
    if (change.type === 'adjacency') {
      const { areaId, neighbor } = change;
      if (neighbor === undefined) this.downSince.set(areaId, this.dependencies.clock.now());
      return this.dispatch({ type: 'adjacency', areaId, ...(neighbor !== undefined && { neighbor }) });
    }
    this.dispatch(change);
  }

  private dispatch(event: ContentEvent): void {
    const now = this.dependencies.clock.now();
    this.tape?.event(now, event);
    for (const effect of handleContent(this.content, event, now)) this.carryOut(effect);
    this.timer.arm();
  }

  private carryOut(effect: ContentEffect): void {
    const { sink } = this.dependencies;
    if (effect.type === 'originate') this.runner.event(effect);
    else if (effect.type === 'learned') sink.learned(effect.report);
    else if (effect.type === 'reachability') sink.reachability({ carrier: this.name, reachable: effect.reachable });
    else if (effect.type === 'topology') sink.topology({ carrier: this.name, areas: effect.areas });
    else takeNote(effect, this.dependencies, { carrier: this.name });
  }
}
