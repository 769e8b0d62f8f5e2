// OSPFv3 Link-LSA, function 8 (RFC 5340 §A.4.9), and the list of prefixes that it shares with the
// Intra-Area-Prefix-LSA.
import { addressBytes } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { ok } from '../../../model/result.ts';
import { concat, put16, put24, put32, readAddress, u16, u24, u32 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { paddedPrefix, paddedPrefixBytes, readPaddedPrefix } from '../prefix.ts';
import type { BodyCodec } from './codec.ts';
import type { LinkLsa } from './types.ts';

const FIXED = 24;
const PREFIX_HEAD = 4;

interface ListedPrefix {
  readonly prefix: Prefix;
  readonly options: number;
  /** 0 in a Link-LSA, which has no metrics. */
  readonly metric: number;
}

/** Decodes exactly `count` prefixes that fill `content` from `start`. */
export function decodePrefixList(content: Uint8Array, start: number, count: number): Decoded<ListedPrefix[]> {
  const prefixes: ListedPrefix[] = [];
  let at = start;
  for (let left = count; left > 0; left--) {
    if (at + PREFIX_HEAD > content.length) return malformed('prefix-overrun', at, 'a prefix exceeds the LSA');
    const length = content[at]!;
    const prefix = readPaddedPrefix(content, at + PREFIX_HEAD, length);
    if (!prefix)
      return malformed(length > 128 ? 'bad-prefix-length' : 'prefix-overrun', at, `a prefix of ${length} bits`);
    prefixes.push({ prefix, options: content[at + 1]!, metric: u16(content, at + 2) });
    at += PREFIX_HEAD + paddedPrefixBytes(length);
  }
  return at === content.length
    ? ok(prefixes)
    : malformed('trailing-bytes', at, `${content.length - at} bytes after the last prefix`);
}

/** @throws EncodeError */
export function encodePrefixList(prefixes: readonly ListedPrefix[]): Uint8Array {
  return concat(
    ...prefixes.flatMap(({ prefix, options, metric }) => {
      const head = new Uint8Array(PREFIX_HEAD);
      head[0] = prefix.length;
      head[1] = field('prefix options', options, 8);
      put16(head, 2, field('metric', metric, 16));
      return [head, paddedPrefix(prefix)];
    }),
  );
}

export const LINK: BodyCodec<LinkLsa> = {
  name: 'link',
  decode(content) {
    if (content.length < FIXED)
      return malformed('truncated', content.length, 'shorter than the fixed part of a Link-LSA');
    const prefixes = decodePrefixList(content, FIXED, u32(content, 20));
    if (!prefixes.ok) return prefixes;
    return ok({
      kind: 'link',
      priority: content[0]!,
      options: u24(content, 1),
      linkLocalAddress: readAddress(content, 4, 6),
      prefixes: prefixes.value.map(({ prefix, options }) => ({ prefix, options })),
    });
  },
  encode({ priority, options, linkLocalAddress, prefixes }) {
    if (linkLocalAddress.family !== 6) throw new EncodeError('bad-field', 'an IPv4 address in a Link-LSA');
    const head = new Uint8Array(FIXED);
    head[0] = field('priority', priority, 8);
    put24(head, 1, field('options', options, 24));
    head.set(addressBytes(linkLocalAddress), 4);
    put32(head, 20, prefixes.length);
    return concat(head, encodePrefixList(prefixes.map((entry) => ({ ...entry, metric: 0 }))));
  },
};
