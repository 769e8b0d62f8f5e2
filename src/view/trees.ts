// Trees of End.MT groups on the links of the lab, as their roots compute them. Pure.
import type { TreeView } from './model.ts';
import { type Directory, way } from './network.ts';
import type { Row, Rows } from './rows.ts';

interface Link {
  readonly a: string;
  readonly b: string;
}

/** Trees that are shown. */
const MAX_TREES = 20;

const textOf = (row: Row, leaf: string): string => (typeof row[leaf] === 'string' ? row[leaf] : '');

/** The lab's node that a row of a tree stands for: by its hostname, which IS-IS floods, or by the address of the SID. */
function nodeOf(row: Row | undefined, names: ReadonlySet<string>, directory: Directory): string {
  if (!row) return '';
  const hostname = textOf(row, 'hostname');
  return names.has(hostname) ? hostname : directory.nameOf(textOf(row, 'node'));
}

interface Known {
  readonly names: ReadonlySet<string>;
  readonly links: readonly Link[];
  readonly directory: Directory;
}

function treeOf(group: string, name: string, rows: readonly Row[], { names, links, directory }: Known): TreeView {
  const bySid = new Map(rows.map((row) => [textOf(row, 'node'), row]));
  const named = (kind: string): string[] =>
    rows
      .filter((row) => row['kind'] === kind)
      .map((row) => nodeOf(row, names, directory))
      .filter((one) => one !== '');
  const hops = new Map<string, { from: string; to: string }>();
  const add = (path: readonly string[] | undefined): void => {
    for (const [i, to] of (path ?? []).entries())
      if (i > 0) hops.set(`${path![i - 1]} ${to}`, { from: path![i - 1]!, to });
  };
  const receivers = new Set<string>();
  for (const row of rows) {
    const at = nodeOf(row, names, directory);
    add(way(links, nodeOf(bySid.get(textOf(row, 'parent')), names, directory), at));
    for (const address of Array.isArray(row['receivers']) ? (row['receivers'] as unknown[]) : []) {
      const host = directory.nameOf(String(address));
      if (host === '') continue;
      receivers.add(host);
      add(way(links, at, host));
    }
  }
  const [root = ''] = named('root');
  return {
    group,
    name,
    root,
    branching: named('branching'),
    edges: named('edge'),
    receivers: [...receivers],
    hops: [...hops.values()],
  };
}

function byGroup(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const same = groups.get(textOf(row, 'group'));
    if (same) same.push(row);
    else groups.set(textOf(row, 'group'), [row]);
  }
  return groups;
}

/** One tree a group: of all nodes that know it, the root's, which has the most routers. */
export function trees(nodes: readonly Rows[], known: Known): TreeView[] {
  const best = new Map<string, { readonly rows: readonly Row[]; readonly name: string }>();
  for (const rows of nodes) {
    const groups = byGroup(rows.list('cnpd/groups/tree'));
    for (const [group, tree] of groups) {
      const own = rows.list('cnpd/groups/group').find((row) => row['proxy-address'] === group);
      const before = best.get(group);
      const name = (own && textOf(own, 'name')) || before?.name || '';
      best.set(group, { rows: before && before.rows.length >= tree.length ? before.rows : tree, name });
    }
  }
  return [...best]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_TREES)
    .map(([group, { rows, name }]) => treeOf(group, name, rows, known));
}
