// What is true of this router as a whole lies in the private characteristic of its host routes, those of its next hops.
import type { Sink } from '../../effects.ts';
import { warnLimited } from '../../effects.ts';
import { type Prefix, hostPrefix } from '../../../model/prefix.ts';
import type { OwnEntry, OwnPaths } from './kind.ts';

export const hostRoutes = (paths: OwnPaths): Prefix[] =>
  ([4, 6] as const).flatMap((family) => paths.nextHopOf(family) ?? []).map(hostPrefix);

/** @param plural what the entries are called */
export function placeInHostRoutes<O extends OwnEntry>(
  entries: readonly O[],
  paths: OwnPaths<O>,
  s: Sink,
  plural: string,
): void {
  const hosts = hostRoutes(paths);
  const left = entries.filter((entry) => {
    const placed = hosts.map((host) => paths.place(entry, host, 'at-end'));
    return !placed.includes('placed');
  }).length;
  if (left === 0) return;
  paths.leaveOut(left);
  if (hosts.length > 0)
    warnLimited(s, 'originate.no-room', {}, `a path holds no more ${plural}: some are not advertised`, left);
  else
    warnLimited(
      s,
      'originate.no-next-hop',
      {},
      `${plural} are advertised with the host prefix of a next hop, and there is none`,
      left,
    );
}
