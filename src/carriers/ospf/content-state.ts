// What the machine of content.ts is made of: its configuration, its events and effects, and its state.
import type { Note } from '../effects.ts';
import type { IpAddress } from '../../model/address.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import type { Entry, KindOptions } from './kinds/kind.ts';
import type { OspfKinds } from './kinds/table.ts';
import type { InterAreaState } from './leaking/state.ts';
import type { Graph } from './learning/graph.ts';
import type { Topology } from './learning/topology.ts';
import type { Placement } from './own/placement.ts';
import type { OwnLsa } from './version.ts';

export interface ContentConfig extends KindOptions {
  /** The carrier, and the prefix of its counters. */
  readonly name: 'ospfv2' | 'ospfv3';
  readonly areas: readonly { readonly areaId: number; /** Bytes of a body of our LSAs. */ readonly capacity: number }[];
  readonly holdUnreachableMs: number;
}

export type ContentEvent =
  /** The whole of what this router declares. */
  | { readonly type: 'declare'; readonly origination: Origination }
  /** As the core's effect of the same name. */
  | {
      readonly type: 'database';
      readonly areaId: number;
      readonly key: LsaKey;
      readonly lsa?: { readonly raw: Uint8Array };
    }
  /** The neighbour of an area is Full, or (undefined) none is any more. */
  | { readonly type: 'adjacency'; readonly areaId: number; readonly neighbor?: number }
  | { readonly type: 'configure'; readonly holdUnreachableMs: number }
  | { readonly type: 'timer' };

export type ContentEffect =
  /** The whole of what this router originates in an area, for the core. */
  | { readonly type: 'originate'; readonly areaId: number; readonly lsas: readonly OwnLsa[]; readonly more: boolean }
  | { readonly type: 'learned'; readonly report: LearnedReport }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  | Note;

/** What one LSA says, as far as cnpd cares. */
export interface LsaContent {
  readonly topology: Topology;
  /** Those of one kind behind each other. */
  readonly entries: readonly Entry[];
}

/** An LSA of another router, read. */
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
  /** Those LSAs by advertising router. */
  readonly routers: Map<number, Map<string, ReadLsa>>;
  /** Names of those routers, as originatorName has them: made once, they are compared ten thousand times. */
  readonly names: Map<number, string>;
  /**
   * Addresses that those routers have, for prefixes that name none (decision D6): a router may have thousands of both.
   */
  readonly addresses: Map<number, IpAddress | undefined>;
  /** Link-state IDs of the LSAs that list the same prefix of the same router; the lowest, which counts, first. */
  readonly claims: Map<string, number[]>;
  /** How many of the claims are of more than one LSA. */
  contested: number;
  /** LSAs to report again, because another LSA changes what they mean. */
  readonly outdated: Set<string>;
  readonly graph: Graph;
  /** Our LSAs, in the order of the LSAs of all kinds. */
  readonly placements: readonly Placement[];
  /** Entries that fit into none of our LSAs. */
  readonly unplaced: Map<string, Entry>;
  /** Since when our LSAs differ from those handed to the core; undefined: they do not. */
  changedAt: number | undefined;
}

/** Who hears of changes, in this order (subscribers.ts). */
export interface Subscribers {
  /** What is read of an LSA of another router takes the place of what was; undefined: nothing of interest. */
  readonly lsaChanged: readonly ((
    c: Content,
    area: AreaContent,
    before: ReadLsa | undefined,
    after: ReadLsa | undefined,
  ) => void)[];
  /** What an LSA advertises that counts is this now. */
  readonly entriesChanged: readonly ((c: Content, area: AreaContent, id: string, entries: readonly Entry[]) => void)[];
  /** Routers have become reachable or unreachable, or have been so for the hold time. */
  readonly routersChanged: readonly ((c: Content, area: AreaContent, routers: readonly number[]) => void)[];
  /** The area has a Full neighbour. */
  readonly neighborFound: readonly ((c: Content, area: AreaContent) => void)[];
}

export interface Content {
  readonly counterPrefix: string;
  readonly config: ContentConfig;
  readonly kinds: OspfKinds;
  holdUnreachableMs: number;
  now: number;
  effects: ContentEffect[];
  readonly areas: ReadonlyMap<number, AreaContent>;
  readonly declared: Map<string, Entry>;
  /** The rest of what was declared last, which is being compared with what was declared before. */
  declaring: Iterator<void> | undefined;
  /** How much is declared that this version of OSPF has no encoding for. */
  unsayable: number;
  /** LSAs that are not made of entries. */
  others: readonly OwnLsa[];
  readonly interArea: InterAreaState;
  readonly warned: Map<string, number>;
  readonly subscribers: Subscribers;
}
