// The key `authentication` of an OSPF area: the keys of its packets (RFC 2328 §D, RFC 5709, RFC 7166).
import type * as z from 'zod';
import { section, value } from './schema-parts.ts';
import { type Report, type Seen, each } from './seen.ts';
import { hmacKey, integer, md5Key } from './values.ts';
import type { Path } from './words.ts';

/** Keyed MD5 (RFC 2328 §D.4.3, only OSPFv2), the HMACs of RFC 5709 (OSPFv2) and RFC 7166 (OSPFv3). */
export interface OspfKey {
  /** 1-255 with OSPFv2, 1-65535 with OSPFv3 (security association ID). */
  readonly id: number;
  readonly algorithm: Exclude<keyof z.output<typeof keys2>, 'key-id'>;
  readonly key: string;
}

const hmac = value(hmacKey, 'the shared key').optional();
/** Algorithms as the names of the keys that they take; the words after `hmac-` are those of RFC 5709 and RFC 7166. */
const hmacs = { 'hmac-sha-1': hmac, 'hmac-sha-256': hmac, 'hmac-sha-384': hmac, 'hmac-sha-512': hmac };

export const keys2 = section(
  {
    'key-id': value(integer(1, 255), 'as in FRR'),
    md5: value(md5Key, 'the shared key; what `ip ospf message-digest-key` takes').optional(),
    ...hmacs,
  },
  'a key: its ID, and one algorithm with the secret (RFC 2328 §D, RFC 5709)',
);
export const keys3 = section(
  { 'key-id': value(integer(1, 65_535), 'security association ID, as in FRR'), ...hmacs },
  'a key: its ID, and one algorithm with the secret (RFC 7166)',
);

/** The algorithms that a key of this section may name. */
const algorithmsOf = ({ shape }: { readonly shape: object }): readonly string[] =>
  Object.keys(shape).filter((word) => word !== 'key-id');
const ALGORITHMS = { ospfv2: algorithmsOf(keys2), ospfv3: algorithmsOf(keys3) } as const;

export const AUTHENTICATION =
  'keys: packets are signed with the first and accepted with any; default: no authentication';

type Keys = readonly (Seen<typeof keys2> | Seen<typeof keys3> | undefined)[];

/** Rules of the list at `path`: not empty, one algorithm per key, each ID once. */
export function checkKeys(version: keyof typeof ALGORITHMS, path: Path, keys: Keys | undefined, report: Report): void {
  if (keys?.length === 0) report(path, 'at least one key', 'an empty list authenticates nothing: leave it out');
  const ids = new Map<number, number>();
  for (const [j, key] of each<Seen<typeof keys2> | Seen<typeof keys3>>(keys)) {
    const algorithms = Object.keys(key).filter((word) => word !== 'key-id');
    if (algorithms.length !== 1)
      report(
        [...path, j],
        `one of ${ALGORITHMS[version].join(', ')}`,
        algorithms.length === 0
          ? 'this key has no algorithm'
          : `a key has one algorithm: this one has ${algorithms.length}`,
      );
    const id = key['key-id'];
    if (id === undefined) continue;
    if (ids.has(id))
      report([...path, j, 'key-id'], 'each key-id once', `entry ${ids.get(id)!} of this list already has this ID`);
    else ids.set(id, j);
  }
}

/** The key of a valid entry: checkKeys has made sure of exactly one algorithm. */
export function keyOf({
  'key-id': id,
  ...secrets
}: { readonly 'key-id': number } & Partial<Record<OspfKey['algorithm'], string | undefined>>): OspfKey {
  const [algorithm, key] = Object.entries(secrets).find(
    (entry): entry is [OspfKey['algorithm'], string] => entry[1] !== undefined,
  )!;
  return { id, algorithm, key };
}
