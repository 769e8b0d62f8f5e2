// Prefixes that an LSP lists more than once.
import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { P_FLAG, prefixEntry } from '../../../packet/isis/foreign.fixture.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { PrefixReachability } from '../../../packet/isis/tlv/types.ts';
import { type ReadByKind, readByKind } from '../kinds/reading.fixture.ts';
import { lsp } from '../hostile.fixture.ts';

/** `P`: with the flag; then the last digit of the prefix, and of its proxy. */
function entry(text: string): PrefixReachability {
  const [, flag, which, proxy] = /^(P?)(\d)(?:>(\d))?$/.exec(text)!;
  const source = { kind: 'ipv6-source-router-id', address: address(`2001:db8:ffff::${proxy ?? 0}`) } as const;
  return prefixEntry(`2001:db8:${which}::/64`, [...(flag ? [P_FLAG] : []), ...(proxy ? [source] : [])]);
}

function read(...entries: string[]): ReadByKind {
  const decoded = decodePdu(lsp({ tlvs: [{ kind: 'ipv6-reachability', prefixes: entries.map(entry) }] }));
  if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
  return readByKind(decoded.value, true);
}

test.each<[string[], number, string]>([
  [['1', '2'], 0, '1 2'],
  [['P3>1', '1', '1'], 0, 'P3 1'],
  [['2', '1', 'P3>1', '2'], 0, '2 1 P3'],
  [['P1>1', 'P1>1'], 0, 'P1'],
  [['P1>1', 'P1>2'], 0, 'P1 P1'],
  [['1', 'P1>1'], 1, 'P1'],
  [['P1>1', '1'], 1, 'P1'],
  [['P1>1', '1', '1'], 2, 'P1'],
  [['1', 'P1>1', 'P2>1', '2', '3'], 2, 'P1 P2 3'],
])('%j: %i contradictions; the result is %s', (entries, contradictions, counts) => {
  const { prefixes, contradictions: found, content } = read(...entries);
  const text = prefixes.map((p) => `${p.pnc ? 'P' : ''}${(p.prefix.address.value >> 80n) & 0xfn}`);
  expect({ found, text: text.join(' ') }).toEqual({ found: contradictions, text: counts });
  expect(content.proxyPrefixes).toBe(text.filter((each) => each.startsWith('P')).length);
});
