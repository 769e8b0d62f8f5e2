// `cnpctl show senders ADDRESS`: which entries of the learned table cover an address, longest prefix first, and which
// one decides. It repeats the dataplane's look-up: the longest prefix in force, flagged or not; an unflagged one means
// "no proxy" (PNC §5).
import { type IpAddress } from '../model/address.ts';
import { parsePrefix, prefixContains } from '../model/prefix.ts';
import type { Row } from '../model/state.ts';

interface Covering {
  /** All entries whose prefix covers the address: longest first, the one in force first within a prefix. */
  readonly entries: readonly Row[];
  /** The first that is in force. */
  readonly decides: Row | undefined;
  /** Says what the address understands: of the same prefix, since a shorter one says nothing of it. */
  readonly claims: Row | undefined;
}

const lengthOf = (row: Row): number => Number(String(row['prefix']).split('/')[1]);

export function coveringEntries(rows: readonly Row[], address: IpAddress): Covering {
  const entries = rows
    .filter((row) => {
      const prefix = parsePrefix(String(row['prefix']));
      return prefix !== undefined && prefixContains(prefix, address);
    })
    .sort((a, b) => lengthOf(b) - lengthOf(a) || Number(b['best']) - Number(a['best']));
  const decides = entries.find((row) => row['best'] === true);
  const claims = entries.find((row) => row['prefix'] === decides?.['prefix'] && row['supports-in-force'] === true);
  return { entries, decides, claims };
}

/** What senders are said to understand, and by whom. It is used where the policy has `supports: advertised`. */
export const explainClaim = (address: string, claims: Row): string =>
  `${address}: understands ${(claims['supports'] as string[]).join(', ')}, ` +
  `as ${String(claims['originator'])} (${String(claims['carrier'])}) advertises ${String(claims['prefix'])}`;

/** One sentence: the proxy and why. */
export function explainDecision(address: string, decides: Row | undefined): string {
  if (!decides) return `${address}: no proxy, no prefix in force covers it`;
  const why =
    `the longest match is ${String(decides['prefix'])} from ${String(decides['originator'])} ` +
    `(${String(decides['carrier'])})`;
  const { proxy } = decides;
  return typeof proxy === 'string'
    ? `${address}: proxy ${proxy}, ${why}`
    : `${address}: no proxy, ${why}, which names none`;
}
