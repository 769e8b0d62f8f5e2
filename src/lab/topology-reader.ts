// Reads a topology file field by field: every mistake is noted with its line, none stops the reading.
import type { Document, LineCounter } from 'yaml';
import type { Treatment } from './topology-fields.ts';

export interface TopologyProblem {
  /** `topology.nodes.p1.license` */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type YamlPath = readonly (string | number)[];

const describe = (value: unknown): string =>
  value === undefined || value === null
    ? 'nothing'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'a mapping'
        : JSON.stringify(value);

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
