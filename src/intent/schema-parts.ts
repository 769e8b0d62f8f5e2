// The building blocks of cnpd.yaml's schema: a value, a section, a list, and their defaults. Their issues carry what
// load.ts needs for a precise error.
import * as z from 'zod';
import { type ValueKind, onOff, time } from './values.ts';

/** The extra fields of a value issue, besides its path; load.ts turns it into an IntentError. */
export interface IssueParams {
  readonly allowed: string;
  /** Why the value is refused, when `allowed` does not say it all. */
  readonly reason?: string | undefined;
  readonly secret?: boolean;
}

function read<T>(
  kind: ValueKind<T>,
  raw: unknown,
  context: z.core.$RefinementCtx,
  path: readonly (string | number)[] = [],
): T {
  const text = typeof raw === 'string' ? kind.parse(raw) : { ok: false as const, error: undefined };
  if (text.ok) return text.value;
  const params: IssueParams = { allowed: kind.allowed, reason: text.error, secret: kind.secret === true };
  context.issues.push({ code: 'custom', input: raw, params, path: [...path] });
  return undefined as T;
}

/** What a key allows, in words, for the reference of the file. */
export interface Worded {
  readonly allowed: string;
}

/**
 * A scalar of the given kind. A bad one is an issue and becomes undefined, so that the rules still see its neighbors.
 */
export function value<T>(kind: ValueKind<T>, description: string) {
  const schema = z
    .unknown()
    .transform((raw, context): T => read(kind, raw, context))
    .meta({ ...kind.json, description });
  return Object.assign(schema, { allowed: kind.allowed } satisfies Worded);
}

/** The default of a key. It is written here only, for the code, the JSON Schema and its description. */
export interface Defaulted<T> {
  readonly fallback: T;
  /** As the JSON Schema says it. */
  readonly written: unknown;
}

/**
 * An optional scalar.
 * @param text the default, as an operator writes it
 * @param description without the default, which is appended; or with it
 */
export function defaulted<T>(kind: ValueKind<T>, text: string, description: string | ((text: string) => string)) {
  const described = typeof description === 'string' ? `${description}; default ${text}` : description(text);
  const written = /^\d+$/.test(text) ? Number(text) : text;
  return Object.assign(value(kind, described).optional(), { fallback: parsed(kind, text), written });
}

/** What else may be left out, with a default that reads as it is written. */
export const withDefault = <S extends z.ZodType, T extends z.output<S>>(
  schema: S,
  fallback: T,
): z.ZodOptional<S> & Defaulted<T> => Object.assign(schema.optional(), { fallback, written: fallback });

function parsed<T>(kind: ValueKind<T>, text: string): T {
  const read = kind.parse(text);
  if (!read.ok) throw new Error(`a default that is not allowed: ${text} is not ${kind.allowed}`);
  return read.value;
}

/** Of a section that may be there without being run. */
export const enabled = (description = 'off: the section is checked but not run') => defaulted(onOff, 'on', description);

/** Of a carrier. @param what outlives what */
export const holdUnreachable = (what = 'how long a learned proxy is kept after its originator became unreachable') =>
  defaulted(time('0s', '24h'), '120s', what);

type Shape = z.core.$ZodLooseShape;
type Section = z.ZodObject;
type KeysWithDefault<S extends Shape> = { [K in keyof S]: S[K] extends Defaulted<unknown> ? K : never }[keyof S];
export type Defaults<S extends Section> = {
  readonly [K in KeysWithDefault<S['shape']>]: S['shape'][K] extends Defaulted<infer T> ? T : never;
};

/** The defaults of a section's keys. */
export const defaultsOf = <S extends Section>(schema: S): Defaults<S> =>
  Object.fromEntries(
    Object.entries(schema.shape as Record<string, object>).flatMap(([key, of]) =>
      'fallback' in of ? [[key, of.fallback]] : [],
    ),
  ) as Defaults<S>;

/** A section as declared, with its defaults. */
export const filled = <S extends Section>(schema: S, declared?: z.output<S>): z.output<S> & Defaults<S> =>
  ({ ...defaultsOf(schema), ...declared }) as z.output<S> & Defaults<S>;

/** The message of a container issue is the allowed value. */
export function section<S extends z.core.$ZodLooseShape>(shape: S, description: string) {
  const keys = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? keys.join(', ') : `a mapping with the keys ${keys.join(', ')}`,
    })
    .meta({ description });
}

export const list = <T extends z.core.$ZodType>(element: T, description: string) =>
  z.array(element, { error: () => `a list: ${description}` }).meta({ description });

/** A word, or a list of values. */
export function wordOrList<W, T>(word: ValueKind<W>, element: ValueKind<T>, description: string) {
  const either = oneOrMany(word, element);
  const schema = z
    .unknown()
    .transform((raw, context): W | T[] =>
      Array.isArray(raw) ? raw.map((item, i) => read(element, item, context, [i])) : read(either, raw, context),
    )
    .meta({ anyOf: [word.json, { type: 'array', items: element.json }], description });
  return Object.assign(schema, { allowed: either.allowed } satisfies Worded);
}

/** A word, or a section. */
export function wordOrSection<W, S extends z.ZodObject>(word: ValueKind<W>, mapping: S, description: string) {
  const { $schema: _, ...json } = z.toJSONSchema(mapping, { io: 'input' });
  const schema = z
    .unknown()
    .transform((raw, context): W | z.output<S> => {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return read(word, raw, context);
      const parsed = mapping.safeParse(raw);
      for (const issue of parsed.error?.issues ?? [])
        context.issues.push({ ...issue, input: raw } as z.core.$ZodRawIssue);
      return parsed.data as z.output<S>;
    })
    .meta({ anyOf: [word.json, json], description });
  return Object.assign(schema, { allowed: word.allowed, mapping } satisfies Worded & { mapping: S });
}

const oneOrMany = <W, T>(word: ValueKind<W>, element: ValueKind<T>): ValueKind<W> => ({
  ...word,
  allowed: `${word.allowed}, or a list of: ${element.allowed}`,
});
