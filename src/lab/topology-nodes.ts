// The nodes of a topology, with inherited fields.
import { isAbsolute, resolve } from 'node:path';
import { splitWords } from './shell.ts';
import { NODE_FIELDS } from './topology-fields.ts';
import type { TopologyReader, YamlPath } from './topology-reader.ts';

export interface Bind {
  /** Absolute path on this machine. */
  readonly source: string;
  /** Absolute path in the node. */
  readonly target: string;
  readonly readOnly: boolean;
}

export interface NodeSpec {
  readonly name: string;
  /** Name of the network namespace, containerlab's container name: `clab-<lab>-<node>`. */
  readonly container: string;
  readonly binds: readonly Bind[];
  /** Run in the node, one after another, once links and FRR are up. */
  readonly exec: readonly (readonly string[])[];
  readonly sysctls: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** The node's own program, started in the background before `exec`. */
  readonly cmd?: readonly string[];
}

// containerlab's container names; also a limit of the kernel for names in /run/netns.
const NODE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

interface Layer {
  readonly path: YamlPath;
  readonly fields: Record<string, unknown>;
}

/** A field of the first layer that has it; empty when none has. */
function inherited(reader: TopologyReader, field: string, ...layers: readonly (Layer | undefined)[]): string {
  const layer = layers.find((l) => l?.fields[field] !== undefined);
  return layer ? (reader.string([...layer.path, field], layer.fields[field]) ?? '') : '';
}

export function readNodes(
  reader: TopologyReader,
  topology: Record<string, unknown>,
  container: (node: string) => string,
): NodeSpec[] {
  const defaults: Layer = layer(reader, ['topology', 'defaults'], topology['defaults']);
  const named = (section: 'kinds' | 'groups'): Map<string, Layer> =>
    new Map(
      Object.entries(reader.object(['topology', section], topology[section])).map(([key, value]) => [
        key,
        layer(reader, ['topology', section, key], value),
      ]),
    );
  const kinds = named('kinds');
  const groups = named('groups');
  const nodes: NodeSpec[] = [];
  for (const [name, value] of Object.entries(reader.object(['topology', 'nodes'], topology['nodes']))) {
    const own = layer(reader, ['topology', 'nodes', name], value);
    if (!NODE_NAME.test(name)) reader.error(own.path, `a node's name must match ${NODE_NAME.source}`);
    const group = groups.get(inherited(reader, 'group', own, defaults));
    const kind = inherited(reader, 'kind', own, group, defaults);
    if (kind !== 'linux')
      reader.error(
        [...own.path, 'kind'],
        `must be linux, found ${JSON.stringify(kind)}: this lab runs network namespaces of this machine`,
      );
    const layers = [defaults, kinds.get(kind), group, own].filter((l) => l !== undefined);
    nodes.push(node(reader, name, container(name), layers));
  }
  return nodes;
}

function layer(reader: TopologyReader, path: YamlPath, value: unknown): Layer {
  const fields = reader.object(path, value, NODE_FIELDS);
  const mode = fields['network-mode'];
  if (mode !== undefined && mode !== 'none')
    reader.error([...path, 'network-mode'], 'this lab does not support it: a node has the links of the file, or none');
  return { path, fields };
}

function node(reader: TopologyReader, name: string, container: string, layers: readonly Layer[]): NodeSpec {
  const texts = (field: string): Record<string, string> =>
    Object.assign({}, ...layers.map((l) => reader.texts([...l.path, field], l.fields[field]))) as Record<
      string,
      string
    >;
  const lists = <T>(field: string, read: (path: YamlPath, value: unknown) => T | undefined): T[] =>
    layers.flatMap((l) =>
      reader.list([...l.path, field], l.fields[field]).flatMap((value, i) => {
        const item = read([...l.path, field, i], value);
        return item === undefined ? [] : [item];
      }),
    );
  const binds = new Map(lists('binds', (path, value) => bind(reader, path, value, name)).map((b) => [b.target, b]));
  const cmd = layers.findLast((l) => l.fields['cmd'] !== undefined);
  const words = cmd && command(reader, [...cmd.path, 'cmd'], cmd.fields['cmd']);
  return {
    name,
    container,
    binds: [...binds.values()],
    exec: lists('exec', (path, value) => command(reader, path, value)),
    sysctls: texts('sysctls'),
    env: texts('env'),
    ...(words && { cmd: words }),
  };
}

function command(reader: TopologyReader, path: YamlPath, value: unknown): string[] | undefined {
  const line = reader.string(path, value);
  if (line === undefined) return undefined;
  const words = splitWords(line);
  if (!words) return reader.error(path, 'has a quote that is not closed');
  return words.length > 0 ? words : reader.error(path, 'is empty');
}

function bind(reader: TopologyReader, path: YamlPath, value: unknown, node: string): Bind | undefined {
  const text = reader.string(path, value)?.replaceAll('__clabNodeName__', node);
  if (text === undefined) return undefined;
  const [source, target, options, ...rest] = text.split(':');
  if (!source || !target || rest.length > 0 || !isAbsolute(target))
    return reader.error(path, `must read SOURCE:/absolute/target[:ro], found ${JSON.stringify(text)}`);
  if (options !== undefined && options !== 'ro' && options !== 'rw')
    return reader.error(path, `knows the options ro and rw, found ${JSON.stringify(options)}`);
  return { source: resolve(reader.directory, source), target: resolve('/', target), readOnly: options === 'ro' };
}
