// A containerlab topology file (`*.clab.yml`) as values. Every field is either used, or named: see topology-fields.ts.
// Inheritance is containerlab's: defaults, then kind, then group, then node; maps and `binds`/`exec` accumulate, single
// values override.
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { type Result, fail, ok } from '../model/result.ts';
import { type LinkSpec, readLinks } from './topology-links.ts';
import { type Bind, type NodeSpec, readNodes } from './topology-nodes.ts';
import { TOPOLOGY_FIELDS, TOP_FIELDS } from './topology-fields.ts';
import { type TopologyProblem, TopologyReader } from './topology-reader.ts';

export type { Bind, LinkSpec, NodeSpec };

export interface Topology {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly nodes: readonly NodeSpec[];
  readonly links: readonly LinkSpec[];
  /** Fields that were read, and have no effect in this lab. */
  readonly withoutEffect: readonly TopologyProblem[];
}

// Names become file names and namespace names.
const LAB_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/**
 * containerlab's rule: `<prefix>-<lab>-<node>`; an empty prefix leaves only the node, `__lab-name` leaves the prefix
 * out.
 */
export function containerName(prefix: string, lab: string, node: string): string {
  if (prefix === '') return node;
  return prefix === '__lab-name' ? `${lab}-${node}` : `${prefix}-${lab}-${node}`;
}

/**
 * @param file path of the topology, for relative binds.
 * @param name instead of the file's own, so that one file can be up more than once.
 * @returns the topology, or every problem in it.
 */
export function parseTopology(text: string, file: string, name?: string): Result<Topology, TopologyProblem[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    return fail(
      document.errors.map((e) => ({
        path: '',
        line: e.linePos?.[0].line ?? 1,
        column: e.linePos?.[0].col ?? 1,
        message: e.message.split('\n')[0]!,
      })),
    );
  }
  const reader = new TopologyReader(dirname(resolve(file)), document, lines);
  const top = reader.object([], document.toJS() as unknown, TOP_FIELDS);
  const lab = name ?? reader.string(['name'], top['name']) ?? '';
  if (lab !== '' && !LAB_NAME.test(lab)) reader.error(['name'], `must match ${LAB_NAME.source}`);
  const prefix = top['prefix'] === undefined ? 'clab' : (reader.string(['prefix'], top['prefix']) ?? '');
  const topology = reader.object(['topology'], top['topology'], TOPOLOGY_FIELDS);
  const nodes = readNodes(reader, topology, (node) => containerName(prefix, lab, node));
  const links = readLinks(reader, topology['links'], new Set(nodes.map((n) => n.name)));
  if (nodes.length === 0) reader.error(['topology', 'nodes'], 'a lab has at least one node');
  if (reader.errors.length > 0) return fail(reader.errors);
  return ok({ name: lab, file: resolve(file), nodes, links, withoutEffect: reader.withoutEffect });
}
