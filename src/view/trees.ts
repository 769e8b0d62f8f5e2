// Trees of End.MT groups on the links of the lab, as their roots compute them. Pure.
import type { TreeView } from './model.ts';
import { type Directory, type Link, way } from './network.ts';
import { type Row, type Rows, textOf } from './rows.ts';

/** Trees that are shown. */
const MAX_TREES = 20;

interface Known {
  readonly links: readonly Link[];
  readonly directory: Directory;
}

interface Found {
  readonly rows: readonly Row[];
  readonly name: string;
  /** Address of the source. */
  readonly source: string;
}

function treeOf(group: string, { rows, name, source }: Found, { links, directory }: Known): TreeView {
  const named = (kind: string): string[] =>
    rows
      .filter((row) => row['kind'] === kind)
      .map((row) => directory.nameOf(textOf(row, 'node')))
      .filter((one) => one !== '');
  const hops = new Map<string, { from: string; to: string }>();
  const add = (path: readonly string[] | undefined): void => {
    for (const [i, to] of (path ?? []).entries())
      if (i > 0) hops.set(`${path![i - 1]} ${to}`, { from: path![i - 1]!, to });
  };
  const receivers = new Set<string>();
  for (const row of rows) {
    const at = directory.nameOf(textOf(row, 'node'));
    add(way(links, directory.nameOf(textOf(row, 'parent')), at));
    for (const address of Array.isArray(row['receivers']) ? (row['receivers'] as unknown[]) : []) {
      const host = directory.nameOf(String(address));
      if (host === '') continue;
      receivers.add(host);
      add(way(links, at, host));
    }
  }
  const [root = ''] = named('root');
  const host = directory.nameOf(source);
  if (host !== '') add(way(links, host, root));
  return {
    ...{ group, name, root, source: host },
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
  const best = new Map<string, Found>();
  for (const rows of nodes) {
    const groups = byGroup(rows.list('cnpd/groups/tree'));
    for (const [group, tree] of groups) {
      const own = rows.list('cnpd/groups/group').find((row) => row['proxy-address'] === group);
      const before = best.get(group);
      const name = textOf(own, 'name') || before?.name || '';
      const source = textOf(own, 'source') || before?.source || '';
      best.set(group, { rows: before && before.rows.length >= tree.length ? before.rows : tree, name, source });
    }
  }
  return [...best]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_TREES)
    .map(([group, found]) => treeOf(group, found, known));
}
