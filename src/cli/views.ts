// What `cnpctl show X` asks for and how it is laid out: one row a subject. The data arrive with YANG names
// (yang/cnpd.yang), which is also what `-o json` prints. The views of OSPF and BGP are in carrier-views.ts.
import {
  type Cells,
  type View,
  type ViewColumn,
  address,
  addresses,
  age,
  hexadecimal,
  list,
  number,
  port,
  text,
} from './columns.ts';
import type { Row } from '../model/state.ts';
import type { Column } from './table.ts';

/** As cnpd.yaml and `ip route` call it: the main table by its name (RT_TABLE_MAIN). */
const routingTable: Column<Cells> = {
  header: 'table',
  cell: ({ row }) => (row['table'] === 254 ? 'main' : (row['table'] as number | undefined)),
  align: 'right',
};
/** The instruction of a Long-haul CNP, with its unit (LHCNP §5.5.1). */
const UNITS: Readonly<Record<string, string>> = { pause: ' µs', 'rate-reduce': ' %', resume: ' %' };
const instruction: Column<Cells> = {
  header: 'instruction',
  cell: ({ row }) => {
    const action = row['action'] as string | undefined;
    return action === undefined || UNITS[action] === undefined
      ? action
      : `${action} ${String(row['parameter'])}${UNITS[action]}`;
  },
};
/** bit/s in the largest unit that leaves three digits. */
const bitRate = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => {
    const rate = Number(row[name]);
    const [unit, size] = BIT_RATES.find(([, least]) => rate >= least) ?? ['bit/s', 1];
    return `${Number((rate / size).toPrecision(3))} ${unit}`;
  },
  align: 'right',
});
const BIT_RATES: readonly (readonly [unit: string, size: number])[] = [
  ['Gbit/s', 1e9],
  ['Mbit/s', 1e6],
  ['kbit/s', 1e3],
];

/** A threshold of 0 is off. */
const threshold = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => (row[name] ? (row[name] as number) : 'off'),
  align: 'right',
});

/** What does not count is in brackets. */
function understands(row: Row): string {
  const formats = ((row['supports'] as string[] | undefined) ?? []).join(', ');
  return formats === '' || row['supports-in-force'] === true ? formats : `(${formats})`;
}

const SENDER_COLUMNS: readonly ViewColumn[] = [
  address('prefix'),
  { ...address('proxy'), cell: ({ row }) => (row['proxy'] as string | undefined) ?? 'none' },
  text('best', 'in force'),
  text('carrier'),
  text('originator'),
  text('source'),
  number('metric'),
  { header: 'understands', cell: ({ row }) => understands(row) },
  age('since', 'age'),
  age('held-until', 'drops in'),
];

export const VIEWS = {
  proxies: {
    path: ['cnpd', 'proxies'],
    description: 'proxies that this router declares',
    empty: 'this router declares no proxy',
    columns: [
      address('address'),
      addresses('prefixes', 'sender prefixes'),
      text('format'),
      list('advertised-in', 'advertised in'),
    ],
  },
  senders: {
    path: ['cnpd', 'senders'],
    description: 'sender prefixes learned from the network',
    empty: 'no sender prefix is known',
    columns: SENDER_COLUMNS,
  },
  neighbors: {
    path: ['cnpd', 'isis', 'neighbors'],
    description: 'IS-IS adjacencies',
    empty: 'there is no IS-IS neighbor',
    columns: [
      port('interface'),
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
    description: 'monitored ports',
    empty: 'no port is monitored',
    columns: [
      port('interface'),
      text('attached'),
      text('root-qdisc', 'root qdisc'),
      number('queue-bytes', 'queue (B)'),
      number('peak-queue-bytes', 'peak (B)'),
      threshold('k-min', 'k-min (B)'),
      threshold('k-max', 'k-max (B)'),
      threshold('v-ecn', 'v-ecn (%)'),
      number('ecn-marking-rate', 'marked (%)'),
      threshold('v-growth', 'v-growth (B/s)'),
      number('queue-growth', 'growth (B/s)'),
      number('rtt-ms', 'RTT (ms)'),
      number('packets'),
      number('bytes'),
      number('ce-marked', 'CE marked'),
      number('unseen'),
    ],
  },
  triggers: {
    path: ['cnpd', 'ports'],
    description: 'outcome of the triggers of each port',
    empty: 'no port is monitored',
    columns: [
      port('interface'),
      number('triggers'),
      number('notifications', 'notices'),
      number('suppressed-per-flow', 'held per flow'),
      number('suppressed-per-port', 'held per port'),
      number('not-contributing', 'small flow'),
      number('deferred'),
      number('no-format', 'no format'),
      number('no-proxy', 'no proxy'),
    ],
  },
  flows: {
    path: ['cnpd', 'flows'],
    description: 'RoCEv2 flows seen',
    empty: 'no flow was seen',
    columns: [
      port('port'),
      address('source'),
      address('destination'),
      hexadecimal('destination-qpn', 6, 'dest QPN'),
      hexadecimal('source-qpn', 6, 'source QPN'),
      text('learned-from', 'learned from'),
      number('packets'),
      number('bytes'),
      number('notifications', 'notices'),
      age('last-seen', 'idle'),
    ],
  },
  notifications: {
    path: ['cnpd', 'notifications'],
    description: 'the latest notifications, newest first',
    empty: 'no notification was sent',
    columns: [
      age('at', 'ago'),
      port('port'),
      text('format'),
      text('reason'),
      address('source', 'sender'),
      address('destination', 'receiver'),
      hexadecimal('destination-qpn', 6, 'dest QPN'),
      hexadecimal('source-qpn', 6, 'source QPN'),
      number('queue-bytes', 'queue (B)'),
      number('level'),
      instruction,
      address('end-con', 'through END.CON'),
    ],
  },
  sources: {
    path: ['cnpd', 'sources'],
    description: 'senders for which this router takes notifications',
    empty: 'this router takes no notifications for senders',
    columns: [
      address('prefix', 'senders'),
      text('action'),
      number('notifications'),
      age('last-notification', 'last'),
      address('last-node', 'from'),
    ],
  },
  received: {
    path: ['cnpd', 'received'],
    description: 'the latest notifications taken for senders, newest first',
    empty: 'no notification was taken',
    columns: [
      age('at', 'ago'),
      port('port'),
      address('node'),
      text('format'),
      address('sender'),
      hexadecimal('sender-qpn', 6, 'source QPN'),
      address('receiver'),
      hexadecimal('receiver-qpn', 6, 'dest QPN'),
      number('level'),
      instruction,
      text('result'),
    ],
  },
  holds: {
    path: ['cnpd', 'holds'],
    description: 'flows that this router slows down in place of their senders',
    empty: 'no flow is held',
    columns: [
      address('sender'),
      hexadecimal('sender-qpn', 6, 'source QPN'),
      address('receiver'),
      hexadecimal('receiver-qpn', 6, 'dest QPN'),
      text('state'),
      bitRate('rate'),
      bitRate('normal-rate', 'normal'),
      addresses('nodes'),
      instruction,
      age('since', 'age'),
      age('until', 'ends in'),
    ],
  },
  sids: {
    path: ['cnpd', 'sids'],
    description: 'SIDs, own and learned: END.CON, End.MT, replication',
    empty: 'no SID is known',
    columns: [
      address('sid', 'SID'),
      text('behavior'),
      text('origin'),
      text('status'),
      routingTable,
      text('carrier'),
      text('originator'),
    ],
  },
  rtt: {
    path: ['cnpd', 'rtt'],
    description: 'targets of RTT probes (STAMP)',
    empty: 'no RTT target is configured',
    columns: [
      address('target'),
      port('port'),
      text('source'),
      number('rtt-ms', 'RTT (ms)'),
      number('min-rtt-ms', 'least (ms)'),
      number('sent'),
      number('received', 'answered'),
      age('last-answer', 'last answer'),
    ],
  },
  counters: {
    path: ['cnpd', 'counters'],
    description: 'all counters',
    empty: 'nothing was counted yet',
    columns: [text('name'), number('value')],
  },
  codepoints: {
    path: ['cnpd', 'codepoints'],
    description: 'code points that the drafts leave unassigned',
    empty: 'there are no code points',
    columns: [text('name'), number('value'), number('default'), text('description'), text('source')],
  },
} as const satisfies Record<string, View>;
