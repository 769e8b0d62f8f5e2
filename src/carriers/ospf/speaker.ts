// The OSPF core: `(state, event, now) → effects`, for both versions. It never waits, reads no clock and touches no
// socket: an edge carries the effects out and sends a `timer` event at the time that nextWake returns.
import { START_GRACE_MS, START_LIMIT_MS } from './constants.ts';
import { enqueue } from './inbox.ts';
import { newLsdb } from './lsdb/lsdb.ts';
import { linkDown, sendHello } from './neighbor/interface.ts';
import { flushUnknownBy, setDesired } from './own/own.ts';
import { newOwnState } from './own/state.ts';
import { topologyChanged } from './own/topology.ts';
import type { AreaConfig, AreaState, Effect, Speaker, SpeakerConfig, SpeakerEvent } from './state.ts';
import { beginStop, checkStop } from './stopping.ts';
import { runDue } from './tasks.ts';

export function createSpeaker(config: SpeakerConfig): Speaker {
  return {
    counterPrefix: config.version.name,
    config,
    now: 0,
    effects: [],
    random: config.seed >>> 0,
    areas: new Map(config.areas.map((area) => [area.areaId, newArea(area, config)])),
    authenticationSequence: 0n,
    stopping: undefined,
    warned: new Map(),
  };
}

const newArea = (config: AreaConfig, { lsdbLimit }: SpeakerConfig): AreaState => ({
  config,
  link: undefined,
  helloAt: Infinity,
  neighbor: undefined,
  refused: undefined,
  adjacent: undefined,
  lsdb: newLsdb(lsdbLimit),
  own: newOwnState(),
  inbox: [],
});

type AreaEvent = Extract<SpeakerEvent, { readonly areaId: number }>;
type Handlers = {
  readonly [K in AreaEvent['type']]: (s: Speaker, area: AreaState, event: Extract<AreaEvent, { type: K }>) => void;
};

const HANDLERS: Handlers = {
  'link-up': (s, area, { address, peer }) => {
    area.link = { address, peer };
    flushUnknownBy(area, s.now + START_LIMIT_MS);
    topologyChanged(s, area);
    sendHello(s, area);
  },
  'link-down': (s, area, { reason }) => linkDown(s, area, reason),
  received: (s, area, { payload, addresses }) => {
    if (area.link) enqueue(s, area, payload, addresses);
  },
  originate: (s, area, { lsas, more }) => {
    if (!s.stopping) setDesired(s, area, lsas, more);
  },
  keys: (_s, area, { keys }) => {
    area.config = { ...area.config, keys };
  },
};

/**
 * Handles one event. `now` is in milliseconds and never decreases.
 * @returns the effects, in order
 * @throws RangeError if the event names an area that is not configured
 */
export function handle(s: Speaker, event: SpeakerEvent, now: number): Effect[] {
  s.now = now;
  s.effects = [];
  if (event.type === 'timer') runDue(s);
  else if (event.type === 'stop') beginStop(s);
  else {
    const area = s.areas.get(event.areaId);
    if (!area) throw new RangeError(`area ${event.areaId} is not configured`);
    (HANDLERS[event.type] as (s: Speaker, area: AreaState, event: AreaEvent) => void)(s, area, event);
  }
  for (const area of s.areas.values()) emitAdjacency(s, area);
  checkStop(s);
  return s.effects;
}

function emitAdjacency(s: Speaker, area: AreaState): void {
  const { neighbor, config } = area;
  const adjacent = neighbor?.state === 'full' ? neighbor.routerId : undefined;
  if (adjacent === area.adjacent) return;
  area.adjacent = adjacent;
  s.effects.push({ type: 'adjacency', areaId: config.areaId, neighbor: adjacent });
  const all = [...s.areas.values()];
  if (all.every((each) => each.adjacent !== undefined))
    for (const each of all) flushUnknownBy(each, s.now + START_GRACE_MS);
}
