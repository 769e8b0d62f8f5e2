// New inputs from old ones: what AFL's havoc stage does, with numbers that formats care about. All chance comes from a
// seed.

/** xorshift32: numbers below `limit`. */
export type Chance = (limit: number) => number;

export function chance(seed: number): Chance {
  let state = seed >>> 0 || 0x9e3779b9;
  return (limit) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
}

const BYTES = [0, 1, 2, 3, 4, 7, 8, 0x0f, 0x10, 0x1f, 0x20, 0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff];
const WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x5dc, 0x7fff, 0x8000, 0xfffe, 0xffff];

type Step = (bytes: Uint8Array, pick: Chance, other: Uint8Array) => Uint8Array;

const spliced = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const changed = (bytes: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array => {
  const copy = new Uint8Array(bytes);
  change(copy);
  return copy;
};

const STEPS: readonly Step[] = [
  (b, pick) => changed(b, (c) => void (c[pick(c.length)]! ^= 1 << pick(8))),
  (b, pick) => changed(b, (c) => void (c[pick(c.length)] = pick(256))),
  (b, pick) => changed(b, (c) => void (c[pick(c.length)] = BYTES[pick(BYTES.length)]!)),
  (b, pick) => changed(b, (c) => void (c[pick(c.length)]! += pick(2) === 0 ? 1 : 255)),
  (b, pick) =>
    changed(b, (c) => {
      const at = pick(c.length);
      const word = WORDS[pick(WORDS.length)]!;
      c.set([word >> 8, word & 0xff].slice(0, c.length - at), at);
    }),
  (b, pick) => b.subarray(0, pick(b.length)),
  (b, pick) => {
    const at = pick(b.length);
    return spliced(b.subarray(0, at), b.subarray(at + 1 + pick(8)));
  },
  (b, pick) => {
    const at = pick(b.length + 1);
    return spliced(
      b.subarray(0, at),
      Uint8Array.from({ length: 1 + pick(16) }, () => pick(256)),
      b.subarray(at),
    );
  },
  // A piece twice, elsewhere: formats are lists of like things.
  (b, pick) => {
    const [from, to] = [pick(b.length), pick(b.length + 1)];
    return spliced(b.subarray(0, to), b.subarray(from, from + 1 + pick(64)), b.subarray(to));
  },
  (b, pick, other) => spliced(b.subarray(0, pick(b.length + 1)), other.subarray(pick(other.length + 1))),
];

/** One to six changes of a member of the corpus. */
export function mutated(corpus: readonly Uint8Array[], pick: Chance, mostBytes: number): Uint8Array {
  let bytes = corpus[pick(corpus.length)]!;
  for (let n = 1 + pick(6); n > 0; n--) {
    if (bytes.length === 0) bytes = Uint8Array.of(pick(256));
    bytes = STEPS[pick(STEPS.length)]!(bytes, pick, corpus[pick(corpus.length)]!);
  }
  return bytes.subarray(0, mostBytes);
}
