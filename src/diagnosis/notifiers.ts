// What `cnpd check` notes about accepted notifiers. A sender under accept-from is a notifier: it can slow down other
// senders, and so can any host that takes its address.
import type { Intent } from '../intent/intent.ts';
import { type Prefix, comparePrefixes, formatPrefix, prefixContains } from '../model/prefix.ts';
import type { Problem, ProblemCode } from '../model/problem.ts';

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

interface Accepting {
  readonly acceptFrom: readonly Prefix[];
  readonly senders: readonly { readonly prefix: Prefix }[];
}

export const notifierNotes = ({ proxy, source }: Intent): Problem[] => [
  ...notesOf('proxy', 'proxy.hosts-are-notifiers', proxy),
  ...notesOf('source', 'source.hosts-are-notifiers', source),
];

function notesOf(feature: 'proxy' | 'source', code: ProblemCode, section: Accepting | undefined): Problem[] {
  const found =
    section &&
    overlapping(
      section.acceptFrom,
      section.senders.map(({ prefix }) => prefix),
    );
  if (!found) return [];
  const [from, sender] = found.map(formatPrefix);
  return [
    {
      code,
      feature,
      problem:
        `${from} under ${feature}.accept-from and ${sender} under ${feature}.senders have addresses in common: ` +
        'these hosts are notifiers and can slow down other senders',
      remedy: `name only addresses of routers under ${feature}.accept-from`,
    },
  ];
}
