// The tables of `cnpctl show groups`, and the drawing of a tree.
import type { Row } from '../model/state.ts';
import { type View, address, age, few, list, number, text } from './columns.ts';
import { printable, wrap } from './table.ts';

const MEMBER_COLUMNS: View['columns'] = [
  address('group', 'Proxy Address'),
  text('name'),
  text('role'),
  address('address'),
  {
    header: 'QPN',
    cell: ({ row }) => (row['role'] === 'source' ? `${String(row['qpn'])} (designated)` : String(row['qpn'])),
    align: 'right',
  },
  address('node', 'SID'),
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
      address('proxy-address', 'Proxy Address'),
      list('roles', 'role here'),
      address('source'),
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
      address('group', 'Proxy Address'),
      text('name'),
      text('role'),
      address('address'),
      number('qpn', 'QPN'),
      address('edge'),
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
      address('branch'),
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

/** A tree as text: a line for each router, receivers below their edge. Longer ones are wrapped at `width`. */
export function treeLines(rows: readonly Row[], width: number): string[] {
  const root = rows.find((row) => row['parent'] === undefined);
  if (!root) return ['the group has no tree: a source and receivers are needed'];
  const lines = hang(labelOf(root), '', '  ', width);
  const seen = new Set<Row>([root]);
  const draw = (node: Row, indent: string): void => {
    const children = rows.filter((row) => row['parent'] === node['node'] && !seen.has(row));
    for (const child of children) seen.add(child);
    const hosts = (node['receivers'] as string[] | undefined) ?? [];
    const parts = [
      ...(hosts.length > 0 ? [{ label: `receivers: ${few(hosts.map(printable), ', ')}`, child: undefined }] : []),
      ...children.map((child) => ({ label: labelOf(child), child })),
    ];
    for (const [i, { label, child }] of parts.entries()) {
      const isLast = i === parts.length - 1;
      const below = `${indent}${isLast ? '   ' : '│  '}`;
      lines.push(...hang(label, `${indent}${isLast ? '└─ ' : '├─ '}`, `${below}  `, width));
      if (child) draw(child, below);
    }
  };
  draw(root, '');
  return lines;
}

/** The text after `first`, and what does not fit after `rest`. */
function hang(text: string, first: string, rest: string, width: number): string[] {
  return wrap(text, width - rest.length).map((line, i) => `${i === 0 ? first : rest}${line}`);
}

const labelOf = (row: Row): string => {
  const names = [row['hostname'], row['router'] ?? 'advertised by no router'] as (string | undefined)[];
  const router = names.filter((name) => name !== undefined).join(', ');
  return printable(`${String(row['kind'])} ${String(row['node'])} (${router})`);
};
