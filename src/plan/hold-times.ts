// How long learned entries stay in force when no router advertises them any more.
import type { Intent } from '../intent/intent.ts';
import { holdUnreachable } from '../intent/schema-parts.ts';
import type { CarrierName } from '../model/advertisement.ts';

const DEFAULT_HOLD_MS = holdUnreachable().fallback;

/** Hold time from a carrier's section of the intent, ms. Without a section: the default. */
export const holdMs = (section: { readonly holdUnreachableMs: number } | undefined): number =>
  section?.holdUnreachableMs ?? DEFAULT_HOLD_MS;

/** How long the entries of each carrier outlive their originator, milliseconds. */
export const holdTimes = ({ isis, ospfv2, ospfv3, bgp }: Intent): Record<CarrierName, number> => ({
  isis: holdMs(isis),
  ospfv2: holdMs(ospfv2),
  ospfv3: holdMs(ospfv3),
  bgp: holdMs(bgp),
});

/**
 * Time for an adjacency and a database exchange, or for gobgpd's list of its paths. One or two hello intervals precede
 * it. Independent of the hold time.
 */
const EXCHANGE_MS = 10_000;

/**
 * How long after the start the network may still be repeating what an earlier run had learned, milliseconds. 0: no
 * carrier is declared.
 */
export function patienceMs({ isis, ospfv2, ospfv3, bgp }: Intent): number {
  const hellos = [
    isis?.helloIntervalMs,
    ...[ospfv2, ospfv3].map((ospf) => ospf && ospf.helloSeconds * 1000),
    bgp && 0,
  ].filter((ms) => ms !== undefined);
  if (hellos.length === 0) return 0;
  const declared = [isis, ospfv2, ospfv3, bgp].map((section) => section?.holdUnreachableMs ?? 0);
  return Math.max(EXCHANGE_MS + 2 * Math.max(...hellos), ...declared);
}
