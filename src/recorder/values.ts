// Values of events as JSON: what JSON lacks is an object with one key that begins with `$`.
//
//   $b bytes in hexadecimal   $n bigint   $x a number that is not finite   $u undefined, in an array
//   $m Map   $s Set           $f a function: what it returned is among the findings

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : { $x: String(value) };
    case 'bigint':
      return { $n: String(value) };
    case 'undefined':
      return { $u: 1 };
    case 'function':
      return { $f: 1 };
    default:
      return value === null ? null : objectToJson(value as object);
  }
}

function objectToJson(value: object): Json {
  if (value instanceof Uint8Array)
    return { $b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex') };
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map) return { $m: [...value].map(([key, of]) => [toJson(key), toJson(of)]) };
  if (value instanceof Set) return { $s: [...value].map(toJson) };
  const out: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const of = (value as Record<string, unknown>)[key];
    if (of !== undefined) out[key] = toJson(of);
  }
  return out;
}

/** Deeper values are no events. */
const MOST_DEPTH = 64;

type Reader = (value: unknown) => unknown;

const NUMBERS = ['Infinity', '-Infinity', 'NaN'];

function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(hex, 'hex'));
  if (bytes.length * 2 !== hex.length) throw new RangeError('bytes are not in hexadecimal');
  return bytes;
}

function special(key: string, value: unknown, read: Reader, call: () => unknown): unknown {
  if (key === '$b' && typeof value === 'string') return bytesOf(value);
  if (key === '$n' && typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value);
  if (key === '$x' && NUMBERS.includes(value as string)) return Number(value);
  if (key === '$u') return undefined;
  if (key === '$f') return call;
  if (key === '$m' && Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2))
    return new Map(value.map(([name, of]: unknown[]) => [read(name), read(of)]));
  if (key === '$s' && Array.isArray(value)) return new Set(value.map(read));
  throw new RangeError(`${key.slice(0, 8)} is no kind of value`);
}

/**
 * @param call what a function returns
 * @throws RangeError for what toJson does not write
 */
export function fromJson(value: unknown, call: () => unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MOST_DEPTH) throw new RangeError(`values are nested more than ${MOST_DEPTH} deep`);
  const read = (inner: unknown): unknown => fromJson(inner, call, depth + 1);
  if (Array.isArray(value)) return value.map(read);
  const entries = Object.entries(value);
  const [first] = entries;
  if (first?.[0].startsWith('$')) {
    if (entries.length !== 1) throw new RangeError(`${first[0].slice(0, 8)} stands beside other keys`);
    return special(first[0], first[1], read, call);
  }
  const out: Record<string, unknown> = {};
  for (const [key, of] of entries) {
    if (key === '__proto__') throw new RangeError('__proto__ is no key of an event');
    out[key] = read(of);
  }
  return out;
}
