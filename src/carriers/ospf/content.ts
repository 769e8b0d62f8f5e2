// What cnpd advertises in OSPF and learns from it, beside the core that floods LSAs: `(content, event, now) → effects`,
// the same code for both versions. Declarations become LSAs (origination.ts, placement.ts). LSAs of others are read
// (reading.ts). Subscribers (subscribers.ts) turn changes into reports (learning.ts), reachability (reachability.ts),
// and copies from one area to another (leaking.ts). Everything specific to one kind of advertisement is in its row in
// kinds/.
import { formatId } from '../../packet/ospf/router-id.ts';
import type { OspfKind } from './kinds/kind.ts';
import { OSPF_ROWS, OspfKinds } from './kinds/table.ts';
import { newInterAreaState } from './leaking/state.ts';
import { runDue } from './content-tasks.ts';
import { databaseChanged } from './learning/reading.ts';
import { declare, issueDue } from './own/origination.ts';
import { newPlacement } from './own/placement.ts';
import { newGraph } from './learning/graph.ts';
import { adjacencyChanged } from './learning/reachability.ts';
import { setReports } from './learning/topology-report.ts';
import { SUBSCRIBERS } from './subscribers.ts';
import type { ContentConfig, Content, AreaContent, ContentEvent, ContentEffect } from './content-state.ts';

/** @param rows the kinds of advertisement */
export function createContent(config: ContentConfig, rows: readonly OspfKind[] = OSPF_ROWS): Content {
  const kinds = new OspfKinds(config.version, rows);
  const areas = config.areas.map(({ areaId, capacity }): [number, AreaContent] => [
    areaId,
    newArea(kinds, config, areaId, capacity),
  ]);
  return {
    counterPrefix: config.name,
    config,
    kinds,
    holdUnreachableMs: config.holdUnreachableMs,
    reportsTopology: config.reportsTopology ?? false,
    now: 0,
    effects: [],
    areas: new Map(areas),
    declared: new Map(),
    declaring: undefined,
    unencodable: 0,
    others: [],
    interArea: newInterAreaState(),
    warned: new Map(),
    subscribers: SUBSCRIBERS,
  };
}

const newArea = (
  { lsas }: OspfKinds,
  { privateTypes }: ContentConfig,
  areaId: number,
  capacity: number,
): AreaContent => ({
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
  placements: lsas.map((lsa) => newPlacement(lsa, privateTypes, capacity)),
  unplaced: new Map(),
  changedAt: undefined,
});

/**
 * Handles one event. `now` is in milliseconds and never decreases.
 * @returns the effects, in order
 * @throws RangeError if the event names an area that is not configured
 */
export function handleContent(c: Content, event: ContentEvent, now: number): ContentEffect[] {
  c.now = now;
  c.effects = [];
  if (event.type === 'declare') {
    declare(c, event.origination);
    issueDue(c);
  } else if (event.type === 'configure') {
    c.holdUnreachableMs = event.holdUnreachableMs;
    setReports(c, event.reportsTopology ?? false);
  } else if (event.type === 'timer') runDue(c);
  else {
    const area = c.areas.get(event.areaId);
    if (!area) throw new RangeError(`area ${event.areaId} is not configured`);
    if (event.type === 'database') databaseChanged(c, area, event.key, event.lsa);
    else adjacencyChanged(c, area, event.neighbor);
  }
  return c.effects;
}
