// What OSPF says for cnpd and what cnpd learns from it, beside the core that moves LSAs: `(content, event, now) →
// effects`, in the same manner and for both versions. Declarations become LSAs (origination.ts, placement.ts), LSAs of
// others become reports (learning.ts), links become reachability (reachability.ts), and an agent in several areas
// carries between them (carrying.ts).
import type { Note } from '../effects.ts';
import type { IpAddress } from '../../model/address.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { PrivateTypes } from '../../packet/ospf/lsa.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import { type CarryState, newCarryState } from './carrying.ts';
import { runDue } from './content-tasks.ts';
import type { Dialect, LsaContent } from './dialect.ts';
import type { Entry } from './entries.ts';
import { databaseChanged } from './learning.ts';
import { declare, issueDue } from './origination.ts';
import { type Placement, newPlacement } from './placement.ts';
import { type Graph, adjacencyChanged, newGraph } from './reachability.ts';
import type { OwnLsa } from './version.ts';

export interface ContentConfig {
  readonly dialect: Dialect;
  /** The carrier, and the prefix of its counters. */
  readonly name: 'ospfv2' | 'ospfv3';
  readonly routerId: number;
  readonly areas: readonly { readonly areaId: number; /** Bytes of a body of our LSAs. */ readonly room: number }[];
  /** Bit of the Prefix Extended Flags that is the P-flag. */
  readonly pncFlagBit: number;
  /** Endpoint behaviours of the SIDs to learn. */
  readonly sidBehaviors: readonly number[];
  readonly privateTypes: PrivateTypes;
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
  /** The whole of what this router says in an area, for the core. */
  | { readonly type: 'originate'; readonly areaId: number; readonly lsas: readonly OwnLsa[]; readonly more: boolean }
  | { readonly type: 'learned'; readonly report: LearnedReport }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  | Note;

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
  /** LSAs to report again, because what another one says changes what they say. */
  readonly outdated: Set<string>;
  readonly graph: Graph;
  /** Our LSAs by sort. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** Entries that our LSAs have no room for. */
  readonly homeless: Map<string, Entry>;
  /** Since when our LSAs are not what the core was told; undefined: they are. */
  changedAt: number | undefined;
}

export interface Content {
  readonly counterPrefix: string;
  readonly config: ContentConfig;
  holdUnreachableMs: number;
  now: number;
  effects: ContentEffect[];
  readonly areas: ReadonlyMap<number, AreaContent>;
  readonly declared: Map<string, Entry>;
  /** The rest of what was declared last, which is being compared with what was declared before. */
  declaring: Iterator<void> | undefined;
  /** Declared, but of a kind that this version of OSPF cannot say. */
  unsayable: number;
  others: readonly OwnLsa[];
  readonly carry: CarryState;
  readonly warned: Map<string, number>;
}

export function createContent(config: ContentConfig): Content {
  const areas = config.areas.map(({ areaId, room }): [number, AreaContent] => [areaId, newArea(config, areaId, room)]);
  return {
    counterPrefix: config.name,
    config,
    holdUnreachableMs: config.holdUnreachableMs,
    now: 0,
    effects: [],
    areas: new Map(areas),
    declared: new Map(),
    declaring: undefined,
    unsayable: 0,
    others: [],
    carry: newCarryState(),
    warned: new Map(),
  };
}

const newArea = ({ dialect, privateTypes }: ContentConfig, areaId: number, room: number): AreaContent => ({
  areaId,
  name: formatId(areaId),
  lsas: new Map(),
  routers: new Map(),
  names: new Map(),
  addresses: new Map(),
  claims: new Map(),
  contested: 0,
  outdated: new Set(),
  graph: newGraph(),
  placements: new Map(
    Object.entries(dialect.sorts).map(([name, sort]) => [name, newPlacement(sort, sort.firstId(privateTypes), room)]),
  ),
  homeless: new Map(),
  changedAt: undefined,
});

/**
 * Hands one event over. `now` in milliseconds, never going back.
 * @returns what to do, in order
 * @throws RangeError when the event names an area that is not configured
 */
export function handleContent(c: Content, event: ContentEvent, now: number): ContentEffect[] {
  c.now = now;
  c.effects = [];
  if (event.type === 'declare') {
    declare(c, event.origination);
    issueDue(c);
  } else if (event.type === 'configure') c.holdUnreachableMs = event.holdUnreachableMs;
  else if (event.type === 'timer') runDue(c);
  else {
    const area = c.areas.get(event.areaId);
    if (!area) throw new RangeError(`area ${event.areaId} is not configured`);
    if (event.type === 'database') databaseChanged(c, area, event.key, event.lsa);
    else adjacencyChanged(c, area, event.neighbor);
  }
  return c.effects;
}

/** The name under which the learned table knows a router: it may be reachable in one area and not in another. */
export function originatorName({ name, names, routers }: AreaContent, routerId: number): string {
  const known = names.get(routerId);
  if (known !== undefined) return known;
  const made = `${name} ${formatId(routerId)}`;
  if (routers.has(routerId)) names.set(routerId, made);
  return made;
}

/**
 * Where notices for a prefix go (decision D6): its own sub-TLV, else the router's address for traffic engineering, else
 * a host address of the router.
 */
export function proxyOf(area: AreaContent, router: number, own: IpAddress | undefined): IpAddress | undefined {
  if (own || area.addresses.has(router)) return own ?? area.addresses.get(router);
  const address = addressOf([...(area.routers.get(router)?.values() ?? [])]);
  if (area.routers.has(router)) area.addresses.set(router, address);
  return address;
}

const addressOf = (lsas: readonly ReadLsa[]): IpAddress | undefined =>
  lsas.find(({ content }) => content.routerAddress)?.content.routerAddress ??
  lsas.find(({ content }) => content.hostAddress)?.content.hostAddress;
