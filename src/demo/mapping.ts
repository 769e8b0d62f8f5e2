// A mapping that a congested node has to have learned before a scene's first run: which proxy is asked for a prefix,
// and over which protocol that was learned.
import type { Lab } from '../lab/lab.ts';
import { evidence } from './checks.ts';
import type { Evidence } from './results.ts';
import { type Row, waitForRow } from './routers.ts';

/** As `cnpctl show senders` shows it. */
export interface Mapping {
  readonly carrier: string;
  readonly prefix: string;
  readonly proxy: string;
}

/** Asks the node's cnpd which proxy it has for the prefix, until it has one. */
export const waitForMapping = (lab: Lab, node: string, { prefix }: Mapping, signal: AbortSignal): Promise<Row> =>
  waitForRow(
    lab,
    node,
    ['senders'],
    (row) => row['prefix'] === prefix && row['best'] === true && Boolean(row['proxy']),
    signal,
  );

/** Of a row of `cnpctl show senders`. */
export function mappingEvidence(node: string, row: Row, expected: Mapping): Evidence {
  const sentence =
    `${node} has learned over ${String(row['carrier'])} that the proxy for ${String(row['prefix'])} is ` +
    `${String(row['proxy'])} (from ${String(row['originator'])})`;
  return evidence([sentence], row, { ...expected }, `${node}'s mapping`);
}
