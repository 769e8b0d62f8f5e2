// YANG data as JSON (RFC 7951), as Holo's northbound takes and gives it: reading, merging, and a form for operators.

export type Value = string | number | boolean | Tree | readonly Value[];
export interface Tree {
  readonly [name: string]: Value;
}

/** Keys of the lists that occur in what cnpd changes. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  interface: ['name'],
  'control-plane-protocol': ['type', 'name'],
  area: ['area-id'],
  'address-family-list': ['address-family'],
};

/** A leaf as it is shown. */
export const shown = (value: Value | undefined): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** RFC 7951 knows `null` in arrays alone, but what answers need not keep to it. */
export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The subtree at these names; empty when there is none. */
export const treeAt = (tree: Tree, ...names: readonly string[]): Tree =>
  names.reduce<Tree>((at, name) => {
    const child = at[name];
    return isTree(child) ? child : {};
  }, tree);

/** The entries of a list of trees. */
export const listAt = (tree: Tree, name: string): readonly Tree[] => {
  const list = tree[name];
  return Array.isArray(list) ? (list as readonly Value[]).filter(isTree) : [];
};

/** The entry with this key among the entries of a list. */
export const entryOf = (list: readonly Tree[], key: string, value: string): Tree | undefined =>
  list.find((entry) => entry[key] === value);

/** A tree with a change in it, as Holo merges it: entries of lists by their keys, elements of leaf-lists added. */
export function merged(tree: Tree, change: Tree): Tree {
  const result: Record<string, Value> = { ...tree };
  for (const [name, value] of Object.entries(change)) result[name] = mergedValue(name, result[name], value);
  return result;
}

function mergedValue(name: string, old: Value | undefined, value: Value): Value {
  if (isTree(value)) return isTree(old) ? merged(old, value) : value;
  if (!Array.isArray(value) || !Array.isArray(old)) return value;
  const keys = KEYS[name];
  const [before, added] = [old as readonly Value[], value as readonly Value[]];
  if (!keys) return [...before, ...added.filter((element) => !before.includes(element))];
  const same = (a: Tree, b: Tree): boolean => keys.every((key) => a[key] === b[key]);
  const [entries, changes] = [before.filter(isTree), added.filter(isTree)];
  return [
    ...entries.map((entry) => changes.filter((c) => same(entry, c)).reduce(merged, entry)),
    ...changes.filter((c) => !entries.some((entry) => same(entry, c))),
  ];
}

/** Leaves whose values are not shown. */
const SECRET = /^(?:key|ospfv[23]-key)$/;

/** One line a leaf: `PATH = VALUE`, without the names of modules. Keys of lists are in the path alone. */
export function leavesOf(tree: Tree, path = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const plain = name.replace(/^.*:/, '');
    const at = `${path}/${plain}`;
    if (isTree(value)) return leavesOf(value, at);
    if (!Array.isArray(value)) return [`${at} = ${SECRET.test(plain) ? '<key>' : shown(value)}`];
    const keys = KEYS[name];
    return (value as readonly Value[]).flatMap((entry) => {
      if (!isTree(entry) || !keys) return [`${at} = ${shown(entry)}`];
      const rest = Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)));
      const where = `${at}${keys.map((key) => `[${key}='${shown(entry[key])}']`).join('')}`;
      const leaves = leavesOf(rest, where);
      return leaves.length === 0 ? [where] : leaves;
    });
  });
}

const secretsIn = (tree: Tree): string[] =>
  Object.entries(tree).flatMap(([name, value]) => {
    if (isTree(value)) return secretsIn(value);
    if (Array.isArray(value)) return (value as readonly Value[]).filter(isTree).flatMap(secretsIn);
    return SECRET.test(name) && value !== '' ? [shown(value)] : [];
  });

/** A text of Holo's about a change, which may quote it. */
export const withoutSecrets = (text: string, change: Tree): string =>
  secretsIn(change).reduce((shown, secret) => shown.replaceAll(secret, '<key>'), text);
