// A containerlab topology file (`*.clab.yml`) as values. Every field is either used, or named: see topology-fields.ts.
// Inheritance is containerlab's: defaults, then kind, then group, then node; maps and `binds`/`exec` accumulate, single
// values override.
import { dirname, resolve } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { type Result, fail, ok } from '../model/result.ts';
import { type LinkSpec, readLinks } from './topology-links.ts';
import { type Bind, type NodeSpec, readNodes } from './topology-nodes.ts';
import { TOPOLOGY_FIELDS, TOP_FIELDS, type Treatment } from './topology-fields.ts';

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

export interface TopologyProblem {
  /** `topology.nodes.p1.license` */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type YamlPath = readonly (string | number)[];

/** Collects everything that is wrong, so that one run names it all. */
export class TopologyReader {
  readonly errors: TopologyProblem[] = [];
  readonly withoutEffect: TopologyProblem[] = [];
  readonly directory: string;
  readonly #document: Document;
  readonly #lines: LineCounter;

  constructor(directory: string, document: Document, lines: LineCounter) {
    this.directory = directory;
    this.#document = document;
    this.#lines = lines;
  }

  #problem(path: YamlPath, message: string): TopologyProblem {
    let place = { line: 1, col: 1 };
    for (let depth = path.length; depth > 0; depth--) {
      const node = this.#document.getIn(path.slice(0, depth), true) as { range?: [number, number, number] } | undefined;
      if (!node?.range) continue;
      place = this.#lines.linePos(node.range[0]);
      break;
    }
    return { path: path.join('.'), line: place.line, column: place.col, message };
  }

  error(path: YamlPath, message: string): undefined {
    this.errors.push(this.#problem(path, message));
    return undefined;
  }

  /**
   * An object whose fields are all in the table; undefined (and an error) when it is something else. Absent counts as
   * empty.
   */
  object(path: YamlPath, value: unknown, fields?: Readonly<Record<string, Treatment>>): Record<string, unknown> {
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) {
      this.error(path, `must be a mapping, found ${describe(value)}`);
      return {};
    }
    for (const key of fields ? Object.keys(value) : []) this.#field([...path, key], fields![key]);
    return value as Record<string, unknown>;
  }

  #field(path: YamlPath, treatment: Treatment | undefined): void {
    if (treatment === 'no-effect') this.withoutEffect.push(this.#problem(path, 'has no effect in this lab'));
    else if (treatment === 'refused') this.error(path, 'is a containerlab field that this lab does not support');
    else if (treatment === undefined) this.error(path, 'is not a field of a containerlab topology');
  }

  list(path: YamlPath, value: unknown): unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.error(path, `must be a list, found ${describe(value)}`);
    return [];
  }

  string(path: YamlPath, value: unknown): string | undefined {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return this.error(path, `must be text, found ${describe(value)}`);
  }

  /** A name → text mapping (env, sysctls). */
  texts(path: YamlPath, value: unknown): Record<string, string> {
    const out: Record<string, string> = {};
    for (const [key, entry] of Object.entries(this.object(path, value))) {
      const text = this.string([...path, key], entry);
      if (text !== undefined) out[key] = text;
    }
    return out;
  }
}

const describe = (value: unknown): string =>
  value === undefined || value === null
    ? 'nothing'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'a mapping'
        : JSON.stringify(value);

// Names become file names and namespace names.
const LAB_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/**
 * containerlab's rule: `<prefix>-<lab>-<node>`; an empty prefix leaves the node alone, `__lab-name` leaves the prefix
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
