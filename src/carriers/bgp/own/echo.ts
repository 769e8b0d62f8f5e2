// Whether gobgpd has what it was given. It answers OK to paths that it then drops: its import policy rejects them, or
// it has no table of their family. So a path counts only once gobgpd has reported it. It does not report one that is
// not the best of its prefix, or that it had already; nor is a report always newer than what was put in meanwhile.
// Whatever it has not reported some time after an upload it is asked about. What it does not have then is put in again,
// more and more seldom: whoever repairs gobgpd need not restart cnpd.
import { warnLimited } from '../../effects.ts';
import type { Family } from '../../../model/address.ts';
import type { GobgpFault } from '../../../model/gobgp-fault.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { DROPPED_PAUSE_MS, ECHO_LIMIT_MS, ECHO_MS, LOOK_BATCH } from '../constants.ts';
import type { Content } from '../state.ts';
import { NOTHING_DROPPED, type Echo, type Own, markDirty } from './state.ts';
import { overwritten } from './dispute.ts';

/** gobgpd reports everything from the beginning. */
export function resetEcho(echo: Echo): void {
  Object.assign(echo, { unheard: [], dropped: [], ...NOTHING_DROPPED });
}

/** gobgpd has answered OK to these. */
export function expectEcho({ own: { echo }, now }: Content, owns: Own[]): void {
  if (owns.length === 0) return;
  if (echo.unheard.length === 0) echo.since = now;
  echo.unheard = echo.unheard.length === 0 ? owns : echo.unheard.concat(owns);
  echo.last = now;
}

/** gobgpd reports this one as it was put in. */
export function hear({ own: { echo }, now }: Content, own: Own): void {
  if (own.heard) return;
  own.heard = true;
  // Answers to a look-up are not the echoes that it waited for.
  if (!echo.look) echo.last = now;
  if (own.dropped) echo.pause = DROPPED_PAUSE_MS.first;
  own.dropped = false;
}

/** When something is to be done: Infinity for never. */
export function echoDue({ own: { echo, busy }, session, stopping }: Content): number {
  if (session.state !== 'ready' || stopping) return Infinity;
  const look =
    echo.look || busy || echo.unheard.length === 0
      ? Infinity
      : Math.min(echo.last + ECHO_MS, echo.since + ECHO_LIMIT_MS);
  return Math.min(look, echo.retryAt);
}

/** Puts in again what was dropped, when it is time. @returns what to ask gobgpd about now; undefined: nothing */
export function runEcho(c: Content): readonly Prefix[] | undefined {
  const { echo, busy } = c.own;
  if (echoDue(c) > c.now) return undefined;
  if (echo.retryAt <= c.now) retryDropped(c);
  if (echo.look || busy || echo.unheard.length === 0) return undefined;
  const unheard = [...new Set(echo.unheard)].filter(isUnheard);
  echo.unheard = unheard.slice(LOOK_BATCH);
  if (unheard.length === 0) return undefined;
  const owns = unheard.slice(0, LOOK_BATCH);
  echo.look = { prefixes: owns.map(({ prefix }) => prefix), owns, since: c.now };
  return echo.look.prefixes;
}

const isUnheard = ({ heard, put, desired }: Own): boolean => !heard && desired !== undefined && put?.path === desired;

/** gobgpd has reported all that it was asked about, or (failure) has not. */
export function looked(c: Content, prefixes: readonly Prefix[], failure: GobgpFault | undefined): void {
  const { echo } = c.own;
  const { look } = echo;
  if (look?.prefixes !== prefixes) return;
  echo.look = undefined;
  // What was put in again meanwhile has its own turn.
  const owns = look.owns.filter((own) => isUnheard(own) && own.put!.since <= look.since);
  if (failure) {
    // A lost connection has been logged as such.
    if (c.session.state === 'ready')
      warnLimited(c, 'own.look-failed', { reason: failure.reason }, 'gobgpd did not report which of our paths it has');
    return expectEcho(c, owns);
  }
  const dropped = owns.filter((own) => !own.put!.reported);
  for (const own of owns) if (own.put!.reported) overwritten(c, own);
  if (dropped.length === 0) return;
  for (const own of dropped) own.dropped = true;
  echo.dropped = echo.dropped.concat(dropped);
  if (echo.retryAt === Infinity) echo.retryAt = c.now + echo.pause;
  warnLimited(
    c,
    'own.dropped',
    { paths: dropped.length },
    'gobgpd has accepted our paths without an error but does not have them: they are retried',
    dropped.length,
  );
}

function retryDropped(c: Content): void {
  const { echo } = c.own;
  for (const own of echo.dropped) {
    if (!own.dropped || !isUnheard(own)) continue;
    own.put = { since: own.put!.since };
    markDirty(c.own, own);
  }
  echo.dropped = [];
  echo.retryAt = Infinity;
  echo.pause = Math.min(DROPPED_PAUSE_MS.longest, echo.pause * 2);
}

/** Desired paths that gobgpd is known not to have. @param without families of which gobgpd has no table */
export const isDropped = ({ desired, dropped, prefix }: Own, without: readonly Family[]): boolean =>
  desired !== undefined && (dropped || without.includes(prefix.address.family));
