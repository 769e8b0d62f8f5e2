// What `cnpctl show X` asks for and how it is laid out: one row a subject. The data arrive with YANG names (yang/cnpd.yang), which is also what
// `-o json` prints.
import { type Column, formatAge, formatTable, hex } from './table.ts';

/** A state value as it arrives. */
export type Row = Readonly<Record<string, unknown>>;

export interface View {
  /** Path below the root. */
  readonly path: readonly string[];
  readonly description: string;
  readonly empty: string;
  readonly columns: readonly Column<Cells>[];
}

/** A row with typed look-ups and the time of printing. */
export interface Cells {
  readonly row: Row;
  readonly nowMs: number;
}

const text = (name: string, header = name): Column<Cells> => ({ header, cell: ({ row }) => row[name] as string | undefined });
const number = (name: string, header = name): Column<Cells> => ({ header, cell: ({ row }) => row[name] as number | undefined, align: 'right' });
const list = (name: string, header = name): Column<Cells> => ({ header, cell: ({ row }) => (row[name] as string[] | undefined)?.join(', ') });
const age = (name: string, header: string): Column<Cells> => ({ header, cell: ({ row, nowMs }) => formatAge(row[name] as string | undefined, nowMs), align: 'right' });
const hexadecimal = (name: string, digits: number, header = name): Column<Cells> => ({ header, cell: ({ row }) => hex(row[name] as number | undefined, digits), align: 'right' });
/** A threshold of 0 is off. */
const threshold = (name: string, header: string): Column<Cells> => ({ header, cell: ({ row }) => (row[name] ? (row[name] as number) : 'off'), align: 'right' });

export const SENDER_COLUMNS: readonly Column<Cells>[] = [
  text('prefix'),
  { header: 'proxy', cell: ({ row }) => (row['proxy'] as string | undefined) ?? 'none' },
  text('best', 'in force'),
  text('carrier'),
  text('originator'),
  text('source'),
  number('metric'),
  age('since', 'age'),
  age('held-until', 'drops in'),
];

export const VIEWS = {
  proxies: {
    path: ['cnpd', 'proxies'],
    description: 'proxies that this router declares',
    empty: 'this router declares no proxy',
    columns: [text('address'), list('prefixes', 'sender prefixes'), text('format'), list('advertised-in', 'advertised in')],
  },
  senders: { path: ['cnpd', 'senders'], description: 'sender prefixes that the network taught', empty: 'no sender prefix is known', columns: SENDER_COLUMNS },
  neighbors: {
    path: ['cnpd', 'isis', 'neighbors'],
    description: 'IS-IS adjacencies',
    empty: 'there is no IS-IS neighbor',
    columns: [
      text('interface'),
      text('system-id', 'system ID'),
      text('hostname'),
      text('level'),
      text('state'),
      number('hold-time-remaining', 'hold (s)'),
      age('since', 'for'),
      text('reason'),
    ],
  },
  database: {
    path: ['cnpd', 'isis', 'database'],
    description: 'the IS-IS link state database',
    empty: 'the IS-IS database is empty',
    columns: [
      number('level'),
      text('lsp-id', 'LSP ID'),
      hexadecimal('sequence', 8),
      text('checksum'),
      number('lifetime', 'lifetime (s)'),
      number('length', 'length (B)'),
      text('own'),
      text('reachable'),
      text('overload'),
      number('proxy-prefixes', 'proxy prefixes'),
    ],
  },
  ports: {
    path: ['cnpd', 'ports'],
    description: 'ports that are watched',
    empty: 'no port is watched',
    columns: [
      text('interface'),
      text('attached'),
      text('root-qdisc', 'root qdisc'),
      number('queue-bytes', 'queue (B)'),
      number('peak-queue-bytes', 'peak (B)'),
      threshold('k-min', 'k-min (B)'),
      threshold('k-max', 'k-max (B)'),
      number('packets'),
      number('bytes'),
      number('ce-marked', 'CE marked'),
      number('triggers'),
      number('notifications', 'notices'),
      number('suppressed-per-flow', 'held per flow'),
      number('suppressed-per-port', 'held per port'),
      number('no-proxy', 'no proxy'),
    ],
  },
  flows: {
    path: ['cnpd', 'flows'],
    description: 'RoCEv2 flows that were seen',
    empty: 'no flow was seen',
    columns: [
      text('port'),
      text('source'),
      text('destination'),
      hexadecimal('destination-qpn', 6, 'dest QPN'),
      hexadecimal('source-qpn', 6, 'source QPN'),
      text('learned-from', 'learned from'),
      number('packets'),
      number('bytes'),
      number('notifications', 'notices'),
      age('last-seen', 'idle'),
    ],
  },
  counters: { path: ['cnpd', 'counters'], description: 'all counters', empty: 'nothing was counted yet', columns: [text('name'), number('value')] },
  codepoints: {
    path: ['cnpd', 'codepoints'],
    description: 'code points that the drafts leave unassigned',
    empty: 'there are no code points',
    columns: [text('name'), number('value'), number('default'), text('description'), text('source')],
  },
} as const satisfies Record<string, View>;

export const layOut = (view: Pick<View, 'columns' | 'empty'>, rows: readonly Row[], nowMs: number): string[] =>
  formatTable(view.columns, rows.map((row) => ({ row, nowMs })), view.empty);
