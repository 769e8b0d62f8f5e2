// What cnpd advertises in BGP and learns from it: `(content, event, now) → effects`. Nothing in here waits, reads
// a clock or talks to gobgpd: carrier.ts carries the effects out and sends a `timer` event when tasks.ts needs one.
// Declarations become paths (origination.ts), which own.ts keeps in gobgpd; what gobgpd has becomes readings
// (reading.ts) and reports (learning.ts). Work of unknown size is done a slice a turn.
import { warnLimited } from '../effects.ts';
import { formatPrefix } from '../../model/prefix.ts';
import { RETRY_MS, STOP_LIMIT_MS } from './constants.ts';
import { looked, runEcho } from './own/echo.ts';
import { BGP_KINDS } from './kinds/table.ts';
import { newLearnState } from './learning/state.ts';
import { emitReachability, routeReported } from './learning/learning.ts';
import { declare } from './own/origination.ts';
import { newOwnState } from './own/state.ts';
import { ownDone, ownReported, takeChanges } from './own/own.ts';
import { connected, listed, lost } from './session/session.ts';
import { newSession } from './session/state.ts';
import { checkStop, stop } from './session/stopping.ts';
import { runDue } from './tasks.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent } from './state.ts';

export function createContent(config: ContentConfig, now: number, kinds = BGP_KINDS): Content {
  return {
    counterPrefix: 'bgp',
    kinds,
    config,
    now,
    effects: [],
    session: newSession(now),
    origination: undefined,
    declaring: undefined,
    unplaced: 0,
    own: newOwnState(),
    refusal: undefined,
    learning: newLearnState(kinds, config),
    warned: new Map(),
    stopping: undefined,
  };
}

type Handlers = {
  readonly [K in ContentEvent['type']]: (c: Content, event: Extract<ContentEvent, { type: K }>) => void;
};

const HANDLERS: Handlers = {
  declare(c, { origination }) {
    if (c.stopping) return;
    c.origination = origination;
    c.declaring = declare(c, origination);
  },
  configure(c, { changes }) {
    c.config = { ...c.config, ...changes };
    if (c.origination && !c.stopping) c.declaring = declare(c, c.origination);
  },
  connected,
  routes(c, { routes }) {
    const before = c.effects;
    c.effects = [];
    for (const route of routes) {
      const text = formatPrefix(route.prefix);
      ownReported(c, text, route);
      routeReported(c, text, route);
    }
    const reports = c.effects;
    c.effects = before;
    emitReachability(c);
    c.effects = c.effects.concat(reports);
  },
  listed,
  lost,
  done(c, { changes, failure }) {
    ownDone(c, changes, failure === undefined);
    if (c.session.state === 'ready') c.refusal = failure;
    if (failure !== undefined && c.session.state === 'ready') {
      c.own.retryAt = c.now + RETRY_MS;
      warnLimited(c, 'own.refused', { reason: failure.reason }, 'gobgpd refused our paths: they are retried');
    }
    if (c.stopping && failure === undefined) c.stopping.deadline = c.now + STOP_LIMIT_MS;
  },
  looked: (c, { prefixes, failure }) => looked(c, prefixes, failure),
  stop,
  timer: runDue,
};

/** Hands one event over. `now` in milliseconds, never going back. @returns what to do, in order */
export function handleContent(c: Content, event: ContentEvent, now: number): ContentEffect[] {
  c.now = now;
  c.effects = [];
  (HANDLERS[event.type] as (c: Content, event: ContentEvent) => void)(c, event);
  const changes = takeChanges(c);
  if (changes) c.effects.push({ type: 'change', changes });
  const prefixes = runEcho(c);
  if (prefixes) c.effects.push({ type: 'look', prefixes });
  checkStop(c);
  return c.effects;
}
