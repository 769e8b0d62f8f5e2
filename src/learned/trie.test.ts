import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { type Prefix, formatPrefix, hostPrefix, prefix, prefixCovers, prefixOf } from '../model/prefix.ts';
import { keyLength, newKey, prefixFrom, setAddress, setPrefix } from './key.ts';
import { PrefixTrie, ROOT } from './trie.ts';

/** Prefixes that nest and branch: few distinct bits, many lengths. */
const dense = fc.oneof(
  fc
    .tuple(fc.nat({ max: 15 }), fc.integer({ min: 0, max: 32 }))
    .map(([n, length]) => prefixOf({ family: 4, value: BigInt(n) << 28n }, length)),
  fc
    .tuple(fc.nat({ max: 255 }), fc.integer({ min: 3, max: 128 }))
    .map(([n, length]) =>
      prefixOf({ family: 6, value: (0x2001n << 112n) | (BigInt(n) << 60n) | BigInt(n & 3) }, length),
    ),
);

function insert(trie: PrefixTrie, p: Prefix): number {
  const key = newKey();
  expect(setPrefix(key, p)).toBe(true);
  return trie.insert(key);
}

test('a prefix has one node, and the node has the prefix', () => {
  fc.assert(
    fc.property(fc.array(dense, { maxLength: 60 }), (prefixes) => {
      const trie = new PrefixTrie();
      const nodes = prefixes.map((p) => insert(trie, p));
      expect(nodes.map((node) => formatPrefix(trie.prefix(node)))).toEqual(prefixes.map(formatPrefix));
      expect(prefixes.map((p) => insert(trie, p))).toEqual(nodes);
    }),
  );
});

test('the covers of an address are the prefixes that contain it, shortest first', () => {
  fc.assert(
    fc.property(fc.array(dense, { maxLength: 60 }), dense, (prefixes, near) => {
      const trie = new PrefixTrie();
      const nodes = new Set(prefixes.map((p) => insert(trie, p)));
      const key = newKey();
      setAddress(key, near.address);
      const found: string[] = [];
      trie.forEachCover(key, (node) => nodes.has(node) && found.push(formatPrefix(trie.prefix(node))));
      const expected = prefixes
        .filter((p) => prefixCovers(p, hostPrefix(near.address)))
        .sort((a, b) => a.length - b.length);
      // No IPv6 prefix of this set holds ::ffff:0:0/96, where IPv4 lies.
      expect(found).toEqual([...new Set(expected.map(formatPrefix))]);
    }),
  );
});

test('pruning everything leaves the root alone', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(dense, { maxLength: 60, selector: formatPrefix }),
      fc.infiniteStream(fc.nat()),
      (prefixes, random) => {
        const trie = new PrefixTrie();
        const inUse = new Set(prefixes.map((p) => insert(trie, p)));
        const order = [...inUse]
          .map((node) => [random.next().value as number, node] as const)
          .sort((a, b) => a[0] - b[0]);
        for (const [, node] of order) {
          inUse.delete(node);
          trie.prune(node, (n) => inUse.has(n));
          const left: number[] = [];
          trie.forEachBelow(ROOT, (n) => left.push(n) > 0);
          expect([...inUse].filter((n) => n !== ROOT && !left.includes(n))).toEqual([]);
          expect(trie.size).toBe(left.length + 1);
          expect(trie.size).toBeLessThanOrEqual(2 * inUse.size + 1);
        }
        expect(trie.size).toBe(1);
      },
    ),
    { numRuns: 60 },
  );
});

test('nodes below are visited in address order, parents first; a subtree can be skipped', () => {
  const trie = new PrefixTrie();
  const texts = ['10.0.0.0/8', '10.0.0.0/16', '10.128.0.0/9', '2001:db8::/32', '2001:db8:0:1::/64', '2001:db8:1::/48'];
  const nodes = new Set([4, 2, 0, 5, 1, 3].map((i) => insert(trie, prefix(texts[i]!))));
  const visited: string[] = [];
  trie.forEachBelow(ROOT, (node) => {
    if (nodes.has(node)) visited.push(formatPrefix(trie.prefix(node)));
    return true;
  });
  expect(visited).toEqual(texts);
  const shallow: string[] = [];
  trie.forEachBelow(ROOT, (node) => {
    if (!nodes.has(node)) return true;
    shallow.push(formatPrefix(trie.prefix(node)));
    return false;
  });
  expect(shallow).toEqual(['10.0.0.0/8', '2001:db8::/32']);
});

describe('keys', () => {
  test('host bits are masked', () => {
    const key = newKey();
    expect(setPrefix(key, { address: address('10.1.2.3'), length: 15 })).toBe(true);
    expect([...key.words, key.length]).toEqual([0, 0, 0xffff, 0x0a000000, 111]);
    expect(setPrefix(key, { address: address('2001:db8:ffff:ffff:ffff::1'), length: 65 })).toBe(true);
    expect([...key.words, key.length]).toEqual([0x20010db8, 0xffffffff, 0x80000000, 0, 65]);
  });

  test('a key is the prefix with its host bits cleared, and gives it back', () => {
    const word = fc.oneof(fc.constantFrom(0n, 0xffffn, 0xffff_ffffn), fc.bigInt(0n, 0xffff_ffffn));
    const address6 = fc
      .tuple(word, word, word, word)
      .map(([a, b, c, d]): IpAddress => ({ family: 6, value: (a << 96n) | (b << 64n) | (c << 32n) | d }));
    const address4 = word.map((value): IpAddress => ({ family: 4, value }));
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(address6, fc.nat({ max: 128 })), fc.tuple(address4, fc.nat({ max: 32 }))),
        ([host, length]) => {
          const key = newKey();
          // What spells IPv4 is tested below.
          fc.pre(setPrefix(key, { address: host, length }));
          const masked = prefixOf(host, length);
          const [a, b, c, d] = [...key.words] as [number, number, number, number];
          const value = [...key.words].reduce((sum, w) => (sum << 32n) | BigInt(w), 0n);
          expect({ value, keyLength: key.length }).toEqual({
            value: host.family === 4 ? (0xffffn << 32n) | masked.address.value : masked.address.value,
            keyLength: keyLength(masked),
          });
          expect(prefixFrom(a, b, c, d, key.length)).toEqual(masked);
        },
      ),
    );
  });

  test('an address with the word that IPv4 has, and others before it, is IPv6', () => {
    for (const text of [
      '2001:db8::ffff:a00:1/128',
      '0:0:0:1:0:ffff:a00:1/128',
      '::fffe:a00:1/128',
      '::1:ffff:a00:1/128',
    ]) {
      const key = newKey();
      expect(setPrefix(key, prefix(text))).toBe(true);
      const [a, b, c, d] = [...key.words] as [number, number, number, number];
      expect(prefixFrom(a, b, c, d, key.length)).toEqual(prefix(text));
    }
  });

  test.each<readonly [string, number]>([
    ['10.0.0.0', 33],
    ['10.0.0.0', -1],
    ['::', 129],
    ['2001:db8::', 1.5],
    ['::ffff:10.0.0.0', 104],
    ['::ffff:0:0', 96],
  ])('%s/%d is no key', (text, length) => {
    expect(setPrefix(newKey(), { address: address(text), length })).toBe(false);
  });

  test('::/0 and an IPv6 prefix that holds all of IPv4 space are keys', () => {
    const value: IpAddress = { family: 6, value: 0xffffn << 32n };
    expect(setPrefix(newKey(), prefixOf(value, 95))).toBe(true);
    expect(setPrefix(newKey(), prefix('::/0'))).toBe(true);
  });
});

describe('a walk through all nodes, some at a time', () => {
  const texts = (trie: PrefixTrie, nodes: readonly number[]): string[] =>
    nodes.map((n) => formatPrefix(trie.prefix(n)));
  const unlike = fc.uniqueArray(dense, { maxLength: 60, selector: formatPrefix });

  test('visits each once, parents first, in address order', () => {
    fc.assert(
      fc.property(unlike, fc.integer({ min: 1, max: 9 }), (prefixes, atOnce) => {
        const trie = new PrefixTrie();
        for (const p of prefixes) insert(trie, p);
        const all: number[] = [ROOT];
        trie.forEachBelow(ROOT, (n) => all.push(n) > 0);
        const batches = [...trie.walk(atOnce)];
        expect(batches.flat()).toEqual(all);
        expect(batches.every(({ length }) => length > 0 && length <= atOnce)).toBe(true);
      }),
    );
  });

  test('that change meanwhile: none comes twice, and what stays comes', () => {
    fc.assert(
      fc.property(unlike, fc.infiniteStream(fc.tuple(fc.boolean(), fc.nat())), (prefixes, random) => {
        const trie = new PrefixTrie();
        const half = prefixes.length >> 1;
        const there = new Map(prefixes.slice(half).map((p) => [formatPrefix(p), insert(trie, p)]));
        const stays = new Set(there.keys());
        const inUse = (node: number): boolean => node === ROOT || [...there.values()].includes(node);
        const visited: string[] = [];
        for (const nodes of trie.walk(2)) {
          visited.push(...texts(trie, nodes));
          const [comes, n] = random.next().value as [boolean, number];
          const some = prefixes[n % (prefixes.length || 1)];
          if (!some) continue;
          const text = formatPrefix(some);
          if (comes) there.set(text, insert(trie, some));
          else if (there.has(text)) {
            const node = there.get(text)!;
            for (const set of [there, stays]) set.delete(text);
            trie.prune(node, inUse);
          }
        }
        expect(new Set(visited).size).toBe(visited.length);
        expect([...stays].filter((text) => !visited.includes(text))).toEqual([]);
      }),
    );
  });
});
