// The speaker: `(state, event, now) → effects`. Nothing in here waits, reads a clock or touches a socket. carrier.ts
// carries the effects out and sends a `timer` event when nextWake says so; a stream of events kept by recorder.ts
// replays a run exactly.
import { log } from '../effects.ts';
import { dropAdjacency } from './adjacency.ts';
import { START_GRACE_MS } from './constants.ts';
import { enqueue } from './inbox.ts';
import { sendHello } from './interface.ts';
import { markDirty } from './own.ts';
import { replaceAll } from './origination.ts';
import { type Effect, type Speaker, type SpeakerEvent, type TunableConfig } from './speaker.ts';
import { beginStop, checkStop } from './stopping.ts';
import { runDue } from './tasks.ts';
import { setWanted } from './wanted.ts';

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
    setWanted(s, origination);
  },
  configure: (s, { config }) => configure(s, config),
  timer: runDue,
  stop: beginStop,
};

/** Hands one event to the speaker. `now` in milliseconds, never going back. @returns what to do, in order */
export function handle(s: Speaker, event: SpeakerEvent, now: number): Effect[] {
  s.now = now;
  s.effects = [];
  (HANDLERS[event.type] as (s: Speaker, event: SpeakerEvent) => void)(s, event);
  checkStop(s);
  return s.effects;
}

const SCOPES = ['interface', 'area', 'domain'] as const;

/**
 * New timers count from the next hello and the next issue on; new keys are used at once, and every LSP of ours is
 * signed anew.
 */
function configure(s: Speaker, config: TunableConfig): void {
  const before = s.config;
  const { helloIntervalMs, holdMultiplier, lifetimeSeconds, refreshSeconds, holdUnreachableMs, keys } = config;
  s.config = { ...before, helloIntervalMs, holdMultiplier, lifetimeSeconds, refreshSeconds, holdUnreachableMs, keys };
  const changed = SCOPES.filter(
    (scope) => Buffer.compare(before.keys[scope] ?? EMPTY, config.keys[scope] ?? EMPTY) !== 0,
  );
  for (const level of s.levels.values()) {
    if (changed.includes(level.level === 1 ? 'area' : 'domain') || before.lifetimeSeconds !== config.lifetimeSeconds)
      replaceAll(s, level);
  }
  if (s.link) sendHello(s);
  if (changed.length > 0) log(s, 'info', { scopes: changed }, 'authentication keys changed');
}

const EMPTY = new Uint8Array(0);
