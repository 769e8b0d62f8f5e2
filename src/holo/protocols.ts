// IS-IS and OSPF in Holo's configuration (ietf-isis, ietf-ospf and Holo's augmentations of them), with all defaults
// filled in, and changes of an interface there. Only what the preconditions need is read.
import type { Step } from './northbound.ts';
import { type Tree, type Value, entryOf, listAt, shown, treeAt } from './tree.ts';

export type Protocol = 'isis' | 'ospfv2' | 'ospfv3';

const TYPE = { isis: 'ietf-isis:isis', ospfv2: 'ietf-ospf:ospfv2', ospfv3: 'ietf-ospf:ospfv3' } as const;
const CONTAINER = { isis: 'ietf-isis:isis', ospfv2: 'ietf-ospf:ospf', ospfv3: 'ietf-ospf:ospf' } as const;

export interface Instance {
  readonly protocol: Protocol;
  readonly name: string;
  /** Inside the container of the protocol. */
  readonly config: Tree;
}

/** Those that are enabled. */
export const instancesOf = (config: Tree, protocol: Protocol): Instance[] =>
  listAt(treeAt(config, 'ietf-routing:routing', 'control-plane-protocols'), 'control-plane-protocol')
    .filter(({ type }) => type === TYPE[protocol])
    .map((entry) => ({ protocol, name: shown(entry['name']), config: treeAt(entry, CONTAINER[protocol]) }))
    .filter((instance) => instance.config['enabled'] !== false);

export const text = (tree: Tree, leaf: string): string | undefined =>
  tree[leaf] === undefined ? undefined : shown(tree[leaf]);
export const number = (tree: Tree, leaf: string): number | undefined =>
  tree[leaf] === undefined ? undefined : Number(tree[leaf]);
export const words = (tree: Tree, leaf: string): string[] => {
  const list = tree[leaf];
  return Array.isArray(list) ? (list as readonly Value[]).map(shown) : [];
};

export const interfaceOf = (config: Tree, name: string): Tree | undefined =>
  entryOf(listAt(treeAt(config, 'interfaces'), 'interface'), 'name', name);

export const areasOf = (instance: Instance): readonly Tree[] => listAt(treeAt(instance.config, 'areas'), 'area');

/** How PDUs or packets are authenticated. */
export type HoloKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'chain'; readonly name: string }
  | { readonly kind: 'key'; readonly id?: number; readonly algorithm: string; readonly key: string };

/** @param names of the leaves; RFC 8177 names of algorithms, without their module */
export function keyIn(
  tree: Tree,
  names: { readonly chain: string; readonly key: string; readonly algorithm: string; readonly id?: string },
): HoloKey {
  const [chain, key] = [text(tree, names.chain), text(tree, names.key)];
  if (chain !== undefined) return { kind: 'chain', name: chain };
  if (key === undefined) return { kind: 'none' };
  const id = names.id === undefined ? undefined : number(tree, names.id);
  const algorithm = (text(tree, names.algorithm) ?? '').replace(/^.*:/, '');
  return { kind: 'key', algorithm, key, ...(id !== undefined && { id }) };
}

/** A change inside the container of an instance. */
const inInstance = ({ protocol, name }: Instance, config: Tree): Tree => ({
  'ietf-routing:routing': {
    'control-plane-protocols': {
      'control-plane-protocol': [{ type: TYPE[protocol], name, [CONTAINER[protocol]]: config }],
    },
  },
});

/** A change of one interface. @param area of OSPF */
export const onInterface = (instance: Instance, name: string, config: Tree, area?: string): Tree => {
  const interfaces: Tree = { interfaces: { interface: [{ name, ...config }] } };
  return inInstance(
    instance,
    area === undefined ? interfaces : { areas: { area: [{ 'area-id': area, ...interfaces }] } },
  );
};

/** Protocols may name only interfaces that this list has. */
export const listed = (name: string): Tree => ({
  'ietf-interfaces:interfaces': {
    interface: [
      {
        name,
        type: 'iana-if-type:ethernetCsmacd',
        'ietf-ip:ipv4': { enabled: true },
        'ietf-ip:ipv6': { enabled: true },
      },
    ],
  },
});

/** Where the state of an interface is. */
export const statePath = ({ protocol, name }: Instance, interfaceName: string, area?: string): Step[] => [
  'ietf-routing:routing',
  'control-plane-protocols',
  ['control-plane-protocol', { type: TYPE[protocol], name }],
  CONTAINER[protocol],
  ...(area === undefined ? [] : ['areas', ['area', { 'area-id': area }] as const]),
  'interfaces',
  ['interface', { name: interfaceName }],
];

/** That state, out of an answer. */
export function stateIn(answer: Tree, protocol: Protocol): Tree {
  const [entry = {}] = listAt(
    treeAt(answer, 'ietf-routing:routing', 'control-plane-protocols'),
    'control-plane-protocol',
  );
  const inside = treeAt(entry, CONTAINER[protocol]);
  const [area] = listAt(treeAt(inside, 'areas'), 'area');
  return listAt(treeAt(area ?? inside, 'interfaces'), 'interface')[0] ?? {};
}
