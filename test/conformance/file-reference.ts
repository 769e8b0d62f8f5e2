// Generates docs/reference/cnpd-yaml.md: every key of cnpd.yaml, from the schema that reads the file.
import * as z from 'zod';
import { CAPACITY } from '../../src/intent/capacity.ts';
import type { Worded } from '../../src/intent/schema-parts.ts';
import { sentence } from './generated.ts';
import { cnpdSchema } from '../../src/intent/schema.ts';

type Schema = z.core.$ZodType;

export interface Key {
  /** Names from the top on; those of lists' entries follow the list's. */
  readonly path: readonly string[];
  readonly required: boolean;
  readonly isList: boolean;
  readonly description: string;
  /** In words, of a value. */
  readonly allowed: string | undefined;
  readonly most: number | undefined;
}

const inner = (schema: Schema): Schema => (schema instanceof z.ZodOptional ? inner(schema.unwrap() as Schema) : schema);
const descriptionOf = (schema: Schema): string => z.globalRegistry.get(schema)?.description ?? '';
const allowedOf = (schema: Schema): string | undefined =>
  'allowed' in schema ? (schema as Worded).allowed : undefined;

/** The keys below a section, an entry of a list, or what may be a section in place of a word. */
function keysBelow(schema: Schema, path: readonly string[]): Key[] {
  const of = inner(schema);
  if (of instanceof z.ZodArray) return keysBelow(of.element as Schema, path);
  if ('mapping' in of) return keysBelow(of.mapping as Schema, path);
  return of instanceof z.ZodObject
    ? Object.entries(of.shape as Record<string, Schema>).flatMap(([name, key]) => keysOf(key, [...path, name]))
    : [];
}

function keysOf(schema: Schema, path: readonly string[]): Key[] {
  const of = inner(schema);
  const isList = of instanceof z.ZodArray;
  const entry = isList ? inner(of.element as Schema) : of;
  const key = {
    path,
    required: !(schema instanceof z.ZodOptional),
    isList,
    description: descriptionOf(schema) || descriptionOf(of),
    allowed: allowedOf(entry),
    most: CAPACITY.find((limit) => limit.path.join() === path.join())?.most,
  };
  return [key, ...keysBelow(of, path)];
}

export const fileKeys = (): Key[] => keysBelow(cnpdSchema, []);

/** Characters that mean something in Markdown; those of words are left alone. */
const plain = (text: string): string => text.replaceAll(/[[\]*<>]/g, String.raw`\$&`);
/** "…; default X" is a sentence of its own. */
const sentences = (description: string): string =>
  description
    .replace(/^default:? /, 'Default: ')
    .split(/; (?=default\b|default:)/)
    .map((part) => part.replace(/^default:? /, 'Default: '))
    .map(sentence)
    .map(plain)
    .join(' ');

function line(key: Key): string {
  const allowed = key.allowed === undefined ? '' : `${key.isList ? 'Entries' : 'Allowed'}: ${plain(key.allowed)}.`;
  const most = key.most === undefined ? '' : `At most ${key.most.toLocaleString('en-US')} entries.`;
  const kind = [key.required && 'required', key.isList && 'list'].filter(Boolean).join(', ');
  const name = `**\`${key.path.at(-1)!}\`**${kind === '' ? '' : ` (${kind})`}`;
  const text = [sentences(key.description), allowed, most].filter(Boolean).join(' ');
  return `${'  '.repeat(key.path.length - 2)}- ${name}: ${text}`;
}

const INTRODUCTION = `# Every key of cnpd.yaml

Generated from the schema with which cnpd reads the file; \`npm run conformance\` rewrites it. The
same schema is \`cnpd schema\`, a JSON Schema for editors. [cnpd.yaml](../cnpd.yaml) is one file with
all keys, each with an example.

- A section that is not in the file is off, and nothing of it runs.
- A key is optional unless it says **required**; what is required inside a section is required
  where the section is there.
- \`cnpd check FILE\` names every error with its line, and rules that concern several keys.
`;

export function fileReference(): string {
  const keys = fileKeys();
  const sections = keys.filter(({ path }) => path.length === 1);
  const text = sections.map((section) => {
    const below = keys.filter(({ path }) => path.length > 1 && path[0] === section.path[0]);
    const kind = [section.required && 'Required.', section.isList && 'A list.'].filter(Boolean).join(' ');
    const allowed = section.allowed === undefined ? '' : `Entries: ${plain(section.allowed)}.`;
    const most = section.most === undefined ? '' : `At most ${section.most.toLocaleString('en-US')} entries.`;
    const about = [kind, sentences(section.description), allowed, most].filter(Boolean).join(' ');
    return `## ${section.path[0]}\n\n${about}\n\n${below.map(line).join('\n')}`;
  });
  return [INTRODUCTION, ...text].join('\n\n');
}
