// What TARGET_DEFINED makes of a leaf. Counters, measured values and remaining times change all the time: they are
// sampled. Everything else is state, and sent when it changes.
import type { CheckedPath } from '../paths.ts';
import { ROOT, type SchemaNode } from '../schema.ts';
import { leavesOf } from './places.ts';

export type LeafClass = 'state' | 'measured';

/** Times and positions that move on while nothing happens. */
const MOVING: ReadonlySet<string> = new Set([
  'hold-time-remaining',
  'dead-time-remaining',
  'lifetime',
  'age',
  'last-seen',
  'last-heard',
  'last-answer',
  'next-psn',
  'lag',
  'silent',
]);

/** Numbers that are configured or derived from what is. */
const SETTINGS: ReadonlySet<string> = new Set([
  'k-min',
  'k-max',
  'v-ecn',
  'v-growth',
  'measurement-interval-ms',
  'pause-above',
  'resume-below',
]);

const classes = new Map<SchemaNode, readonly LeafClass[]>();

/** By place in the row of a node's leaves. */
export function leafClasses(node: SchemaNode): readonly LeafClass[] {
  let known = classes.get(node);
  if (!known) classes.set(node, (known = leavesOf(node).map((leaf) => classOf(leaf, node))));
  return known;
}

function classOf(leaf: SchemaNode, parent: SchemaNode): LeafClass {
  if (parent.keys.includes(leaf) || SETTINGS.has(leaf.name)) return 'state';
  const isMeasured = leaf.type === 'uint64' || leaf.type === 'decimal64' || MOVING.has(leaf.name);
  return isMeasured ? 'measured' : 'state';
}

/** Whether the path can select leaves of the class. */
export function hasLeaves({ steps }: CheckedPath, leafClass: LeafClass | 'all'): boolean {
  let nodes: readonly SchemaNode[] = [ROOT];
  for (const [i, { name }] of steps.entries()) {
    const next = nodes.flatMap((node) => [...node.children.values()].filter((n) => name === '*' || n.name === name));
    const isLeaf = (node: SchemaNode): boolean => node.children.size === 0;
    if (i === steps.length - 1 && nodes.some((node) => hasLeaf(node, leafClass, (leaf) => next.includes(leaf))))
      return true;
    nodes = next.filter((node) => !isLeaf(node));
  }
  return nodes.some((node) => isAnywhere(node, leafClass));
}

const hasLeaf = (node: SchemaNode, wanted: LeafClass | 'all', among: (leaf: SchemaNode) => boolean): boolean =>
  leavesOf(node).some((leaf, i) => (wanted === 'all' || leafClasses(node)[i] === wanted) && among(leaf));

const isAnywhere = (node: SchemaNode, wanted: LeafClass | 'all'): boolean =>
  hasLeaf(node, wanted, () => true) || [...node.children.values()].some((child) => isAnywhere(child, wanted));
