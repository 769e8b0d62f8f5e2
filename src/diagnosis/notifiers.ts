// What `cnpd check` notes about accepted notifiers. A sender under accept-from is a notifier: it can slow down other
// senders, and so can any host that takes its address.
import type { Intent } from '../intent/intent.ts';
import { type Prefix, comparePrefixes, formatPrefix, prefixContains } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';

/** The first two with addresses in common. Prefixes are disjoint or nested, so one pass in order finds them. */
function overlapping(some: readonly Prefix[], others: readonly Prefix[]): readonly [Prefix, Prefix] | undefined {
  const inOrder = [...some.map((prefix) => [prefix, 0] as const), ...others.map((prefix) => [prefix, 1] as const)].sort(
    ([a], [b]) => comparePrefixes(a, b),
  );
  const open: [Prefix?, Prefix?] = [];
  for (const [prefix, kind] of inOrder) {
    const other = open[1 - kind];
    if (other && prefixContains(other, prefix.address)) return kind === 0 ? [prefix, other] : [other, prefix];
    const before = open[kind];
    if (!before || !prefixContains(before, prefix.address)) open[kind] = prefix;
  }
  return undefined;
}

export function notifierNotes({ proxy }: Intent): Problem[] {
  const found = overlapping(
    proxy?.acceptFrom ?? [],
    (proxy?.senders ?? []).map((sender) => sender.prefix),
  );
  if (!found) return [];
  const [from, sender] = found.map(formatPrefix);
  return [
    {
      code: 'proxy.hosts-are-notifiers',
      feature: 'proxy',
      problem:
        `${from} under proxy.accept-from and ${sender} under proxy.senders have addresses in common: ` +
        'these hosts are notifiers and can slow down other senders',
      remedy: 'name only addresses of routers under proxy.accept-from',
    },
  ];
}
