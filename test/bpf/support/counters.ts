// The counters of a program, by their names.
import type { BpfMap } from '../../../src/kernel/bpf/map.ts';
import type { BpfObject } from '../../../src/kernel/bpf/object.ts';
import { BPF_CMD, attributes, tryBpf } from '../../../src/kernel/bpf/syscall.ts';
import { COUNTERS, COUNTERS_MAP, decodeCounters } from '../../../src/kernel/dataplane/counters.ts';
import { LITTLE_ENDIAN } from '../../../src/kernel/dataplane/layout.ts';
import { ERRNO, KernelError } from '../../../src/kernel/errors.ts';
import { PinnedBuffer } from '../../../src/kernel/ffi.ts';

/** @throws Error when the program has no such counter: it would never move */
export function countOf(object: BpfObject, name: string): number {
  const found = new Map(decodeCounters(object.map(COUNTERS_MAP).entries())).get(name);
  if (found === undefined) throw new Error(`no counter ${name}`);
  return Number(found);
}

export function clearCounters(object: BpfObject): void {
  const map = object.map(COUNTERS_MAP);
  for (const [key] of [...map.entries()]) map.update(key, new Uint8Array(8));
}

/**
 * Every counter of End.MT that is not 0, by its name without `multicast.`. Not the kernel's own packets at the root's
 * encapsulating route, which come when they come.
 */
export const multicastCounts = (object: BpfObject): Record<string, number> =>
  Object.fromEntries(
    [...decodeCounters(object.map(COUNTERS_MAP).entries())]
      .filter(([name, value]) => name.startsWith('multicast.') && name !== 'multicast.root.link' && value > 0n)
      .map(([name, value]) => [name.slice('multicast.'.length), Number(value)]),
  );

/** More have no name. The map has room for as many again, and the kernel takes its time for each. */
const NAMED = 1 + Math.max(...COUNTERS.map(({ index }) => index));

/** The first values of an array map, in the order of its indexes, by one system call into the same buffer each time. */
class ArrayValues {
  readonly #map: BpfMap;
  readonly #count: number;
  readonly #values: PinnedBuffer;
  readonly #keys: PinnedBuffer;
  readonly #next = new PinnedBuffer(4);
  readonly #attr = attributes(56);

  constructor(map: BpfMap, count: number) {
    this.#map = map;
    this.#count = count;
    this.#keys = new PinnedBuffer(4 * count);
    this.#values = new PinnedBuffer(map.valueBytes * count);
    // struct { in_batch, out_batch, keys, values: u64; count, map_fd: u32; … }
    const pointers = [0n, this.#next.address, this.#keys.address, this.#values.address];
    pointers.forEach((pointer, i) => this.#attr.view.setBigUint64(8 * i, pointer, LITTLE_ENDIAN));
    this.#attr.view.setUint32(36, map.fd, LITTLE_ENDIAN);
  }

  /** Valid until the next read. @throws KernelError */
  read(): Uint8Array {
    this.#attr.view.setUint32(32, this.#count, LITTLE_ENDIAN);
    const result = tryBpf(BPF_CMD.MAP_LOOKUP_BATCH, this.#attr);
    if (result < 0 && result !== -ERRNO.ENOENT) throw new KernelError(`batch lookup(map ${this.#map.name})`, -result);
    return this.#values.bytes;
  }
}

/**
 * What moves in the counters of a program from one look to the next; cheap enough for each of 100,000 packets. For
 * programs that only the test runs: nothing else may count between the looks.
 */
export class CounterWatch {
  readonly #values: ArrayValues;
  readonly #size: number;
  #before: Uint8Array;

  constructor(object: BpfObject) {
    const map = object.map(COUNTERS_MAP);
    this.#values = new ArrayValues(map, NAMED);
    this.#size = map.valueBytes;
    this.#before = this.#values.read().slice();
  }

  /** The counters that moved since the last look, by name. */
  moved(): Record<string, number> {
    const [before, after] = [this.#before, this.#values.read()].map((bytes) =>
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    );
    const found: Record<string, number> = {};
    if (before!.equals(after!)) return found;
    this.#before = Uint8Array.from(after!);
    for (const { index, name } of COUNTERS) {
      const [from, to] = [index * this.#size, (index + 1) * this.#size];
      if (before!.compare(after!, from, to, from, to) === 0) continue;
      found[name] = Number(sum(after!.subarray(from, to)) - sum(before!.subarray(from, to)));
    }
    return found;
  }
}

function sum(value: Buffer): bigint {
  let total = 0n;
  for (let at = 0; at < value.length; at += 8) total += value.readBigUInt64LE(at);
  return total;
}
