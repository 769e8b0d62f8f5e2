// What happens to the session with gobgpd: connected, everything listed, lost. While it is loading, what gobgpd lists
// is compared with what we had before. When it is lost, what was learned is held.
import { count, log } from '../../effects.ts';
import { holdAll } from '../learning/learning.ts';
import { audit, beginListing, endListing } from '../own/own.ts';
import type { Content, ContentEvent } from '../state.ts';
import type { Session } from './state.ts';

type Of<T extends ContentEvent['type']> = Extract<ContentEvent, { type: T }>;

export function connected(c: Content, { about }: Of<'connected'>): void {
  c.session.about = about;
  c.learning.members = new Set();
  enter(c, 'loading', 'reading what gobgpd has');
  beginListing(c.own);
  count(c, 'session.connected');
}

export function listed(c: Content, { without = [] }: Of<'listed'>): void {
  c.session.without = without;
  endListing(c.own, true);
  enter(c, 'ready', 'connected');
  log(c, 'info', { event: 'bgp.session.up' }, 'gobgpd is ready');
  if (c.origination || c.stopping) c.own.audit = audit(c);
}

export function lost(c: Content, { fault: { code, reason }, retryAt }: Of<'lost'>): void {
  const { session } = c;
  if (session.state === 'loading' || session.state === 'ready') {
    count(c, 'session.lost');
    log(c, 'warn', { event: 'bgp.session.down', reason }, 'connection to gobgpd lost');
  }
  endListing(c.own, false);
  c.refusal = undefined;
  enter(c, 'waiting', reason);
  session.fault = code;
  session.retryAt = retryAt;
  holdAll(c);
}

function enter(c: Content, state: Session['state'], reason: string): void {
  // Attempts that fail come and go: what matters is since when gobgpd can be used, or cannot.
  if ((c.session.state === 'ready') !== (state === 'ready')) c.session.since = c.now;
  c.session.state = state;
  c.session.reason = reason;
}
