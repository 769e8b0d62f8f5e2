// The scene `multicast` as its topology file has it (containerlab/rdma-multicast; RMC, figure 1): hosts, tree, group.
import type { TransferOptions } from '../../lab/roce/transfer.ts';
import { type Host, type Port, topologyFile } from '../scene.ts';

/** A host with its Queue Pair. */
interface Endpoint extends Host {
  readonly qpn: number;
}

/** A link of the tree, from the source downwards. */
export interface TreeLink {
  readonly from: Port;
  readonly to: Port;
}

const link = (from: string, fromInterface: string, to: string, toInterface = 'eth1'): TreeLink => ({
  from: { node: from, interface: fromInterface },
  to: { node: to, interface: toInterface },
});

const receiver = (n: number): Endpoint => ({
  node: `r${n}`,
  interface: 'eth1',
  address: `2001:db8:1${n}::2`,
  qpn: 0x200 + n,
});

export const SOURCE: Endpoint = { node: 's1', interface: 'eth1', address: '2001:db8:1::2', qpn: 0x100 };
export const RECEIVERS: readonly Endpoint[] = [1, 2, 3, 4, 5].map(receiver);
export const GROUP = { name: 'weights', proxyAddress: '2001:db8:aa::1', designatedQpn: 0x1000 } as const;
export const ROOT = 'n6';
export const ROUTERS: readonly string[] = ['n6', 'n4', 'n5', 'n1', 'n2', 'n3'];
/** Of the End.MT SIDs: which router makes the copies for which receivers. */
export const EDGES: Readonly<Record<string, readonly string[]>> = { n1: ['r1', 'r2'], n2: ['r3'], n3: ['r4', 'r5'] };

export const TREE: readonly TreeLink[] = [
  link('s1', 'eth1', 'n6'),
  link('n6', 'eth2', 'n4'),
  link('n6', 'eth3', 'n5'),
  link('n4', 'eth2', 'n1'),
  link('n4', 'eth3', 'n2'),
  link('n5', 'eth2', 'n3'),
  link('n1', 'eth2', 'r1'),
  link('n1', 'eth3', 'r2'),
  link('n2', 'eth2', 'r3'),
  link('n3', 'eth2', 'r4'),
  link('n3', 'eth3', 'r5'),
];

export const TRANSFER: TransferOptions = { bytes: 4_000_000, payloadSize: 1024, packetsPerMessage: 16 };
/** As in the topology file. */
export const SOURCE_LINK_BPS = 50e6;

export type RunName = 'unicast' | 'group' | 'group-loss';

export interface MulticastRun {
  readonly name: RunName;
  readonly title: string;
  /** One of so many packets that arrive at this receiver is lost. */
  readonly loss?: { readonly receiver: string; readonly oneIn: number };
}

export const RUNS: readonly MulticastRun[] = [
  { name: 'unicast', title: `${RECEIVERS.length} unicast connections` },
  { name: 'group', title: 'one connection to the group' },
  {
    name: 'group-loss',
    title: 'the group, with loss in front of r3',
    loss: { receiver: 'r3', oneIn: 50 },
  },
];

export const MULTICAST = {
  name: 'multicast',
  title: 'one sender, many receivers: End.MT',
  path: 's1 – n6 – n4 – n1 – r1, r2; n4 – n2 – r3; n6 – n5 – n3 – r4, r5',
  file: topologyFile('rdma-multicast'),
} as const;

/** What routing must have brought before there is a path: the hosts' prefixes, and the locators of the SIDs. */
export const ROUTES: readonly (readonly [node: string, to: string])[] = [
  ...RECEIVERS.map(({ node }) => [ROOT, `2001:db8:1${node.slice(1)}::/64`] as const),
  ...[1, 2, 3, 4, 5].map((n) => [ROOT, `2001:db8:c${n}::/48`] as const),
  ...Object.keys(EDGES).flatMap((edge) => [[edge, '2001:db8:1::/64'] as const, [edge, '2001:db8:c6::/48'] as const]),
  ['n4', '2001:db8:c1::/48'],
  ['n4', '2001:db8:c2::/48'],
  ['n4', '2001:db8:c6::/48'],
  ['n5', '2001:db8:c3::/48'],
];
