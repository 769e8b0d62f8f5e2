// The table of kinds: which TLVs hold the entries of each kind, and that entries of unknown kinds are refused.
import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import { COLOR, WITH_COLOR } from './color.fixture.ts';
import type { OwnEntry } from './kind.ts';
import { ISIS_KINDS } from './table.ts';

const sender = (text: string): OwnEntry => ({ kind: 'sender-prefix', key: text, prefix: prefix(text) }) as OwnEntry;
const SID = { kind: 'sid', key: 'sid', sid: address('2001:db8:c::1') };

test('each kind has its own TLVs: IPv4 prefixes, IPv6 prefixes, one TLV per SID, and those of an added row', () => {
  const entries = [sender('10.0.0.0/8'), sender('2001:db8::/32'), SID, { kind: 'color', key: 'color' }];
  const packingOf = (entry: OwnEntry) => WITH_COLOR.packings[WITH_COLOR.packingOf(entry)];
  expect(entries.map(packingOf)).toEqual([
    { capacity: 255, overhead: 2 },
    { capacity: 253, overhead: 4 },
    { capacity: 0, overhead: 4 },
    { capacity: 255, overhead: 2 },
  ]);
  expect(new Set(entries.map((entry) => WITH_COLOR.packingOf(entry))).size).toBe(4);
});

test('a kind without a row, or whose row excludes it, is neither placed nor leaked', () => {
  for (const kind of ['color', 'router-address']) {
    expect(() => ISIS_KINDS.codecOf({ kind, key: kind })).toThrow(kind);
    expect(() => ISIS_KINDS.leakingOf({ kind })).toThrow(kind);
  }
  expect(WITH_COLOR.leakingOf({ kind: 'color' })).toBe(COLOR.leaking);
});
