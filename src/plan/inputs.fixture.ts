// Not part of the daemon: intents, facts and learned tables for the tests of this folder.
import { reported } from '../model/advertisement.fixture.ts';
import { loadIntent } from '../intent/load.ts';
import type { Intent } from '../intent/intent.ts';
import { LearnedTable } from '../learned/table.ts';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { Facts, LinkFact } from './facts.ts';

export function intentOf(sections: string, loopback = '{ ipv6: 2001:db8:ffff::1 }'): Intent {
  const loaded = loadIntent(`router: { name: r1, loopback: ${loopback} }\n${sections}`, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(loaded.error.map((e) => `${e.path}: ${e.message}`).join('\n'));
  return loaded.value;
}

const link = (ifindex: number, name: string, etherLike = true): LinkFact => ({
  name,
  ifindex,
  up: true,
  kind: undefined,
  etherLike,
});

/** lo, eth1 … eth3, and a WAN with a TBF of 1 MB. */
export const FACTS: Facts = {
  links: [
    link(1, 'lo', false),
    link(2, 'eth1'),
    link(3, 'eth2'),
    link(4, 'eth3'),
    link(5, 'wan'),
    link(6, 'cnpd-isis'),
  ],
  qdiscs: [
    { ifindex: 5, rootKind: 'tbf', limitBytes: 1_000_000, rateBitPerS: 1e9 },
    { ifindex: 4, rootKind: 'htb' },
    { ifindex: 3, rootKind: 'pfifo_fast' },
  ],
  features: [],
};

export function learnedTable(flagged: Readonly<Record<string, string>> = {}): LearnedTable {
  const table = new LearnedTable({ holdMs: 1000 }, { clock: { now: () => 0 }, count: () => {} });
  table.reachability({ carrier: 'isis', reachable: new Set(['r2']) });
  const prefixes = Object.entries(flagged).map(([text, proxy]) => ({
    prefix: prefix(text),
    pnc: true,
    proxy: address(proxy),
    metric: 1,
  }));
  table.learned({ carrier: 'isis', source: 'r2.00-00', originator: 'r2', advertisements: reported({ prefixes }) });
  return table;
}
