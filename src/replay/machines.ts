// The machines that a recording may have, each as it is created and handed an event. What a machine reports goes where
// its carrier would hand it.
import type { CarrierSink } from '../carriers/carrier.ts';
import {
  type ContentConfig as BgpConfig,
  type ContentEvent as BgpEvent,
  type Content as BgpContent,
} from '../carriers/bgp/state.ts';
import { createContent as createBgpContent, handleContent as handleBgp } from '../carriers/bgp/content.ts';
import { replayedSpeaker as isisSpeaker, type RecordedConfig as IsisConfig } from '../carriers/isis/recorded.ts';
import { handle as handleIsis } from '../carriers/isis/speaker.ts';
import type { Speaker as IsisSpeaker, SpeakerEvent as IsisEvent } from '../carriers/isis/state.ts';
import type { Content, ContentEvent } from '../carriers/ospf/content-state.ts';
import { createContent, handleContent } from '../carriers/ospf/content.ts';
import { replayedSpeaker, type RecordedConfig as OspfConfig, type RecordedContent } from '../carriers/ospf/recorded.ts';
import { handle as handleOspf } from '../carriers/ospf/speaker.ts';
import type { Speaker as OspfSpeaker, SpeakerEvent as OspfEvent } from '../carriers/ospf/state.ts';
import { AskedNeighbors, type AskedOptions } from '../flow-control/asked.ts';
import { ASKED_EVENTS, PAUSED_EVENTS } from '../flow-control/flow-control.ts';
import { PausedTraffic, type PausedOptions } from '../flow-control/paused.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import type { Count } from '../model/log.ts';
import type { Call } from '../model/recorded-calls.ts';
import type { Findings, MachineName } from '../model/recording.ts';
import { HOLDS_EVENTS } from '../source/enforcement.ts';
import type { HoldOptions } from '../source/hold.ts';
import { Holds } from '../source/holds.ts';
import { RECEIVED_EVENTS, ReceivedNotifications } from '../source/received.ts';

export interface World {
  readonly sink: CarrierSink;
  readonly count: Count;
  /** What this router declares. */
  readonly declare: (origination: Origination) => void;
  /** How long what a carrier has learned is held; undefined: as before. */
  readonly hold: (carrier: CarrierName, ms: number | undefined) => void;
}

/** An event, as every machine's has one. */
export interface AnyEvent {
  readonly type: string;
}

/** The latest machine of each name. */
export interface Machines {
  isis?: { readonly config: IsisConfig; readonly speaker: IsisSpeaker };
  ospfv2?: OspfSpeaker;
  ospfv3?: OspfSpeaker;
  'ospfv2-content'?: OspfContent;
  'ospfv3-content'?: OspfContent;
  bgp?: { readonly target: string; readonly content: BgpContent };
  holds?: Holds;
  received?: ReceivedNotifications;
  'flow-control-asked'?: AskedNeighbors;
  'flow-control-paused'?: PausedTraffic;
}

export interface OspfContent {
  readonly config: RecordedContent;
  readonly content: Content;
  /** Areas without a Full neighbor, and since when. */
  readonly downSince: Map<number, number>;
}

export type Handle = (event: AnyEvent, now: number) => void;

interface Created<M> {
  readonly machine: M;
  readonly handle: Handle;
}

type Rows = {
  readonly [K in MachineName]: {
    readonly events: readonly string[];
    readonly create: (
      config: unknown,
      findings: Findings,
      now: number,
      world: World,
    ) => Created<NonNullable<Machines[K]>>;
  };
};

/** The types of a machine's events: the compiler refuses a table that lacks one. */
const typesOf = <E extends AnyEvent>(types: Readonly<Record<E['type'], true>>): readonly string[] => Object.keys(types);

const SPEAKER = {
  'link-up': true,
  'link-down': true,
  received: true,
  originate: true,
  timer: true,
  stop: true,
} as const;
const ISIS_EVENTS = typesOf<IsisEvent>({ ...SPEAKER, configure: true });
const OSPF_EVENTS = typesOf<OspfEvent>({ ...SPEAKER, keys: true });
const CONTENT_EVENTS = typesOf<ContentEvent>({
  declare: true,
  database: true,
  adjacency: true,
  configure: true,
  timer: true,
});
const BGP_EVENTS = typesOf<BgpEvent>({
  declare: true,
  configure: true,
  connected: true,
  routes: true,
  listed: true,
  lost: true,
  done: true,
  looked: true,
  stop: true,
  timer: true,
});

function ospf(config: unknown, findings: Findings, _now: number, { count }: World): Created<OspfSpeaker> {
  const machine = replayedSpeaker({ ...(config as OspfConfig), findings });
  const handle: Handle = (event, now) => {
    for (const effect of handleOspf(machine, event as OspfEvent, now))
      if (effect.type === 'count') count(effect.name, effect.by);
  };
  return { machine, handle };
}

function ospfContent(given: unknown, _findings: Findings, begin: number, world: World): Created<OspfContent> {
  const config = given as RecordedContent;
  const content = createContent(config);
  world.hold(config.name, config.holdUnreachableMs);
  const downSince = new Map(config.areas.map(({ areaId }) => [areaId, begin]));
  const handle: Handle = (any, now) => {
    const event = any as ContentEvent;
    if (event.type === 'declare') world.declare(event.origination);
    if (event.type === 'configure') world.hold(config.name, event.holdUnreachableMs);
    if (event.type === 'adjacency' && event.neighbor === undefined) downSince.set(event.areaId, now);
    for (const effect of handleContent(content, event, now))
      if (effect.type !== 'originate') take(effect, config.name, world);
  };
  return { machine: { config, content, downSince }, handle };
}

type Reported =
  | { readonly type: 'learned'; readonly report: Parameters<CarrierSink['learned']>[0] }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  | { readonly type: 'topology'; readonly areas: Parameters<CarrierSink['topology']>[0]['areas'] }
  | { readonly type: 'count'; readonly name: string; readonly by: number }
  | { readonly type: 'log' | 'send' | 'stopped' | 'change' | 'look' };

function take(effect: Reported, carrier: CarrierName, { sink, count }: World): void {
  if (effect.type === 'learned') sink.learned(effect.report);
  else if (effect.type === 'reachability') sink.reachability({ carrier, reachable: effect.reachable });
  else if (effect.type === 'topology') sink.topology({ carrier, areas: effect.areas });
  else if (effect.type === 'count') count(effect.name, effect.by);
}

/** Calls of a machine that is an object. */
const calls =
  (machine: object): Handle =>
  (event) => {
    const { type, args } = event as Call;
    (machine as Record<string, (...args: readonly unknown[]) => unknown>)[type]!(...args);
  };

export const MACHINE_ROWS: Rows = {
  isis: {
    events: ISIS_EVENTS,
    create: (given, findings, _now, world) => {
      const config = given as IsisConfig;
      const speaker = isisSpeaker({ ...config, findings });
      world.hold('isis', config.holdUnreachableMs);
      const handle: Handle = (any, now) => {
        const event = any as IsisEvent;
        if (event.type === 'originate') world.declare(event.origination);
        if (event.type === 'configure') world.hold('isis', event.config.holdUnreachableMs);
        for (const effect of handleIsis(speaker, event, now)) take(effect, 'isis', world);
      };
      return { machine: { config, speaker }, handle };
    },
  },
  ospfv2: { events: OSPF_EVENTS, create: ospf },
  ospfv3: { events: OSPF_EVENTS, create: ospf },
  'ospfv2-content': { events: CONTENT_EVENTS, create: ospfContent },
  'ospfv3-content': { events: CONTENT_EVENTS, create: ospfContent },
  bgp: {
    events: BGP_EVENTS,
    create: (given, _findings, begin, world) => {
      const { target, ...config } = given as BgpConfig & { readonly target: string };
      const content = createBgpContent(config, begin);
      world.hold('bgp', config.holdUnreachableMs);
      const handle: Handle = (any, now) => {
        const event = any as BgpEvent;
        if (event.type === 'declare') world.declare(event.origination);
        if (event.type === 'configure') world.hold('bgp', event.changes.holdUnreachableMs);
        for (const effect of handleBgp(content, event, now)) take(effect, 'bgp', world);
      };
      return { machine: { target, content }, handle };
    },
  },
  holds: {
    events: HOLDS_EVENTS,
    create: (config, _findings, _now, world) => {
      const machine = new Holds(config as HoldOptions, world);
      return { machine, handle: calls(machine) };
    },
  },
  received: {
    events: RECEIVED_EVENTS,
    create: () => {
      const machine = new ReceivedNotifications();
      return { machine, handle: calls(machine) };
    },
  },
  'flow-control-asked': {
    events: ASKED_EVENTS,
    create: (config, _findings, now, world) => {
      const machine = new AskedNeighbors(config as AskedOptions, world, now);
      return { machine, handle: calls(machine) };
    },
  },
  'flow-control-paused': {
    events: PAUSED_EVENTS,
    create: (config, _findings, _now, world) => {
      const machine = new PausedTraffic(config as PausedOptions, world);
      return { machine, handle: calls(machine) };
    },
  },
};
