// What the schema of cnpd.yaml is put together from: a value, a section, a list. Their issues carry what load.ts needs
// for a precise error.
import * as z from 'zod';
import type { ValueKind } from './values.ts';

/** What a value issue carries besides its path; load.ts turns it into an IntentError. */
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

/**
 * A scalar of the given kind. A bad one is an issue and becomes undefined, so that the rules still see its neighbours.
 */
export function value<T>(kind: ValueKind<T>, description: string) {
  return z
    .unknown()
    .transform((raw, context): T => read(kind, raw, context))
    .meta({ ...kind.json, description });
}

/** The message of a container issue is what is allowed there. */
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
  return z
    .unknown()
    .transform((raw, context): W | T[] =>
      Array.isArray(raw)
        ? raw.map((item, i) => read(element, item, context, [i]))
        : read(oneOrMany(word, element), raw, context),
    )
    .meta({ anyOf: [word.json, { type: 'array', items: element.json }], description });
}

/** A word, or a section. */
export function wordOrSection<W, S extends z.ZodObject>(word: ValueKind<W>, mapping: S, description: string) {
  const { $schema: _, ...json } = z.toJSONSchema(mapping, { io: 'input' });
  return z
    .unknown()
    .transform((raw, context): W | z.output<S> => {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return read(word, raw, context);
      const parsed = mapping.safeParse(raw);
      for (const issue of parsed.error?.issues ?? [])
        context.issues.push({ ...issue, input: raw } as z.core.$ZodRawIssue);
      return parsed.data as z.output<S>;
    })
    .meta({ anyOf: [word.json, json], description });
}

const oneOrMany = <W, T>(word: ValueKind<W>, element: ValueKind<T>): ValueKind<W> => ({
  ...word,
  allowed: `${word.allowed}, or a list of: ${element.allowed}`,
});
