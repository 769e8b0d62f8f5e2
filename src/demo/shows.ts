// What `npm run demo` can show, by name; without a name the first.
import { arn } from './arn/show.ts';
import { congestion } from './congestion.ts';
import { multicast } from './multicast/show.ts';
import { SCENES } from './scenes.ts';
import type { Show } from './show.ts';

export const SHOWS: readonly Show[] = [...SCENES.map(congestion), multicast, arn];

/** @param argv of the command: nothing, or a name; undefined: there is no such thing */
export function chosenShow(argv: readonly string[]): Show | undefined {
  if (argv.length > 1) return undefined;
  const name = argv[0] ?? SHOWS[0]!.name;
  return SHOWS.find((show) => show.name === name);
}
