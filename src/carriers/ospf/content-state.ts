// The data of the state machine in content.ts: its configuration, its events and effects, and its state.
import type { Note } from '../effects.ts';
import type { IpAddress } from '../../model/address.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { AreaTopology } from '../../model/topology.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import type { Entry, KindOptions } from './kinds/kind.ts';
import type { OspfKinds } from './kinds/table.ts';
import type { InterAreaState } from './leaking/state.ts';
import type { Graph } from './learning/graph.ts';
import type { Topology } from './learning/topology.ts';
import type { Placement } from './own/placement.ts';
import type { OwnLsa } from './version.ts';

export interface ContentConfig extends KindOptions {
  /** The carrier's name, and the prefix of its counters. */
  readonly name: 'ospfv2' | 'ospfv3';
  readonly areas: readonly {
    readonly areaId: number;
    /** Bytes of the body of one of our LSAs. */ readonly capacity: number;
  }[];
  readonly holdUnreachableMs: number;
  /** Whether the topology is required (learning/topology-report.ts). */
  readonly reportsTopology?: boolean;
}

export type ContentEvent =
  /** Everything that this router declares. */
  | { readonly type: 'declare'; readonly origination: Origination }
  /** Like the core's effect of the same name. */
  | {
      readonly type: 'database';
      readonly areaId: number;
      readonly key: LsaKey;
      readonly lsa?: { readonly raw: Uint8Array };
    }
  /** The neighbor of an area is Full; undefined: no neighbor is Full any more. */
  | { readonly type: 'adjacency'; readonly areaId: number; readonly neighbor?: number }
  | { readonly type: 'configure'; readonly holdUnreachableMs: number; readonly reportsTopology?: boolean }
  | { readonly type: 'timer' };

export type ContentEffect =
  /** For the core: everything that this router originates in an area. */
  | { readonly type: 'originate'; readonly areaId: number; readonly lsas: readonly OwnLsa[]; readonly more: boolean }
  | { readonly type: 'learned'; readonly report: LearnedReport }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  | { readonly type: 'topology'; readonly areas: readonly AreaTopology[] }
  | Note;

/** The parts of an LSA that cnpd uses. */
export interface LsaContent {
  readonly topology: Topology;
  /** Entries of one kind are adjacent. */
  readonly entries: readonly Entry[];
}

/** What was read of another router's LSA. */
export interface ReadLsa {
  readonly id: string;
  readonly key: LsaKey;
  readonly content: LsaContent;
}

export interface AreaContent {
  readonly areaId: number;
  /** Dotted quad. */
  readonly name: string;
  /** By lsaKeyText. */
  readonly lsas: Map<string, ReadLsa>;
  /** The same LSAs by advertising router. */
  readonly routers: Map<number, Map<string, ReadLsa>>;
  /** Names of those routers, as from originatorName. Each is made once, because it is compared ten thousand times. */
  readonly names: Map<number, string>;
  /**
   * Addresses of those routers, for prefixes that name no proxy (decision D6). A router may have thousands of addresses
   * and of prefixes.
   */
  readonly addresses: Map<number, IpAddress | undefined>;
  /** Link-state IDs of the LSAs in which a router lists the same prefix, in ascending order. The lowest one is used. */
  readonly claims: Map<string, number[]>;
  /** How many of the claims involve more than one LSA. */
  contested: number;
  /** LSAs to report again because another LSA changes their meaning. */
  readonly outdated: Set<string>;
  readonly graph: Graph;
  /** Our LSAs, in the order of OspfKinds.lsas. */
  readonly placements: readonly Placement[];
  /** Entries that do not fit into any of our LSAs. */
  readonly unplaced: Map<string, Entry>;
  /** When our LSAs began to differ from those handed to the core; undefined: they do not differ. */
  changedAt: number | undefined;
}

/** Functions that are called after changes, in this order (subscribers.ts). */
export interface Subscribers {
  /** Another router's LSA was read: what was read before, and now. Undefined: nothing of interest. */
  readonly lsaChanged: readonly ((
    c: Content,
    area: AreaContent,
    before: ReadLsa | undefined,
    after: ReadLsa | undefined,
  ) => void)[];
  /** These are now the entries of an LSA that are used. */
  readonly entriesChanged: readonly ((c: Content, area: AreaContent, id: string, entries: readonly Entry[]) => void)[];
  /** Routers have become reachable or unreachable, or their hold time has expired. */
  readonly routersChanged: readonly ((c: Content, area: AreaContent, routers: readonly number[]) => void)[];
  /** The area has a Full neighbor. */
  readonly neighborFound: readonly ((c: Content, area: AreaContent) => void)[];
}

export interface Content {
  readonly counterPrefix: string;
  readonly config: ContentConfig;
  readonly kinds: OspfKinds;
  holdUnreachableMs: number;
  reportsTopology: boolean;
  now: number;
  effects: ContentEffect[];
  readonly areas: ReadonlyMap<number, AreaContent>;
  readonly declared: Map<string, Entry>;
  /** The remaining steps of the latest declaration, which is being compared with the previous one. */
  declaring: Iterator<void> | undefined;
  /** How many declared advertisements this version of OSPF cannot encode. */
  unencodable: number;
  /** Our LSAs that do not consist of entries. */
  others: readonly OwnLsa[];
  readonly interArea: InterAreaState;
  readonly warned: Map<string, number>;
  readonly subscribers: Subscribers;
}
