// Batch commands of bpf(2) on one map (since Linux 5.6). Map types without them return EINVAL or ENOTSUPP on the first
// call; the caller then handles entries one by one. The position of a batch lookup is opaque: 4 bytes for hashes and
// arrays, a key for tries.
import { ERRNO, KernelError } from '../errors.ts';
import { PinnedBuffer } from '../ffi.ts';
import { BPF_CMD, attributes, tryBpf } from './syscall.ts';

/** A key and a value. */
export type MapEntry = readonly [Uint8Array, Uint8Array];

/**
 * Entries written in a call: large enough to hide the call, small enough that the buffers stay below a megabyte for the
 * maps used here.
 */
const CHUNK = 2048;
/** Entries read in a call: a reader that proceeds step by step waits for one call, some 2 ms. */
const READ_CHUNK = 512;
const UNSUPPORTED: readonly number[] = [-ERRNO.EINVAL, -ERRNO.ENOTSUPP, -ERRNO.EOPNOTSUPP];

interface BatchOptions {
  readonly name: string;
  readonly fd: number;
  readonly keySize: number;
  readonly valueBytes: number;
}

interface Buffers {
  readonly capacity: number;
  readonly keys: PinnedBuffer;
  readonly values: PinnedBuffer;
  readonly attr: PinnedBuffer;
}

/** Of struct { in_batch, out_batch, keys, values: u64; count, map_fd: u32; elem_flags, flags: u64 }. */
const AT = { inBatch: 0, outBatch: 8, keys: 16, values: 24, count: 32, fd: 36, elementFlags: 40 } as const;

export class MapBatch {
  private readonly opts: BatchOptions;
  /** Buffers for updates, kept because a learned table is written step by step. */
  private written: Buffers | undefined;

  constructor(opts: BatchOptions) {
    this.opts = opts;
  }

  private buffers(capacity: number): Buffers {
    const { fd, keySize, valueBytes } = this.opts;
    const attr = attributes(56);
    const keys = new PinnedBuffer(Math.max(1, capacity * keySize));
    const values = new PinnedBuffer(Math.max(1, capacity * valueBytes));
    attr.view.setBigUint64(AT.keys, keys.address, true);
    attr.view.setBigUint64(AT.values, values.address, true);
    attr.view.setUint32(AT.fd, fd, true);
    return { capacity, keys, values, attr };
  }

  /**
   * Sets the entries in batches. Returns those to be set one by one: all when the map type has no batches, none
   * otherwise.
   */
  update(entries: readonly MapEntry[], flags: number): readonly MapEntry[] {
    const { keySize, valueBytes } = this.opts;
    if (entries.length === 0) return entries;
    const buffers = this.writeBuffers(entries.length);
    for (let start = 0; start < entries.length; start += CHUNK) {
      const count = Math.min(CHUNK, entries.length - start);
      for (let i = 0; i < count; i++) {
        const [key, value] = entries[start + i]!;
        buffers.keys.bytes.set(key, i * keySize);
        buffers.values.bytes.set(value, i * valueBytes);
      }
      if (!this.updateChunk(buffers, count, start, entries.length, flags)) return entries;
    }
    return [];
  }

  private writeBuffers(count: number): Buffers {
    const capacity = Math.min(CHUNK, count);
    if (!this.written || this.written.capacity < capacity) this.written = this.buffers(capacity);
    return this.written;
  }

  private updateChunk(buffers: Buffers, count: number, before: number, total: number, flags: number): boolean {
    buffers.attr.view.setUint32(AT.count, count, true);
    buffers.attr.view.setBigUint64(AT.elementFlags, BigInt(flags), true);
    const result = tryBpf(BPF_CMD.MAP_UPDATE_BATCH, buffers.attr);
    if (result >= 0) return true;
    const done = buffers.attr.view.getUint32(AT.count, true);
    // An unsupported command leaves the count unchanged or zero, and has set nothing. Setting one by one then gives the
    // true error.
    if (before === 0 && UNSUPPORTED.includes(result)) return false;
    throw new KernelError(`update(map ${this.opts.name})`, -result, `${before + done} of ${total} entries were set`);
  }

  /**
   * Yields copies of all entries. Returns false, without an entry, when the map type has no batch lookup. `checkOpen`
   * throws when the map was closed. It is called before each batch, because the consumer may pause between entries.
   */
  *entries(maxEntries: number, checkOpen: () => void): Generator<[Uint8Array, Uint8Array], boolean> {
    const { keySize, valueBytes } = this.opts;
    const batches = this.batches(maxEntries, checkOpen);
    let next = batches.next();
    for (; !next.done; next = batches.next()) {
      const { count, keys, values } = next.value;
      for (let i = 0; i < count; i++) {
        yield [
          keys.bytes.slice(i * keySize, (i + 1) * keySize),
          values.bytes.slice(i * valueBytes, (i + 1) * valueBytes),
        ];
      }
    }
    return next.value;
  }

  /** As entries, but by batch: the buffers have `count` keys and values until the next one. */
  *batches(
    maxEntries: number,
    checkOpen: () => void,
  ): Generator<Pick<Buffers, 'keys' | 'values'> & { count: number }, boolean> {
    const { keySize, name } = this.opts;
    let buffers = this.buffers(Math.min(READ_CHUNK, Math.max(16, maxEntries)));
    const position = new PinnedBuffer(Math.max(4, keySize));
    const next = new PinnedBuffer(Math.max(4, keySize));
    let started = false;
    let last = false;
    // The walk through a map that changes meanwhile may exceed the map's size; the limit is twice the size.
    for (let seen = 0; !last && seen <= 2 * maxEntries;) {
      checkOpen();
      buffers.attr.view.setBigUint64(AT.inBatch, started ? position.address : 0n, true);
      buffers.attr.view.setBigUint64(AT.outBatch, next.address, true);
      buffers.attr.view.setUint32(AT.count, buffers.capacity, true);
      const result = tryBpf(BPF_CMD.MAP_LOOKUP_BATCH, buffers.attr);
      if (!started && UNSUPPORTED.includes(result)) return false;
      if (result === -ERRNO.ENOSPC) {
        // One hash bucket exceeds the buffer: use a larger one at the same position.
        buffers = this.buffers(buffers.capacity * 2);
        continue;
      }
      if (result < 0 && result !== -ERRNO.ENOENT) throw new KernelError(`batch lookup(map ${name})`, -result);
      last = result < 0;
      const count = buffers.attr.view.getUint32(AT.count, true);
      yield { count, keys: buffers.keys, values: buffers.values };
      seen += count;
      started = true;
      position.bytes.set(next.bytes);
    }
    return true;
  }
}
