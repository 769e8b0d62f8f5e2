import { describe, expect, test } from 'vitest';
import { type Column, formatAge, formatPairs, formatTable } from './table.ts';

const columns: readonly Column<{ name: string; size?: number }>[] = [
  { header: 'name', cell: (row) => row.name },
  { header: 'size (B)', cell: (row) => row.size, align: 'right' },
];

describe('tables', () => {
  test('align columns, numbers to the right, without trailing space', () => {
    expect(formatTable(columns, [{ name: 'a', size: 5 }, { name: 'longer' }], 'none')).toEqual([
      'NAME    SIZE (B)',
      'a              5',
      'longer         -',
    ]);
  });
  test('say so when they are empty', () =>
    expect(formatTable(columns, [], 'there is none')).toEqual(['there is none']));
  test('fold rows that are too wide, header and all; a long cell is wrapped, a word is not', () => {
    const rows = [
      { name: 'a', size: 5 },
      { name: 'one-long-word two three', size: 12 },
    ];
    expect(formatTable(columns, rows, '', 20)).toEqual([
      ...['NAME           SIZE', '                (B)'],
      ...['a                 5'],
      ...['one-long-word    12', 'two three'],
    ]);
    expect(formatTable(columns, rows.slice(0, 1), '', 6)).toEqual(['NAME', '    SIZE', '     (B)', 'a', '       5']);
    expect(formatTable(columns, [{ name: 'much-too-long-a-word' }], '', 10)).toContain('much-too-long-a-word');
    expect(formatTable(columns, rows, '', Infinity)).toHaveLength(3);
  });
  test('let no control character through', () => {
    expect(formatTable(columns, [{ name: 'a\u001b[2Jb\n' }], '')[1]).toMatch(/^a\ufffd\[2Jb\ufffd/);
  });
  test('pairs align their values', () =>
    expect(
      formatPairs([
        ['a', 1],
        ['long', undefined],
        ['b', false],
      ]),
    ).toEqual(['a     1', 'long  -', 'b     no']));
});

describe('ages', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const cases: [string, string][] = [
    ['2026-11-20T11:59:18Z', '42s'],
    ['2026-11-20T11:56:48Z', '3m12s'],
    ['2026-11-20T06:53:00Z', '5h07m'],
    ['2026-11-08T09:00:00Z', '12d03h'],
    ['2026-11-20T12:01:30Z', '1m30s'],
  ];
  for (const [time, text] of cases) test(`${time} is ${text}`, () => expect(formatAge(time, now)).toBe(text));
});

test('columns without anything are left out where the table is too wide, and only there', () => {
  const columns: Column<Record<string, string>>[] = ['name', 'nothing', 'value'].map((header) => ({
    header,
    cell: (row) => row[header],
  }));
  const rows = [{ name: 'a', value: 'b' }];
  expect(formatTable(columns, rows, '', 20)).toEqual(['NAME  NOTHING  VALUE', 'a     -        b']);
  expect(formatTable(columns, rows, '', 19)).toEqual(['NAME  VALUE', 'a     b']);
  expect(formatTable(columns, [...rows, { nothing: 'x' }], '', 19).join(' ')).toContain('x');
  expect(formatTable(columns, [{}], '', 3).join(' ')).toContain('-');
});
