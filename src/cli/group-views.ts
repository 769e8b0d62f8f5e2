// The tables of `cnpctl show groups`, and the drawing of a tree.
import type { Row } from '../model/state.ts';
import { type View, age, few, list, number, text } from './columns.ts';
import { printable } from './table.ts';

const MEMBER_COLUMNS: View['columns'] = [
  text('group', 'Proxy Address'),
  text('name'),
  text('role'),
  text('address'),
  {
    header: 'QPN',
    cell: ({ row }) => (row['role'] === 'source' ? `${String(row['qpn'])} (designated)` : String(row['qpn'])),
    align: 'right',
  },
  text('node', 'SID'),
  number('psn-delta', 'PSN delta'),
  text('status'),
  text('carrier'),
  text('originator'),
];

export const GROUP_VIEWS = {
  groups: {
    empty: 'no group is known',
    columns: [
      text('name'),
      text('proxy-address', 'Proxy Address'),
      list('roles', 'role here'),
      text('source'),
      number('receivers'),
      number('edges'),
      text('tree'),
      number('epoch'),
      text('status', 'state'),
    ],
  },
  members: { empty: 'the group has no members', columns: MEMBER_COLUMNS },
  declared: {
    empty: 'this router declares no member',
    columns: [
      text('group', 'Proxy Address'),
      text('name'),
      text('role'),
      text('address'),
      number('qpn', 'QPN'),
      text('edge'),
      number('psn-delta', 'PSN delta'),
      text('origin'),
      text('persistent'),
      text('status'),
    ],
  },
  branches: {
    empty: 'this router has no branch of the group',
    columns: [
      text('role'),
      text('kind'),
      text('branch'),
      number('qpn', 'QPN'),
      number('next-psn', 'next PSN'),
      number('lag'),
      number('nak-psn', 'NAK'),
      number('cnps', 'CNPs'),
      number('copies'),
      age('last-heard', 'heard'),
      number('stalled-ms', 'stalled (ms)'),
      text('status', 'state'),
    ],
  },
} as const satisfies Record<string, Pick<View, 'columns' | 'empty'>>;

/** A tree as text: a line for each router, receivers below their edge. */
export function treeLines(rows: readonly Row[]): string[] {
  const root = rows.find((row) => row['parent'] === undefined);
  if (!root) return ['the group has no tree: a source and receivers are needed'];
  const lines = [labelOf(root)];
  const seen = new Set<Row>([root]);
  const draw = (node: Row, indent: string): void => {
    const children = rows.filter((row) => row['parent'] === node['node'] && !seen.has(row));
    for (const child of children) seen.add(child);
    const hosts = (node['receivers'] as string[] | undefined) ?? [];
    const below = [
      ...(hosts.length > 0 ? [{ label: `receivers: ${few(hosts.map(printable), ', ')}`, child: undefined }] : []),
      ...children.map((child) => ({ label: labelOf(child), child })),
    ];
    for (const [i, { label, child }] of below.entries()) {
      const isLast = i === below.length - 1;
      lines.push(`${indent}${isLast ? '└─ ' : '├─ '}${label}`);
      if (child) draw(child, `${indent}${isLast ? '   ' : '│  '}`);
    }
  };
  draw(root, '');
  return lines;
}

const labelOf = (row: Row): string => {
  const names = [row['hostname'], row['router'] ?? 'advertised by no router'] as (string | undefined)[];
  const router = names.filter((name) => name !== undefined).join(', ');
  return printable(`${String(row['kind'])} ${String(row['node'])} (${router})`);
};
