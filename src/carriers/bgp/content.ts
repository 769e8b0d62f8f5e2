// What cnpd advertises in BGP and learns from it: `(content, event, now) → effects`. Nothing in here waits, reads
// a clock or talks to gobgpd: carrier.ts carries the effects out and sends a `timer` event when tasks.ts needs one.
// Declarations become paths (origination.ts), which own.ts keeps in gobgpd; what gobgpd has becomes readings
// (reading.ts) and reports (learning.ts). Work of unknown size is done a slice a turn.
import { count, log, warnLimited } from '../effects.ts';
import { formatPrefix } from '../../model/prefix.ts';
import { RETRY_MS, STOP_LIMIT_MS } from './constants.ts';
import { looked, runEcho } from './own/echo.ts';
import { BGP_KINDS } from './kinds/table.ts';
import { newLearnState } from './learning/state.ts';
import { holdAll, routeReported, emitReachability } from './learning/learning.ts';
import { declare } from './own/origination.ts';
import { newOwnState } from './own/state.ts';
import {
  audit,
  beginListing,
  endListing,
  ownCounts,
  ownDone,
  ownReported,
  takeChanges,
  desireNothing,
} from './own/own.ts';
import { runDue } from './tasks.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent, Session } from './state.ts';

export function createContent(config: ContentConfig, now: number, kinds = BGP_KINDS): Content {
  return {
    counterPrefix: 'bgp',
    kinds,
    config,
    now,
    effects: [],
    session: {
      state: 'connecting',
      about: undefined,
      without: [],
      since: now,
      reason: 'not connected yet',
      fault: 'other',
      retryAt: now,
    },
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
  connected(c, { about }) {
    c.session.about = about;
    c.learning.members = new Set();
    enter(c, 'loading', 'reading what gobgpd has');
    beginListing(c.own);
    count(c, 'session.connected');
  },
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
  listed(c, { without = [] }) {
    c.session.without = without;
    endListing(c.own, true);
    enter(c, 'ready', 'connected');
    if (c.origination || c.stopping) c.own.audit = audit(c);
  },
  lost(c, { fault: { code, reason }, retryAt }) {
    const { session } = c;
    if (session.state === 'loading' || session.state === 'ready') {
      count(c, 'session.lost');
      log(c, 'warn', { reason }, 'connection to gobgpd lost');
    }
    endListing(c.own, false);
    c.refusal = undefined;
    enter(c, 'waiting', reason);
    session.fault = code;
    session.retryAt = retryAt;
    holdAll(c);
  },
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
  stop(c) {
    if (c.stopping) return;
    c.stopping = { deadline: c.now + STOP_LIMIT_MS, done: false };
    c.declaring = undefined;
    desireNothing(c.own);
    c.own.retryAt = -Infinity;
    c.own.audit = audit(c);
  },
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

function enter(c: Content, state: Session['state'], reason: string): void {
  // Attempts that fail come and go: what matters is since when gobgpd can be used, or cannot.
  if ((c.session.state === 'ready') !== (state === 'ready')) c.session.since = c.now;
  c.session.state = state;
  c.session.reason = reason;
}

/** Without a connection there is nobody to ask; with one, everything of ours has to be found first. */
function checkStop(c: Content): void {
  const { stopping, session, own } = c;
  if (!stopping || stopping.done) return;
  const clean = session.state === 'ready' && !own.audit && own.dirty.length === 0 && !own.busy;
  const nobody = session.state === 'connecting' || session.state === 'waiting';
  if (!clean && !nobody && c.now < stopping.deadline) return;
  stopping.done = true;
  const { put } = ownCounts(own);
  if (!clean && put > 0)
    log(c, 'warn', { paths: put }, 'stopped before gobgpd removed our paths: the next run removes them');
  c.effects.push({ type: 'stopped', clean });
}
