// The speaker: `(state, event, now) → effects`. It never waits, reads a clock or touches a socket. carrier.ts executes
// the effects and sends a `timer` event when nextWake requires one. The same events at the same times have the same
// effects (recorder.test.ts).
import { log } from '../effects.ts';
import type { Level } from '../../packet/isis/types.ts';
import { dropAdjacency } from './adjacency/changes.ts';
import { sendHello } from './adjacency/interface.ts';
import { scopeOf } from './auth.ts';
import { START_GRACE_MS } from './constants.ts';
import { newFlags } from './flooding/flags.ts';
import { enqueue } from './inbox.ts';
import { ISIS_KINDS, type IsisKinds } from './kinds/table.ts';
import { newLeakState } from './leaking/state.ts';
import { newGraph } from './lsdb/graph.ts';
import { graphChanged } from './lsdb/reachability.ts';
import { endReports } from './lsdb/topology.ts';
import { newExpansion, newLsdb } from './lsdb/lsdb.ts';
import { replaceAll } from './own/origination.ts';
import { markDirty, newOwnLsps } from './own/own.ts';
import { newPlacement } from './own/placement.ts';
import { setDesired } from './own/desired.ts';
import type { Effect, LevelState, Speaker, SpeakerConfig, SpeakerEvent, TunableConfig } from './state.ts';
import { beginStop, checkStop } from './stopping.ts';
import { SUBSCRIBERS } from './subscribers.ts';
import { runDue } from './tasks.ts';

export function createSpeaker(config: SpeakerConfig, system: string, kinds = ISIS_KINDS): Speaker {
  return {
    counterPrefix: 'isis',
    config,
    system,
    now: 0,
    effects: [],
    random: config.seed >>> 0,
    link: undefined,
    helloAt: Infinity,
    adjacency: undefined,
    lastUp: -Infinity,
    levels: new Map(config.levels.map((level) => [level, newLevel(level, config, kinds)])),
    inbox: { hellos: [], others: [], taken: 0 },
    kinds,
    desired: new Map(),
    fragment0: [],
    identity: {},
    pending: new Map(),
    leaking: newLeakState(),
    purgeUnknownFrom: Infinity,
    stopping: undefined,
    warned: new Map(),
    subscribers: SUBSCRIBERS,
  };
}

function newLevel(level: Level, config: SpeakerConfig, kinds: IsisKinds): LevelState {
  return {
    level,
    lsdb: newLsdb(config.lsdbLimit, config.lsdbBytes),
    expansion: newExpansion(),
    doubts: new Map(),
    own: newOwnLsps(newPlacement(kinds)),
    graph: newGraph(),
    ...newFlags(),
  };
}

type Handlers = {
  readonly [K in SpeakerEvent['type']]: (s: Speaker, event: Extract<SpeakerEvent, { type: K }>) => void;
};

const HANDLERS: Handlers = {
  'link-up': (s, { linkLocal }) => {
    s.link = { linkLocal };
    s.purgeUnknownFrom = Math.min(s.purgeUnknownFrom, s.now + START_GRACE_MS);
    for (const { own } of s.levels.values()) markDirty(own, 0, s.now);
    sendHello(s);
  },
  'link-down': (s, { reason }) => {
    s.link = undefined;
    s.helloAt = Infinity;
    dropAdjacency(s, reason);
  },
  received: (s, { pdu }) => {
    if (s.link) enqueue(s, pdu);
  },
  originate: (s, { origination }) => {
    if (s.stopping) return;
    s.purgeUnknownFrom = s.now;
    setDesired(s, origination);
  },
  configure: (s, { config }) => configure(s, config),
  timer: runDue,
  stop: beginStop,
};

/** Handles one event. `now` is in milliseconds and never decreases. @returns the effects to execute, in order */
export function handle(s: Speaker, event: SpeakerEvent, now: number): Effect[] {
  s.now = now;
  s.effects = [];
  (HANDLERS[event.type] as (s: Speaker, event: SpeakerEvent) => void)(s, event);
  checkStop(s);
  return s.effects;
}

const SCOPES = ['interface', 'area', 'domain'] as const;

/**
 * New timers apply from the next hello and the next issue on. New keys apply at once: every LSP of ours is signed
 * again.
 */
function configure(s: Speaker, config: TunableConfig): void {
  const before = s.config;
  const { helloIntervalMs, holdMultiplier, lifetimeSeconds, refreshSeconds, holdUnreachableMs, keys } = config;
  const { reportsTopology = false } = config;
  s.config = {
    ...before,
    ...{ helloIntervalMs, holdMultiplier, lifetimeSeconds, refreshSeconds, holdUnreachableMs, reportsTopology, keys },
  };
  if (reportsTopology !== (before.reportsTopology ?? false)) topologyAsked(s);
  const changed = SCOPES.filter(
    (scope) => Buffer.compare(before.keys[scope] ?? EMPTY, config.keys[scope] ?? EMPTY) !== 0,
  );
  for (const level of s.levels.values()) {
    if (changed.includes(scopeOf(level.level)) || before.lifetimeSeconds !== config.lifetimeSeconds)
      replaceAll(s, level);
  }
  if (s.link) sendHello(s);
  if (changed.length > 0) log(s, 'info', { scopes: changed }, 'authentication keys changed');
}

/** The topology is required from now on, or no longer. */
function topologyAsked(s: Speaker): void {
  if (!s.config.reportsTopology) return endReports(s);
  for (const level of s.levels.values()) graphChanged(s, level);
}

const EMPTY = new Uint8Array(0);
