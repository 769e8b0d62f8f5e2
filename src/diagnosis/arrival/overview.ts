// Another router's report of its BGP: the answer of `cnpctl -o json show bgp`, which may come from anywhere.
import { messageOf } from '../../model/error-text.ts';
import type { Row } from '../../model/state.ts';

export interface BgpOverview {
  readonly session: readonly Row[];
  readonly peers: readonly Row[];
  readonly paths: readonly Row[];
  /** Of the learned table, only the entries of the carrier `bgp`. */
  readonly senders: readonly Row[];
}

const SECTIONS = ['session', 'peers', 'paths', 'senders'] as const;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns what is wrong with it, if it is not the output of `cnpctl -o json show bgp` */
export function readOverview(text: string): BgpOverview | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${messageOf(error)}`;
  }
  if (!isRow(value)) return 'no JSON object';
  for (const name of SECTIONS) {
    const rows = value[name];
    if (!Array.isArray(rows) || !rows.every(isRow)) return `no list "${name}" of objects`;
  }
  return value as unknown as BgpOverview;
}

export const text = (row: Row, name: string): string | undefined =>
  typeof row[name] === 'string' ? row[name] : undefined;
export const texts = (row: Row, name: string): string[] =>
  Array.isArray(row[name]) ? row[name].filter((item) => typeof item === 'string') : [];
