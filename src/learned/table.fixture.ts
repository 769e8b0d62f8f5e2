// Not part of the daemon: a learned table with its own clock, and shorthands to feed it, for the tests of this folder.
import { address, formatAddress } from '../model/address.ts';
import type { CarrierName, LearnedOf } from '../model/advertisement.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import type { ForwardingChanges } from './forwarding.ts';
import { LearnedTable } from './table.ts';

export function fixture(holdMs = 120_000) {
  // The clock has its own origin, so it never equals the time of day.
  const clock = { now: 5000 };
  const wallOf = (now: number): number => Date.UTC(2026, 0, 1) + now;
  const counts = new Map<string, number>();
  const table = new LearnedTable(
    { holdMs },
    {
      clock: { now: () => clock.now },
      wallClock: () => wallOf(clock.now),
      count: (name, by = 1) => counts.set(name, (counts.get(name) ?? 0) + by),
    },
  );
  const reach = (names: string[], carrier: CarrierName = 'isis'): void =>
    table.reachability({ carrier, reachable: new Set(names) });
  const report = (
    originator: string,
    prefixes: LearnedOf<'sender-prefix'>[],
    carrier: CarrierName = 'isis',
    fragment = 0,
  ): void => table.learned({ carrier, originator, source: `${originator}.00-${fragment}`, advertisements: prefixes });
  reach(['leaf1', 'leaf2', 'cnpd1', 'cnpd2']);
  reach(['peer'], 'bgp');
  return { clock, wallOf, counts, table, reach, report, proxyOf: (text: string) => proxyOf(table, text) };
}

function proxyOf(table: LearnedTable, text: string): string | null | undefined {
  const found = table.lookup(address(text));
  return found && (found.proxy ? formatAddress(found.proxy) : null);
}

export const flagged = (text: string, proxy: string, metric = 0xfe000001): LearnedOf<'sender-prefix'> => ({
  kind: 'sender-prefix',
  prefix: prefix(text),
  pnc: true,
  proxy: address(proxy),
  metric,
});
export const plain = (text: string, metric = 10): LearnedOf<'sender-prefix'> => ({
  kind: 'sender-prefix',
  prefix: prefix(text),
  pnc: false,
  metric,
});
export const changesText = (changes: ForwardingChanges) => ({
  upserts: changes.upserts.map((e) => `${formatPrefix(e.prefix)} ${e.proxy ? formatAddress(e.proxy) : 'none'}`),
  deletes: changes.deletes.map(formatPrefix),
});
