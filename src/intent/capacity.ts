// How long the lists of cnpd.yaml may be. Longer ones are refused before their entries are read: a list of 100,000
// would cost seconds and hundreds of megabytes before its refusal, in a running daemon too. The text shows the length
// if it is in a usual form (list-lengths.ts), the tree in any case.
import { type ListLength, listLengths } from './list-lengths.ts';
import type { Path } from './words.ts';

/**
 * The capacity of the dataplane's maps (bpf/lib), for ports with a margin for collisions of their slots; for
 * communities, what leaves space in an UPDATE.
 */
export const CAPACITY: readonly { readonly path: readonly string[]; readonly most: number }[] = [
  { path: ['ospfv2', 'areas'], most: 64 },
  { path: ['ospfv3', 'areas'], most: 64 },
  { path: ['bgp', 'domain'], most: 1024 },
  { path: ['bgp', 'communities'], most: 64 },
  { path: ['bgp', 'large-communities'], most: 64 },
  { path: ['ports'], most: 128 },
  { path: ['border-ports'], most: 1024 },
  { path: ['border-allow', 'inbound'], most: 4096 },
  { path: ['border-allow', 'outbound'], most: 4096 },
  { path: ['proxy', 'senders'], most: 65_536 },
  { path: ['proxy', 'accept-from'], most: 4096 },
  { path: ['source', 'senders'], most: 16_384 },
  { path: ['source', 'accept-from'], most: 4096 },
  { path: ['flow-control', 'watch'], most: 64 },
  { path: ['flow-control', 'hold'], most: 64 },
  { path: ['flow-control', 'neighbors'], most: 256 },
  { path: ['flow-control', 'accept-from'], most: 4096 },
  { path: ['notifications', 'senders'], most: 4096 },
  { path: ['srv6', 'end-con'], most: 256 },
  { path: ['groups'], most: 1024 },
  { path: ['srv6', 'core-ports'], most: 128 },
  { path: ['northbound', 'rights'], most: 256 },
  { path: ['stamp', 'targets'], most: 1024 },
  { path: ['stamp', 'accept-from'], most: 4096 },
];

interface Oversized {
  readonly path: Path;
  readonly found: string;
  readonly allowed: string;
  readonly message: string;
}

const oversized = (path: Path, entries: number, most: number): Oversized => ({
  path,
  found: `a list of ${entries} entries`,
  allowed: `at most ${most} entries`,
  message: `${entries} entries are more than cnpd holds, ${most}`,
});

/** In the text, with the offset of the list; only plain lists are here. */
export function oversizedInText(text: string): (Oversized & Pick<ListLength, 'offset'>)[] {
  // The least of the limits, and no text is worth the look that has fewer places for entries.
  if (text.length < 2 * Math.min(...CAPACITY.map(({ most }) => most))) return [];
  return listLengths(
    text,
    CAPACITY.map(({ path }) => path),
  ).flatMap(({ path, entries, offset }) => {
    const { most } = CAPACITY.find((limit) => limit.path.join() === path.join())!;
    return entries > most ? [{ ...oversized(path, entries, most), offset }] : [];
  });
}

/** @param tree of mappings, lists and text */
export function oversizedInTree(tree: unknown): Oversized[] {
  const at = (path: readonly string[]): unknown =>
    path.reduce<unknown>(
      (node, step) => (typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[step] : undefined),
      tree,
    );
  return CAPACITY.flatMap(({ path, most }) => {
    const list = at(path);
    return Array.isArray(list) && list.length > most ? [oversized(path, list.length, most)] : [];
  });
}
