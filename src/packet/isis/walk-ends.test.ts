// Where the TLVs of an LSP and the entries in them end: exactly as long as they may be, and a byte longer or shorter.
import { describe, expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { lspWith } from './arbitrary.fixture.ts';
import { decodeTlvs } from './tlvs.ts';
import type { IsisTlv } from './tlv/types.ts';
import { cursorFlag, cursorPrefix, cursorSource4, cursorSource6, forEachNeighbor, forEachPrefix } from './walk.ts';

const tlv = (type: number, hex: string): IsisTlv => ({ kind: 'unknown', type, value: fromHex(hex) });
const zeros = (n: number): string => '00'.repeat(n);

describe('the walks over a TLV', () => {
  /** `bad`, or how many entries it has; the decoder must say the same of it. */
  function found(type: number, hex: string): number | 'bad' {
    const lsp = lspWith([tlv(type, hex)]);
    let entries = 0;
    const bad = [135, 235, 236, 237].includes(type)
      ? forEachPrefix(lsp, () => entries++)
      : forEachNeighbor(lsp, () => entries++);
    expect(bad + entries > 0 ? bad * entries : 0).toBe(0);
    if (type !== 2) expect(decodeTlvs(lsp, 27).badTlvs).toHaveLength(bad);
    return bad > 0 ? 'bad' : entries;
  }

  test.each<[number, string, number | 'bad']>([
    [135, '', 0],
    [135, '00000001', 'bad'],
    [135, '00000001 00', 1],
    [135, '00000001 08', 'bad'],
    [135, '00000001 08 0a', 1],
    [135, '00000001 09 0a', 'bad'],
    [135, '00000001 09 0a80', 1],
    [135, '00000001 20 0a000001', 1],
    [135, '00000001 21 0a00000100', 'bad'],
    [135, '00000001 08 0a 00000001', 'bad'],
    [135, '00000001 08 0a 00000001 00', 2],
    [135, '00000001 48 0a', 'bad'],
    [135, '00000001 48 0a 00', 1],
    [135, '00000001 48 0a 01', 'bad'],
    [135, '00000001 48 0a 01 04', 'bad'],
    [135, '00000001 48 0a 02 0400', 1],
    [135, '00000001 48 0a 02 0401', 'bad'],
    [135, '00000001 48 0a 02 0401 01', 'bad'],
    [135, '00000001 48 0a 03 040101', 1],
    [135, '00000001 48 0a 03 0400 04', 'bad'],
    [135, '00000001 48 0a 04 0400 0400', 1],
    [236, '00000001 00', 'bad'],
    [236, '00000001 00 00', 1],
    [236, `00000001 00 80 ${zeros(16)}`, 1],
    [236, `00000001 00 80 ${zeros(15)}`, 'bad'],
    [236, `00000001 00 81 ${zeros(17)}`, 'bad'],
    [236, '00000001 20 00', 'bad'],
    [236, '00000001 20 00 00', 1],
    [235, '', 'bad'],
    [235, '00', 'bad'],
    [235, '0002', 0],
    [235, '0002 00000001 08 0a', 1],
    [235, '0002 00000001 08', 'bad'],
    [237, '', 'bad'],
    [237, '00', 'bad'],
    [237, '0002', 0],
    [237, '0002 00000001 00 00', 1],
    [22, '', 0],
    [22, zeros(10), 'bad'],
    [22, zeros(11), 1],
    [22, zeros(12), 'bad'],
    [22, `${zeros(10)} 01`, 'bad'],
    [22, `${zeros(10)} 01 00`, 1],
    [22, `${zeros(10)} 01 00 ${zeros(11)}`, 2],
    [222, '', 'bad'],
    [222, '00', 'bad'],
    [222, '0002', 0],
    [222, `0002 ${zeros(11)}`, 1],
    [222, `0002 ${zeros(10)}`, 'bad'],
    [2, '', 'bad'],
    [2, '00', 0],
    [2, zeros(11), 'bad'],
    [2, zeros(12), 1],
    [2, zeros(23), 2],
    [2, zeros(24), 'bad'],
  ])('%i with %s: %s', (type, hex, expected) => expect(found(type, hex)).toBe(expected));

  test('of any other type is not read', () => {
    const others = [1, 3, 21, 23, 128, 130, 133, 134, 136, 221, 223, 234, 238].map((type) => tlv(type, zeros(12)));
    const seen: string[] = [];
    expect({
      forEachPrefix: forEachPrefix(lspWith(others), () => seen.push('prefix')),
      forEachNeighbor: forEachNeighbor(lspWith(others), () => seen.push('neighbor')),
    }).toEqual({ forEachPrefix: 0, forEachNeighbor: 0 });
    expect(seen).toEqual([]);
  });

  test('that goes beyond the LSP end there, and it is counted; what precedes it is used', () => {
    const lsp = lspWith([tlv(135, '00000001 08 0a'), tlv(22, zeros(11)), tlv(135, '00000001 08 0b')]);
    const walk = (bytes: Uint8Array): number[] => {
      let [prefixes, neighbors] = [0, 0];
      const bad = [forEachPrefix(bytes, () => prefixes++), forEachNeighbor(bytes, () => neighbors++)];
      return [...bad, prefixes, neighbors];
    };
    expect(walk(lsp)).toEqual([0, 0, 2, 1]);
    expect(walk(lsp.subarray(0, -1))).toEqual([1, 1, 1, 1]);
    expect(walk(lsp.subarray(0, -6))).toEqual([1, 1, 1, 1]);
    // Half a TLV header is none.
    expect(walk(lsp.subarray(0, -7))).toEqual([0, 0, 1, 1]);
    expect(walk(lsp.subarray(0, -8))).toEqual([0, 0, 1, 1]);
    expect(walk(lsp.subarray(0, -9))).toEqual([1, 1, 1, 0]);
    const malformed = lspWith([tlv(22, '00'), tlv(135, '00')]);
    expect(walk(malformed.subarray(0, -1))).toEqual([1, 2, 0, 0]);
  });
});

describe('of a prefix entry', () => {
  const entryOf = (subTlvs: string, type = 135): unknown[] => {
    const list = fromHex(subTlvs);
    const topology = type === 235 ? 'f002' : '';
    const head = fromHex(`${topology} 00000001 48 0a ${list.length.toString(16).padStart(2, '0')}`);
    const out: unknown[] = [];
    const lsp = lspWith([{ kind: 'unknown', type, value: concat(head, list) }]);
    const bad = forEachPrefix(lsp, (cursor) => {
      const flags = Array.from({ length: 20 }, (_, bit) => bit).filter((bit) => cursorFlag(cursor, bit));
      out.push(
        cursor.mtId,
        cursorPrefix(cursor).length,
        flags,
        cursorSource4(cursor)?.value,
        cursorSource6(cursor)?.value,
      );
    });
    expect(bad).toBe(0);
    return out;
  };
  const [four, six] = ['0b04 c0000201', `0c10 ${zeros(15)}07`];

  test('sub-TLV 4 is a string of bits from the first on; those beyond its end are clear (RFC 7794 §2.1)', () => {
    const flags = (hex: string): unknown => entryOf(hex)[2];
    expect([flags('0401 80'), flags('0401 01'), flags('0402 0080'), flags('0403 800110')]).toEqual([
      [0],
      [7],
      [8],
      [0, 15, 19],
    ]);
    expect([flags('0400'), flags(''), flags('0401 00'), flags(four)]).toEqual([[], [], [], []]);
    // What follows it is no flag.
    expect(flags('0401 00 ff01 ff')).toEqual([]);
  });

  test('the first sub-TLV of a type counts; a source router ID of another length is none', () => {
    expect(entryOf(`0401 80 0401 40 ${four} 0b04 c0000202 ${six} 0c10 ${zeros(15)}08`)).toEqual([
      0,
      8,
      [0],
      0xc0000201n,
      7n,
    ]);
    expect(entryOf(`0b03 c00002 0b05 c000020101 0c0f ${zeros(15)} 0c11 ${zeros(17)}`)).toEqual([
      0,
      8,
      [],
      undefined,
      undefined,
    ]);
    expect(entryOf(`0b03 c00002 ${four} 0c0f ${zeros(15)} ${six}`)).toEqual([0, 8, [], 0xc0000201n, 7n]);
    expect(entryOf(`0b10 ${zeros(16)} 0c04 c0000201`)).toEqual([0, 8, [], undefined, undefined]);
  });

  test('what one entry has the next one without sub-TLVs has not', () => {
    const seen: unknown[] = [];
    const first = `00000001 48 0a 1b 0401 01 ${four} ${six}`;
    forEachPrefix(lspWith([tlv(135, `${first} 00000002 88 0b`)]), (c) =>
      seen.push([cursorFlag(c, 7), cursorSource4(c) !== undefined, cursorSource6(c) !== undefined, c.down, c.metric]),
    );
    expect(seen).toEqual([
      [true, true, true, false, 1],
      [false, false, false, true, 2],
    ]);
  });

  test('of the topology the 12 lowest bits count (RFC 5120 §7.3), as of neighbors (§7.1)', () => {
    expect(entryOf('', 235)[0]).toBe(2);
    const topologies: number[] = [];
    forEachNeighbor(lspWith([tlv(222, `f003 ${zeros(11)}`), tlv(22, zeros(11))]), (_b, _at, _metric, mtId) =>
      topologies.push(mtId),
    );
    expect(topologies).toEqual([3, 0]);
  });
});
