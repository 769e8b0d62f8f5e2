// The inputs of cnpd.yaml's rules: the readable part of the file, and how to report. A value that could not be read is
// undefined, and a rule that needs it stays silent; so a rule tests presence by the key.
import * as z from 'zod';
import { type Family, type IpAddress, formatAddress } from '../model/address.ts';
import { type Defaults, defaultsOf } from './schema-parts.ts';
import type { Path } from './words.ts';

export interface RuleViolation {
  readonly path: Path;
  readonly allowed: string;
  readonly reason: string;
}

export type Report = (path: Path, allowed: string, reason: string) => void;

/** A rule names its sections; the file has them all. */
export type Rule<Sections> = (file: Sections, report: Report) => void;

/** The readable part: any key may be missing, and an invalid element is undefined. */
export type Seen<S> =
  S extends z.ZodOptional<infer Inner>
    ? Seen<Inner>
    : S extends z.ZodObject<infer Shape>
      ? { readonly [K in keyof Shape]?: Seen<Shape[K]> | undefined }
      : S extends z.ZodArray<infer Element>
        ? readonly (Seen<Element> | undefined)[]
        : S extends z.core.$ZodType
          ? z.output<S>
          : never;

type Look = (raw: unknown) => unknown;

/**
 * Keeps mappings that are mappings and lists that are lists of a parsed section, or undefined: anything else has been
 * reported. A value is as it was read.
 */
export const looksAt = <S extends z.ZodObject>(schema: S): ((raw: unknown) => Seen<S> | undefined) =>
  lookOf(schema) as (raw: unknown) => Seen<S> | undefined;

/** @returns undefined of a value */
function lookOf(schema: z.core.$ZodType): Look | undefined {
  if (schema instanceof z.ZodOptional) return lookOf(schema.unwrap() as z.core.$ZodType);
  if (schema instanceof z.ZodArray) {
    const ofElement = lookOf(schema.element as z.core.$ZodType);
    return (raw) => (Array.isArray(raw) ? (ofElement ? raw.map(ofElement) : raw) : undefined);
  }
  if (!(schema instanceof z.ZodObject)) return undefined;
  const inner = Object.entries(schema.shape as z.core.$ZodShape).flatMap(([key, of]) => {
    const ofKey = lookOf(of);
    return ofKey ? [[key, ofKey] as const] : [];
  });
  return (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
    const seen = inner.filter(([key]) => key in raw).map(([key, of]) => [key, of((raw as Entries)[key])] as const);
    return seen.length === 0 ? raw : { ...raw, ...Object.fromEntries(seen) };
  };
}

type Entries = Readonly<Record<string, unknown>>;

/** With defaults for missing keys. An unreadable value stays undefined. */
export const orDefaults = <S extends z.ZodObject>(schema: S, section: Seen<S> | undefined): Seen<S> =>
  ({ ...defaultsOf(schema), ...section }) as Seen<S> & Partial<Defaults<S>>;

/** The elements that could be read, with their places in the list. */
export const each = <T>(list: readonly (T | undefined)[] | undefined): (readonly [number, T])[] =>
  [...(list ?? []).entries()].flatMap(([i, element]) => (element === undefined ? [] : [[i, element] as const]));

/** Reports the second and later occurrences of a name. */
export function unique<T>(
  list: readonly (T | undefined)[] | undefined,
  path: (i: number) => Path,
  nameOf: (element: T) => string | undefined,
  what: string,
  report: Report,
): void {
  const first = new Map<string, number>();
  for (const [i, element] of each(list)) {
    const name = nameOf(element);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, i);
    else report(path(i), `each ${what} once`, `${name} is already in this list, as entry ${earlier}`);
  }
}

/** A name is its own. */
export const itself = (name: string): string => name;

/** A list of addresses, or a single one; at most one of each family. `what`: "the IPv4 WHAT". */
export function oneAFamily(
  addresses: readonly (IpAddress | undefined)[] | undefined,
  path: Path,
  what: string,
  report: Report,
): void {
  const first = new Map<Family, string>();
  for (const [i, address] of each(addresses)) {
    const earlier = first.get(address.family);
    if (earlier === undefined) first.set(address.family, formatAddress(address));
    else report([...path, i], 'one address per family', `${earlier} is already the IPv${address.family} ${what}`);
  }
}
