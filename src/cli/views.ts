// What `cnpctl show X` asks for and how it is laid out: one row a subject. The data arrive with YANG names
// (yang/cnpd.yang), which is also what `-o json` prints.
import type { Row } from '../model/state.ts';
import { type Column, formatAge, formatTable, hex } from './table.ts';

export interface View {
  /** Path below the root. */
  readonly path: readonly string[];
  readonly description: string;
  readonly empty: string;
  readonly columns: readonly Column<Cells>[];
}

/** A row with typed look-ups and the time of printing. */
interface Cells {
  readonly row: Row;
  readonly nowMs: number;
}

const text = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => row[name] as string | undefined,
});
const number = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => row[name] as number | undefined,
  align: 'right',
});
const list = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => (row[name] as string[] | undefined)?.join(', '),
});
/** Of what a neighbour may have said a thousand times; JSON has all of it. */
const FEW = 8;
const few = (items: readonly unknown[], separator: string): string =>
  `${items.slice(0, FEW).join(separator)}${items.length > FEW ? ` and ${items.length - FEW} more` : ''}`;
const shortList = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => few((row[name] as unknown[] | undefined) ?? [], ', '),
});
const age = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row, nowMs }) => formatAge(row[name] as string | undefined, nowMs),
  align: 'right',
});
const hexadecimal = (name: string, digits: number, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => hex(row[name] as number | undefined, digits),
  align: 'right',
});
/** As cnpd.yaml and `ip route` call it: the main table by its name (RT_TABLE_MAIN). */
const routingTable: Column<Cells> = {
  header: 'table',
  cell: ({ row }) => (row['table'] === 254 ? 'main' : (row['table'] as number | undefined)),
  align: 'right',
};
/** What a Long-haul CNP asks for, with its unit (LHCNP §5.5.1). */
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
/** A threshold of 0 is off. */
const threshold = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => (row[name] ? (row[name] as number) : 'off'),
  align: 'right',
});

const SENDER_COLUMNS: readonly Column<Cells>[] = [
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

/** OSPF is the same in both versions. @param name the carrier's container, and how it is written for people */
const ospfViews = (name: 'ospfv2' | 'ospfv3', title: string) =>
  ({
    neighbors: {
      path: ['cnpd', name, 'neighbors'],
      description: `${title} adjacencies, one an area`,
      empty: `there is no ${title} neighbor`,
      columns: [
        text('area'),
        text('interface'),
        text('router-id', 'router ID'),
        text('state'),
        number('dead-time-remaining', 'dead in (s)'),
        number('mtu', 'MTU (B)'),
        text('takes-opaque', 'takes ours'),
        number('unacknowledged'),
        age('since', 'for'),
        text('reason'),
      ],
    },
    database: {
      path: ['cnpd', name, 'database'],
      description: `the ${title} link state database`,
      empty: `the ${title} database is empty`,
      columns: [
        text('area'),
        text('type'),
        text('ls-id', 'link-state ID'),
        text('router'),
        text('sequence'),
        text('checksum'),
        number('age', 'age (s)'),
        number('length', 'length (B)'),
        text('own'),
        text('reachable'),
        number('proxy-prefixes', 'proxy prefixes'),
      ],
    },
  }) as const satisfies Record<string, View>;

export const OSPF_VIEWS = {
  ospf: { title: 'the OSPFv2 carrier', ...ospfViews('ospfv2', 'OSPFv2') },
  ospf3: { title: 'the OSPFv3 carrier', ...ospfViews('ospfv3', 'OSPFv3') },
} as const;

/** AS_PATH of a path that has crossed no AS is empty. */
const asPath: Column<Cells> = {
  header: 'AS path',
  cell: ({ row }) => (row['as-path'] ? few((row['as-path'] as string).split(' '), ' ') : 'own AS'),
};

export const BGP_VIEWS = {
  session: {
    path: ['cnpd', 'bgp', 'session'],
    description: 'the connection to gobgpd',
    empty: 'there is no BGP carrier: cnpd.yaml has no bgp section',
    columns: [
      text('target'),
      text('state'),
      text('api', 'API'),
      number('as', 'AS'),
      text('router-id', 'router ID'),
      number('originated'),
      number('wanted'),
      number('learned'),
      number('with-proxy', 'with proxy'),
      text('policy'),
      age('since', 'for'),
      text('reason'),
    ],
  },
  peers: {
    path: ['cnpd', 'bgp', 'peers'],
    description: "gobgpd's BGP neighbors",
    empty: 'there is no BGP neighbor',
    columns: [
      text('address', 'neighbor'),
      number('as', 'AS'),
      text('in-domain', 'of the domain'),
      text('state'),
      list('families'),
      number('received'),
      number('advertised'),
    ],
  },
  paths: {
    path: ['cnpd', 'bgp', 'paths'],
    description: 'paths that cnpd originates, and those with Next Hop Dependent Characteristics',
    empty: 'there is no path with Next Hop Dependent Characteristics',
    columns: [
      text('prefix'),
      text('proxy'),
      text('status'),
      text('peer', 'neighbor'),
      text('next-hop', 'next hop'),
      text('header-next-hop', 'in attribute'),
      asPath,
      text('best'),
      shortList('sids', 'SIDs'),
      shortList('unknown', 'unknown codes'),
      age('since', 'age'),
    ],
  },
} as const satisfies Record<string, View>;

export const VIEWS = {
  proxies: {
    path: ['cnpd', 'proxies'],
    description: 'proxies that this router declares',
    empty: 'this router declares no proxy',
    columns: [
      text('address'),
      list('prefixes', 'sender prefixes'),
      text('format'),
      list('advertised-in', 'advertised in'),
    ],
  },
  senders: {
    path: ['cnpd', 'senders'],
    description: 'sender prefixes that the network taught',
    empty: 'no sender prefix is known',
    columns: SENDER_COLUMNS,
  },
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
    description: 'what became of the triggers of each port',
    empty: 'no port is watched',
    columns: [
      text('interface'),
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
  notifications: {
    path: ['cnpd', 'notifications'],
    description: 'the latest notifications, the newest first',
    empty: 'no notification was sent',
    columns: [
      age('at', 'ago'),
      text('port'),
      text('format'),
      text('reason'),
      text('source', 'sender'),
      text('destination', 'receiver'),
      hexadecimal('destination-qpn', 6, 'dest QPN'),
      hexadecimal('source-qpn', 6, 'source QPN'),
      number('queue-bytes', 'queue (B)'),
      number('level'),
      instruction,
      text('end-con', 'through END.CON'),
    ],
  },
  sids: {
    path: ['cnpd', 'sids'],
    description: 'END.CON SIDs, own and learned',
    empty: 'no SID is known',
    columns: [
      text('sid', 'SID'),
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
    empty: 'no RTT is probed',
    columns: [
      text('target'),
      text('port'),
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

export const layOut = (view: Pick<View, 'columns' | 'empty'>, rows: readonly Row[], nowMs: number): string[] =>
  formatTable(
    view.columns,
    rows.map((row) => ({ row, nowMs })),
    view.empty,
  );
