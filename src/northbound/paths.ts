// gNMI paths over the schema (gNMI Path Conventions, https://github.com/openconfig/reference: wildcards `*`, absent
// keys match all). This file checks a request's path against the schema, before any state is read, and turns it into
// steps; select.ts walks the state along them. `...` and the deprecated string elements are refused.
import { formatAddress, parseAddress } from '../model/address.ts';
import { formatPrefix, parsePrefix } from '../model/prefix.ts';
import type { Path, PathElem } from './gen/gnmi/gnmi_pb.js';
import { RpcError } from './rpc-error.ts';
import { MODULE, ROOT, type SchemaNode } from './schema.ts';

/** One element of a checked path. */
export interface Step {
  /** YANG name, or `*`. */
  readonly name: string;
  /** Canonical text by YANG key name; keys that match everything are left out. */
  readonly keys: ReadonlyMap<string, string>;
  /** Whether the request wrote any key at all: `list` names the list, `list[key=*]` its entries. */
  readonly keyed: boolean;
}

export interface CheckedPath {
  readonly steps: readonly Step[];
  /** Whether an empty answer is no error: some element is a wildcard. */
  readonly pattern: boolean;
}

/** The path of these names, which are known to exist: without keys and wildcards. */
export const checkedNames = (names: readonly string[]): CheckedPath => ({
  steps: names.map((name) => ({ name, keys: new Map(), keyed: false })),
  pattern: false,
});

const MAX_ELEMENTS = 32;

/** One path element as text: `senders[prefix=::/0]`, with `]` and `\` escaped as the conventions say. */
export function formatElem(name: string, keys: Iterable<readonly [string, string]>): string {
  return name + [...keys].map(([key, value]) => `[${key}=${value.replace(/[\\\]]/g, '\\$&')}]`).join('');
}

export const formatPath = (elems: readonly Pick<PathElem, 'name' | 'key'>[]): string =>
  `/${elems.map((elem) => formatElem(elem.name, Object.entries(elem.key))).join('/')}`;

/**
 * Joins prefix and path and checks them against the schema.
 * @throws RpcError NOT_FOUND naming the first element that does not exist; INVALID_ARGUMENT for keys that do not fit;
 * UNIMPLEMENTED for `...`.
 */
export function checkPath(prefix: Path | undefined, path: Path): CheckedPath {
  checkOrigin(prefix, path);
  for (const part of [prefix, path]) {
    if (part && part.element.length > 0)
      throw new RpcError('INVALID_ARGUMENT', 'Path.element is deprecated and not served: use Path.elem');
  }
  if (path.target !== '')
    throw new RpcError('INVALID_ARGUMENT', 'target belongs in the prefix of the request, not in a path');
  const elems = [...(prefix?.elem ?? []), ...path.elem];
  if (elems.length > MAX_ELEMENTS)
    throw new RpcError('INVALID_ARGUMENT', `the path has ${elems.length} elements; at most ${MAX_ELEMENTS} make sense`);
  let frontier: readonly SchemaNode[] = [ROOT];
  const steps: Step[] = [];
  for (const [i, elem] of elems.entries()) {
    const where = formatPath(elems.slice(0, i + 1));
    const { step, nodes } = checkElem(frontier, elem, where);
    steps.push(step);
    frontier = nodes;
  }
  return { steps, pattern: steps.some((step) => step.name === '*') };
}

function checkOrigin(prefix: Path | undefined, path: Path): void {
  if (prefix?.origin && path.origin)
    throw new RpcError('INVALID_ARGUMENT', 'origin is given in the prefix and in a path: give it once');
  const origin = prefix?.origin || path.origin;
  if (origin && origin !== MODULE.name)
    throw new RpcError(
      'INVALID_ARGUMENT',
      `origin ${JSON.stringify(clip(origin))} is not served: leave it out or use ${MODULE.name}`,
    );
}

function checkElem(
  frontier: readonly SchemaNode[],
  elem: PathElem,
  where: string,
): { step: Step; nodes: SchemaNode[] } {
  const name = elem.name.startsWith(`${MODULE.name}:`) ? elem.name.slice(MODULE.name.length + 1) : elem.name;
  if (name === '...')
    throw new RpcError('UNIMPLEMENTED', `${clip(where)}: the wildcard ... is not served; * matches one level`);
  const nodes = frontier.flatMap((node) =>
    name === '*' ? [...node.children.values()] : [node.children.get(name)].filter((child) => child !== undefined),
  );
  if (nodes.length === 0) {
    const known = [...new Set(frontier.flatMap((node) => [...node.children.keys()]))];
    const hint = known.length > 0 ? `; known here: ${known.join(', ')}` : '; nothing is below a leaf';
    throw new RpcError('NOT_FOUND', `${clip(where)}: no element ${JSON.stringify(clip(elem.name))}${hint}`);
  }
  return { step: { name, keys: checkKeys(nodes, elem, where), keyed: Object.keys(elem.key).length > 0 }, nodes };
}

function checkKeys(nodes: readonly SchemaNode[], elem: PathElem, where: string): Map<string, string> {
  const keys = new Map<string, string>();
  for (const [name, value] of Object.entries(elem.key)) {
    const key = nodes.flatMap((node) => node.keys).find((candidate) => candidate.name === name);
    if (!key) {
      const known = [...new Set(nodes.flatMap((node) => node.keys.map((candidate) => candidate.name)))];
      const hint = known.length > 0 ? `its keys are ${known.join(', ')}` : 'it is not a list';
      throw new RpcError('INVALID_ARGUMENT', `${clip(where)}: no key ${JSON.stringify(clip(name))}: ${hint}`);
    }
    if (value !== '*') keys.set(name, canonical(key, value));
  }
  return keys;
}

/**
 * Key text as the state spells it, so that `2001:DB8::/32` finds `2001:db8::/32`. Text that is no address or prefix is
 * kept and matches nothing.
 */
function canonical(key: SchemaNode, text: string): string {
  if (key.type === 'ip-address') {
    const parsed = parseAddress(text);
    return parsed ? formatAddress(parsed) : text;
  }
  if (key.type === 'ip-prefix') {
    const parsed = parsePrefix(text);
    return parsed ? formatPrefix(parsed) : text;
  }
  return text;
}

/** Status texts travel in a header: the client's text is returned shortened. */
export const clip = (text: string, limit = 200): string => (text.length <= limit ? text : `${text.slice(0, limit)}…`);
