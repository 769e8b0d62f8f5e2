// The speaker's parts: its configuration, its state, the events it consumes and the effects it asks for. It is plain
// data apart from the functions that subscribe to changes (subscribers.ts). The clock is the `now` of each event, and
// randomness a generator seeded by the configuration. So a recorded stream of events replays exactly.
import type { Note } from '../effects.ts';
import type { Stopping } from '../tasks.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { Findings } from '../../model/recording.ts';
import type { AreaTopology } from '../../model/topology.ts';
import type { IpAddress } from '../../model/address.ts';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
import type { Level } from '../../packet/isis/types.ts';
import type { Adjacency } from './adjacency/adjacency.ts';
import type { FloodingFlags } from './flooding/flags.ts';
import type { NodeAddresses } from './kinds/attributes.ts';
import type { KindOptions, OwnEntry } from './kinds/kind.ts';
import type { IsisKinds } from './kinds/table.ts';
import type { LeakState } from './leaking/state.ts';
import type { ReceivedLsp } from './lsdb/content.ts';
import type { Graph } from './lsdb/graph.ts';
import type { Expansion, Lsdb, StoredLsp } from './lsdb/lsdb.ts';
import type { OwnLsps } from './own/own.ts';

/** Settings that may change while the speaker runs. */
export interface TunableConfig {
  readonly helloIntervalMs: number;
  readonly holdMultiplier: number;
  readonly lifetimeSeconds: number;
  readonly refreshSeconds: number;
  readonly holdUnreachableMs: number;
  /** Whether the topology is required (lsdb/topology.ts). */
  readonly reportsTopology?: boolean;
  /** HMAC-MD5 keys: hellos, level-1 LSPs and SNPs, level-2 LSPs and SNPs. */
  readonly keys: { readonly interface?: Uint8Array; readonly area?: Uint8Array; readonly domain?: Uint8Array };
}

export interface SpeakerConfig extends TunableConfig, KindOptions {
  /** 6 bytes. */
  readonly systemId: Uint8Array;
  readonly area: Uint8Array;
  readonly levels: readonly Level[];
  readonly hostname?: string;
  /** MTU of the interface; PDUs are at most 3 bytes (LLC) shorter. */
  readonly mtu: number;
  /** Extended local circuit ID (RFC 5303). */
  readonly circuitId: number;
  /**
   * First sequence number of every fragment. It is higher than any that an earlier run can have used, e.g. seconds
   * since a fixed date.
   */
  readonly startSequence: number;
  readonly seed: number;
  readonly lsdbLimit: number;
  /** Bytes available to a level's LSPs and what is learned from them. */
  readonly lsdbBytes: number;
  /** While it is recorded, or replayed. */
  readonly findings?: Findings | undefined;
}

export type SpeakerEvent =
  | { readonly type: 'link-up'; readonly linkLocal: IpAddress }
  | { readonly type: 'link-down'; readonly reason: string }
  /** One PDU without LLC. The speaker keeps the bytes: pass a copy. */
  | { readonly type: 'received'; readonly pdu: Uint8Array }
  | { readonly type: 'originate'; readonly origination: Origination }
  | { readonly type: 'configure'; readonly config: TunableConfig }
  | { readonly type: 'timer' }
  | { readonly type: 'stop' };

export type Effect =
  | { readonly type: 'send'; readonly pdu: Uint8Array }
  | { readonly type: 'learned'; readonly report: LearnedReport }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  | { readonly type: 'topology'; readonly areas: readonly AreaTopology[] }
  | Note
  /** Everything is withdrawn, or the time limit has passed. */
  | { readonly type: 'stopped'; readonly clean: boolean };

export interface LevelState extends FloodingFlags {
  readonly level: Level;
  readonly lsdb: Lsdb;
  readonly expansion: Expansion;
  /** Odd LSPs that would replace others, by key (doubt.ts). */
  readonly doubts: Map<string, Doubt>;
  readonly own: OwnLsps;
  readonly graph: Graph;
}

export interface Doubt {
  readonly pdu: ReceivedLsp;
  readonly until: number;
}

/** Systems that became reachable or unreachable in a level, or have been unreachable for the hold time. */
export interface SystemsChange {
  readonly found: readonly string[];
  readonly lost: readonly string[];
  readonly forgotten: readonly string[];
}

/** The subscribers to changes, in the order in which they are called (subscribers.ts). */
export interface Subscribers {
  /** An LSP of another system was replaced, added or removed; undefined: none, or a purge. */
  readonly lspChanged: readonly LspSubscriber[];
  /** The entries read from an unchanged LSP changed, or their meaning did. */
  readonly entriesChanged: readonly LspSubscriber[];
  readonly systemsChanged: readonly ((s: Speaker, level: LevelState, change: SystemsChange) => void)[];
}

export type LspSubscriber = (
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
) => void;

export interface Speaker {
  readonly counterPrefix: string;
  config: SpeakerConfig;
  readonly system: string;
  now: number;
  effects: Effect[];
  random: number;
  link: { readonly linkLocal: IpAddress } | undefined;
  helloAt: number;
  adjacency: Adjacency | undefined;
  /** When an adjacency was up the last time, before the one that is up now; -Infinity: never. */
  lastUp: number;
  readonly levels: ReadonlyMap<Level, LevelState>;
  readonly inbox: { hellos: Uint8Array[]; others: Uint8Array[]; taken: number };
  /** The kinds of advertisement of this router, with their encodings. */
  readonly kinds: IsisKinds;
  /** This router's own declarations, by key. */
  desired: ReadonlyMap<string, OwnEntry>;
  /** TLVs of fragment 0 besides the adjacency. */
  fragment0: readonly IsisTlv[];
  /** The addresses that identify this router in TLV 242: its loopbacks, else another own address. */
  identity: NodeAddresses;
  /** Declarations still to be placed in our LSP; undefined: to be removed from it. */
  readonly pending: Map<string, OwnEntry | undefined>;
  readonly leaking: LeakState;
  /**
   * When LSPs with our system ID that we do not originate are purged from. Not before the first declaration, or they
   * would flap at a restart.
   */
  purgeUnknownFrom: number;
  stopping: Stopping | undefined;
  readonly warned: Map<string, number>;
  readonly subscribers: Subscribers;
}
