// What `cnpctl show` asks for of OSPF and BGP, and how it is laid out.
import {
  type Cells,
  type View,
  address,
  age,
  few,
  list,
  number,
  port,
  shortAddresses,
  shortList,
  text,
} from './columns.ts';
import type { Column } from './table.ts';

/** OSPF is the same in both versions. @param name the carrier's container, and how it is written for people */
const ospfViews = (name: 'ospfv2' | 'ospfv3', title: string) =>
  ({
    neighbors: {
      path: ['cnpd', name, 'neighbors'],
      description: `${title} adjacencies, one per area`,
      empty: `there is no ${title} neighbor`,
      columns: [
        text('area'),
        port('interface'),
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
  ospfv2: { title: 'the OSPFv2 carrier', ...ospfViews('ospfv2', 'OSPFv2') },
  ospfv3: { title: 'the OSPFv3 carrier', ...ospfViews('ospfv3', 'OSPFv3') },
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
      address('address', 'neighbor'),
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
      address('prefix'),
      address('proxy'),
      text('status'),
      address('peer', 'neighbor'),
      address('next-hop', 'next hop'),
      address('header-next-hop', 'in attribute'),
      asPath,
      text('best'),
      shortAddresses('sids', 'SIDs'),
      shortList('unknown', 'unknown codes'),
      age('since', 'age'),
    ],
  },
} as const satisfies Record<string, View>;
