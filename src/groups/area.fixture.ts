// For tests: random areas. Router `rN` runs the routing daemon, and the cnpd beside it is the stub `cN`, some of them
// behind a pseudonode.
import fc from 'fast-check';
import { type IpAddress, address } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import type { TopologyNode, TopologyReport } from '../model/topology.ts';
import type { LocatedSid, OwnSids } from './network.ts';

export const GROUP = address('2001:db8:aa::1');
export const edgeSid = (n: number): IpAddress => address(`2001:db8:e:${n.toString(16)}::1`);
export const replicationSid = (n: number): IpAddress => address(`2001:db8:f:${n.toString(16)}::1`);

export interface World {
  /** Pairs of routers with the cost in each direction. */
  readonly links: readonly (readonly [a: number, b: number, there: number, back: number])[];
  readonly size: number;
  readonly replicates: readonly boolean[];
  readonly overloaded: ReadonlySet<number>;
  readonly receivers: readonly number[];
}

const SIZE = 9;
const node = fc.integer({ min: 0, max: SIZE - 1 });
const cost = fc.integer({ min: 0, max: 3 });

/** Router 0 is the root. */
export const worlds: fc.Arbitrary<World> = fc.record({
  links: fc.array(fc.tuple(node, node, cost, cost), { maxLength: 20 }),
  size: fc.constant(SIZE),
  replicates: fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }),
  overloaded: fc.array(node, { maxLength: 2 }).map((all) => new Set(all)),
  receivers: fc.array(node, { minLength: 1, maxLength: 12 }),
});

export const replicates = ({ replicates: flags }: World, n: number): boolean => n === 0 || flags[n] === true;

/** As router `self` knows it. @param order of nodes and links in the report */
export function topologyOf({ links, size, overloaded }: World, self: number, order: 1 | -1 = 1): TopologyReport {
  const pairs: (readonly [string, string, number, number])[] = links
    .filter(([a, b]) => a !== b)
    .map(([a, b, there, back]) => [`r${a}`, `r${b}`, there, back]);
  for (let n = 0; n < size; n++)
    if (n % 2) pairs.push([`r${n}`, `c${n}`, 10, 10]);
    else pairs.push([`r${n}`, `r${n}.1`, 10, 0], [`c${n}`, `r${n}.1`, 10, 0]);
  const nodes = new Map<string, TopologyNode & { links: { to: string; cost: number }[] }>();
  const nodeOf = (name: string) => {
    const isPseudonode = name.includes('.');
    const isTransit = isPseudonode || (name.startsWith('r') && !overloaded.has(Number(name.slice(1))));
    const found = nodes.get(name) ?? { ...(!isPseudonode && { originator: `L2 ${name}` }), isTransit, links: [] };
    nodes.set(name, found);
    return found;
  };
  for (const [a, b, there, back] of pairs) {
    nodeOf(a).links.push({ to: b, cost: there });
    nodeOf(b).links.push({ to: a, cost: back });
  }
  const inOrder = [...nodes].map(([name, one]) => [name, { ...one, links: turned(one.links, order) }] as const);
  return { carrier: 'isis', areas: [{ area: 'L2', self: `c${self}`, nodes: new Map(turned(inOrder, order)) }] };
}

const turned = <T>(all: readonly T[], order: 1 | -1): T[] => (order === 1 ? [...all] : [...all].reverse());

export const sidsOf = (world: World, self: number, order: 1 | -1 = 1): LocatedSid[] =>
  turned(
    Array.from({ length: world.size }, (_, n) => n)
      .filter((n) => n !== self)
      .flatMap((n): LocatedSid[] => [
        { sid: edgeSid(n), kind: 'edge', carrier: 'isis', originator: `L2 c${n}` },
        ...(replicates(world, n)
          ? [{ sid: replicationSid(n), kind: 'replication', carrier: 'isis', originator: `L2 c${n}` } as const]
          : []),
      ]),
    order,
  );

export const ownSids = (world: World, n: number): OwnSids => ({
  edge: edgeSid(n),
  ...(replicates(world, n) && { replication: replicationSid(n) }),
});

export const membersOf = ({ receivers }: Pick<World, 'receivers'>): GroupMember[] => [
  { group: GROUP, role: 'source', address: address('2001:db8:1::1'), qpn: 9, node: replicationSid(0), psnDelta: 0 },
  ...receivers.map((n, i): GroupMember => ({
    ...{ group: GROUP, role: 'receiver', address: address(`2001:db8:2::${(i + 1).toString(16)}`), qpn: 100 + i },
    ...{ node: edgeSid(n), psnDelta: 0 },
  })),
];
