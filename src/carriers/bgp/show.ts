// The carrier's state as the northbound shows it: text and plain numbers.
import { formatAddress } from '../../model/address.ts';
import type { BgpPathState, BgpSession, BgpSessionState } from '../../model/carrier-state.ts';
import { characteristicCodes, readCharacteristics } from '../../packet/bgp/characteristics.ts';
import { decodeNhc } from '../../packet/bgp/nhc.ts';
import { type Moment, timestamp } from '../dependencies.ts';
import type { Content } from './state.ts';
import type { GobgpPath, PolicyReport } from './gobgp/gobgp.ts';
import type { ShownEntries } from './kinds/kind.ts';
import { listOf, sourceOf } from './learning/learning.ts';
import type { Own } from './own/state.ts';
import { ownCounts } from './own/own.ts';
import { type Entries, type Reading, readEntries } from './learning/reading.ts';

/** What the client knows. */
export interface Connection {
  readonly policy: PolicyReport;
  readonly silentMs: number;
}

/** gobgpd is expected to answer within this time; one that has not is named. Milliseconds. */
const PATIENCE_MS = 2000;

export function sessionState(c: Content, target: string, moment: Moment, { policy, silentMs }: Connection): BgpSession {
  const { session, learning } = c;
  const own = ownIn(c);
  return {
    target,
    ...stateOf(c, own, silentMs, moment),
    ...(silentMs >= PATIENCE_MS && { silent: Math.floor(silentMs / 1000) }),
    policy: policy.state,
    ...(policy.state === 'failed' && {
      policyReason: policy.reason,
      policyFault: policy.fault,
      policyNameTaken: policy.nameTaken,
    }),
    api: session.about?.api ?? null,
    as: session.about?.as ?? null,
    routerId: session.about?.routerId ?? null,
    since: timestamp(session.since, moment),
    ...own,
    ...(session.state === 'waiting' && { fault: session.fault }),
    ...(c.refusal !== undefined && { refusal: c.refusal.reason, refusalFault: c.refusal.code }),
    learned: learning.paths,
    withProxy: learning.used,
  };
}

/** There is no event when an attempt begins: it begins when its time has come. */
function stateOf(
  { session, refusal }: Content,
  { dropped }: Pick<BgpSessionState, 'dropped'>,
  silentMs: number,
  { now }: Moment,
): Pick<BgpSessionState, 'state' | 'reason'> {
  const { state, reason, retryAt } = session;
  if (state === 'waiting' && now >= retryAt) return { state: 'connecting', reason: `${reason}; tries again now` };
  if (state === 'waiting') return { state, reason: `${reason}; tries again in ${Math.ceil((retryAt - now) / 1000)} s` };
  if (state === 'ready' && silentMs >= PATIENCE_MS)
    return { state, reason: `gobgpd does not answer (for ${Math.floor(silentMs / 1000)} s)` };
  if (refusal !== undefined) return { state, reason: `${reason}, and gobgpd refuses cnpd's paths: ${refusal.reason}` };
  return {
    state,
    reason:
      dropped === undefined ? reason : `${reason}, and gobgpd does not have ${dropped} of the paths that it accepted`,
  };
}

/** What gobgpd has reported; nothing while it cannot be asked. */
function ownIn({
  own,
  session: { state, without },
}: Content): Pick<BgpSessionState, 'originated' | 'wanted' | 'dropped' | 'noTable'> {
  const { desired, heard, dropped } = ownCounts(own, without);
  if (state !== 'ready') return { originated: 0, wanted: desired };
  const missed = without.filter((family) =>
    [...own.paths.values()].some((path) => path.desired?.prefix.address.family === family),
  );
  return {
    originated: heard,
    wanted: desired,
    ...(dropped > 0 && { dropped }),
    ...(missed.length > 0 && { noTable: missed.map((family) => `ipv${family}-unicast`) }),
  };
}

/**
 * Own paths first, then those with the attribute, held ones included; the rows of a prefix at each step. What changes
 * between two steps is shown as it was or as it is, once: what leaves a map and comes back while somebody goes through
 * it is at its end again.
 */
export function* pathStates(c: Content, moment: Moment): Generator<readonly BgpPathState[]> {
  const tables = [c.learning.known, ...c.learning.held.map((h) => h.routes)];
  const shownOwn = new Set<string>();
  for (const own of c.own.paths.values()) {
    const rows = shownOwn.has(own.text) ? [] : ownState(c, own, moment);
    if (own.put) shownOwn.add(own.text);
    yield rows;
  }
  const shown = new Set<string>();
  for (const routes of tables) {
    for (const [text, known] of routes) {
      const rows = shown.has(text)
        ? []
        : listOf(known).flatMap((reading) => (reading.nhc ? [learnedState(c, text, reading, moment)] : []));
      if (rows.length > 0) shown.add(text);
      yield rows;
    }
  }
}

/** None of what gobgpd has not reported, or may not have any more. */
function ownState(c: Content, { text: prefix, put, heard }: Own, moment: Moment): BgpPathState[] {
  const content = heard && c.session.state === 'ready' ? put && (put.path ?? put.reported) : undefined;
  if (!put || !content) return [];
  const { since } = put;
  // What gobgpd reports of ours does not contain that; another's path that is the best does.
  const best = !listOf(c.learning.known.get(prefix)).some((reading) => reading.best);
  const common = {
    prefix,
    peer: 'local',
    asPath: '',
    best,
    status: 'originated' as const,
    unknown: [],
    since: timestamp(since, moment),
  };
  const nextHop = formatAddress(content.nextHop);
  return [{ ...common, nextHop, headerNextHop: nextHop, ...shownEntries(c, ownEntries(c, content)) }];
}

function ownEntries({ kinds, config }: Content, { nextHop, nhc }: Pick<GobgpPath, 'nextHop' | 'nhc'>): Entries {
  const decoded = decodeNhc(nhc ?? new Uint8Array());
  const characteristics = decoded.ok ? decoded.value.characteristics : [];
  const read = readCharacteristics(characteristics, characteristicCodes(config.codePoints));
  return readEntries(kinds, { ...read, nextHop, hasSenders: true, isOwn: true }, config).entries;
}

const shownEntries = ({ kinds }: Content, entries: Entries): ShownEntries =>
  kinds.rows.reduce<ShownEntries>(
    (shown, { kind, received }) => ({ ...shown, ...received.shown(entries.get(kind) ?? []) }),
    { proxy: null, sids: [] },
  );

function learnedState(c: Content, prefix: string, reading: Reading, moment: Moment): BgpPathState {
  const { peer, nextHop, best, entries } = reading;
  const { headerNextHop, asPath, status, unknown } = reading.nhc!;
  const since = (c.learning.since.get(sourceOf(c, prefix, reading)) ?? 0) * 1000;
  return {
    prefix,
    peer,
    nextHop,
    headerNextHop,
    asPath,
    best,
    status,
    ...shownEntries(c, entries),
    unknown: [...unknown],
    since: timestamp(since, moment),
  };
}
