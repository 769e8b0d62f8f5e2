// What the counters mean, from the tables of those who count (docs/reference/counters.md has the same).
import { BGP_COUNTERS } from '../carriers/bgp/counters.ts';
import { ISIS_COUNTERS } from '../carriers/isis/counters.ts';
import { OSPF_COUNTERS } from '../carriers/ospf/counters.ts';
import { COUNTERS } from '../kernel/dataplane/counters.ts';

interface Row {
  readonly name: string;
  readonly meaning: string;
}

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ['', ISIS_COUNTERS],
  ['ospfv2.', OSPF_COUNTERS],
  ['ospfv3.', OSPF_COUNTERS],
  ['bgp.', BGP_COUNTERS],
];

const EXACT = new Map<string, string>();
/** Names that end with a code: `packet.<code>`. */
const BEGINNINGS = new Map<string, string>();

for (const { name, meaning } of COUNTERS) EXACT.set(name, meaning);
for (const [prefix, rows] of TABLES)
  for (const { name, meaning } of rows) {
    const at = name.indexOf('<');
    if (at < 0) EXACT.set(prefix + name, meaning);
    else BEGINNINGS.set(prefix + name.slice(0, at), meaning);
  }

/** Undefined: a counter of the agent, which docs/reference/counters.md explains. */
export const counterMeaning = (name: string): string | undefined =>
  EXACT.get(name) ?? BEGINNINGS.get(name.slice(0, name.lastIndexOf('.') + 1));
