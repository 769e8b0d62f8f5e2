// BPF maps: keys and values as bytes; src/kernel/dataplane defines their layout. Batches are used where the kernel
// supports them for the map's type. Values of per-CPU maps are one block a possible CPU, each rounded up to 8 bytes, in
// CPU order.
import { readFileSync } from 'node:fs';
import { ERRNO, KernelError } from '../errors.ts';
import { close } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import { MapBatch, type MapEntry } from './map-batch.ts';
import { BPF_CMD, type MapInfo, attributes, mapInfo, mapTypeName, openPinned, tryBpf } from './syscall.ts';

const PER_CPU_TYPES: ReadonlySet<string> = new Set([
  'percpu_hash',
  'percpu_array',
  'lru_percpu_hash',
  'percpu_cgroup_storage',
]);
const UPDATE = { ANY: 0, NOEXIST: 1, EXIST: 2 } as const;

/** Number of possible CPUs: how many values a per-CPU element has. The file reads `0-7` or `0,2-3`. */
export function possibleCpus(text = readFileSync('/sys/devices/system/cpu/possible', 'utf8')): number {
  return text
    .trim()
    .split(',')
    .reduce((sum, range) => {
      const [first, last = first] = range.split('-').map(Number) as [number, number?];
      return sum + last - first + 1;
    }, 0);
}

export class BpfMap {
  readonly name: string;
  readonly fd: number;
  readonly info: MapInfo;
  readonly perCpu: boolean;
  /** Bytes of a whole value as lookup returns it: valueSize, or for a per-CPU map CPUs × valueSize rounded up to 8. */
  readonly valueBytes: number;
  private readonly cpus: number;
  private readonly attr = attributes(32);
  /** To delete, the attributes end with the descriptor and the key; nothing may follow. */
  private readonly deleteAttr = attributes(16);
  private readonly key: PinnedBuffer;
  private readonly value: PinnedBuffer;
  private readonly batch: MapBatch;
  private readonly owned: boolean;
  private closed = false;
  /** It has the content of an earlier run. */
  private reused: boolean;

  /**
   * `owned`: close() closes the descriptor too; otherwise it belongs to the BPF object that the map is part of.
   * `reused`: until settle(), a value that the map has already is not written again. So a restart changes nothing.
   */
  constructor(opts: { name: string; fd: number; owned: boolean; reused?: boolean }) {
    this.name = opts.name;
    this.fd = opts.fd;
    this.owned = opts.owned;
    this.reused = opts.reused ?? false;
    this.info = mapInfo(`information(map ${opts.name})`, opts.fd);
    this.perCpu = PER_CPU_TYPES.has(mapTypeName(this.info.type));
    this.cpus = this.perCpu ? possibleCpus() : 1;
    this.valueBytes = this.perCpu ? this.cpus * this.stride : this.info.valueSize;
    this.key = new PinnedBuffer(Math.max(1, this.info.keySize));
    this.value = new PinnedBuffer(Math.max(1, this.info.keySize, this.valueBytes));
    this.attr.view.setUint32(0, this.fd, true);
    this.attr.view.setBigUint64(8, this.key.address, true);
    this.attr.view.setBigUint64(16, this.value.address, true);
    this.deleteAttr.bytes.set(this.attr.bytes.subarray(0, 16));
    this.batch = new MapBatch({
      name: this.name,
      fd: this.fd,
      keySize: this.info.keySize,
      valueBytes: this.valueBytes,
    });
  }

  /** Opens a pinned map. @throws KernelError ENOENT */
  static openPinned(path: string, opts: { readonly reused?: boolean } = {}): BpfMap {
    const fd = openPinned(path);
    try {
      return new BpfMap({ ...opts, name: path.slice(path.lastIndexOf('/') + 1), fd, owned: true });
    } catch (error) {
      close(fd);
      throw error;
    }
  }

  /** Whether it has the content of an earlier run, as far as is known. */
  get isReused(): boolean {
    return this.reused;
  }

  /** Entries that it can have. */
  get limit(): number {
    return this.info.maxEntries;
  }

  /** From now on, every value is written. */
  settle(): void {
    this.reused = false;
  }

  /** Whether a look-up finds the longest prefix that matches the key, rather than the key. */
  get matchesPrefixes(): boolean {
    return mapTypeName(this.info.type) === 'lpm_trie';
  }

  /** Bytes from one CPU's value to the next. */
  get stride(): number {
    return this.perCpu ? (this.info.valueSize + 7) & ~7 : this.info.valueSize;
  }

  /** A copy of the value (valueBytes long), or undefined when the key does not exist. @throws KernelError */
  lookup(key: Uint8Array): Uint8Array | undefined {
    this.setKey(key);
    return this.command('lookup', BPF_CMD.MAP_LOOKUP_ELEM, 0) ? this.value.bytes.slice(0, this.valueBytes) : undefined;
  }

  /** Like lookup, one value (valueSize long) a CPU. */
  lookupPerCpu(key: Uint8Array): Uint8Array[] | undefined {
    const all = this.lookup(key);
    return (
      all &&
      Array.from({ length: this.cpus }, (_, cpu) =>
        all.subarray(cpu * this.stride, cpu * this.stride + this.info.valueSize),
      )
    );
  }

  /** For values made of u64 counters: each summed over the CPUs. undefined when the key does not exist. */
  sumCounters(key: Uint8Array): bigint[] | undefined {
    return this.lookupPerCpu(key)?.reduce<bigint[]>((sums, value) => {
      const view = new DataView(value.buffer, value.byteOffset);
      for (let i = 0; i + 8 <= value.length; i += 8)
        sums[i / 8] = BigInt.asUintN(64, (sums[i / 8] ?? 0n) + view.getBigUint64(i, true));
      return sums;
    }, []);
  }

  /**
   * Sets a value. For a per-CPU map a single value (valueSize long) is copied to every CPU, a whole one (valueBytes)
   * is set unchanged.
   * @throws KernelError E2BIG (full), EEXIST, ENOENT; RangeError for a wrong length
   */
  update(key: Uint8Array, value: Uint8Array, flags: number = UPDATE.ANY): void {
    if (flags === UPDATE.ANY && this.has(key, value)) return;
    this.setKey(key);
    this.value.bytes.set(this.wholeValue(value));
    if (!this.command('update', BPF_CMD.MAP_UPDATE_ELEM, flags))
      throw new KernelError(`update(map ${this.name})`, ERRNO.ENOENT);
  }

  /** Returns whether the key existed. @throws KernelError */
  delete(key: Uint8Array): boolean {
    this.setKey(key);
    return this.found('delete', tryBpf(BPF_CMD.MAP_DELETE_ELEM, this.deleteAttr));
  }

  /** Sets many values at once. @throws KernelError with the number of entries that were set before the failure */
  updateBatch(entries: Iterable<MapEntry>, flags: number = UPDATE.ANY): void {
    this.checkOpen();
    const given = Array.isArray(entries) ? (entries as readonly MapEntry[]) : [...entries];
    for (const [key] of given) this.checkKey(key);
    const all = this.reused && flags === UPDATE.ANY ? this.missing(given) : given;
    const unsupported = this.batch.update(
      all.every(([, value]) => value.length === this.valueBytes)
        ? all
        : all.map(([key, value]) => [key, this.wholeValue(value)] as const),
      flags,
    );
    for (const [key, value] of unsupported) this.update(key, value, flags);
  }

  /** Copies of all keys. The map may change meanwhile: a key may then be missed or seen twice. */
  *keys(): Generator<Uint8Array> {
    for (const [key] of this.entries()) yield key;
  }

  /**
   * Copies of all entries; a value is valueBytes long. Batches are read on demand, so a large map may be read over
   * many turns of the event loop; an entry is then as old as its batch.
   */
  *entries(): Generator<[Uint8Array, Uint8Array]> {
    this.checkOpen();
    if (yield* this.batch.entries(this.info.maxEntries, () => this.checkOpen())) return;
    yield* this.entriesOneByOne();
  }

  /** Numbers of entries whose sum is that of the map. Each is of one batch, so a large map takes many turns. */
  *counts(): Generator<number> {
    this.checkOpen();
    const batches = this.batch.batches(this.info.maxEntries, () => this.checkOpen());
    let next = batches.next();
    for (; !next.done; next = batches.next()) yield next.value.count;
    if (!next.value) for (const _ of this.entriesOneByOne()) yield 1;
  }

  /** Ends the use of this object; the map stays if it is pinned or used by programs. Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.owned) close(this.fd);
  }

  private *entriesOneByOne(): Generator<[Uint8Array, Uint8Array]> {
    let previous: Uint8Array | undefined;
    for (let seen = 0; seen <= 2 * this.info.maxEntries; seen++) {
      const key = this.nextKey(previous);
      if (!key) return;
      const value = this.lookup(key);
      if (value) yield [key, value];
      previous = key;
    }
  }

  private nextKey(previous: Uint8Array | undefined): Uint8Array | undefined {
    if (previous) this.setKey(previous);
    else this.checkOpen();
    this.attr.view.setBigUint64(8, previous ? this.key.address : 0n, true);
    try {
      return this.command('next key', BPF_CMD.MAP_GET_NEXT_KEY, 0)
        ? this.value.bytes.slice(0, this.info.keySize)
        : undefined;
    } finally {
      this.attr.view.setBigUint64(8, this.key.address, true);
    }
  }

  /** Whether a reused map has this entry. Tries cannot tell: see reconcile/map-table.ts. */
  private has(key: Uint8Array, value: Uint8Array): boolean {
    if (!this.reused || this.perCpu || this.matchesPrefixes) return false;
    const found = this.lookup(key);
    return found !== undefined && Buffer.compare(found, value) === 0;
  }

  /** Of several values of a key the last one counts. */
  private missing(entries: readonly MapEntry[]): MapEntry[] {
    const last = new Map(entries.map((entry) => [String.fromCharCode(...entry[0]), entry]));
    return [...last.values()].filter(([key, value]) => !this.has(key, value));
  }

  private wholeValue(value: Uint8Array): Uint8Array {
    if (value.length === this.valueBytes) return value;
    if (!this.perCpu || value.length !== this.info.valueSize) {
      throw new RangeError(`map ${this.name}: a value has ${this.info.valueSize} bytes, not ${value.length}`);
    }
    const whole = new Uint8Array(this.valueBytes);
    for (let cpu = 0; cpu < this.cpus; cpu++) whole.set(value, cpu * this.stride);
    return whole;
  }

  private checkKey(key: Uint8Array): void {
    if (key.length !== this.info.keySize)
      throw new RangeError(`map ${this.name}: a key has ${this.info.keySize} bytes, not ${key.length}`);
  }

  private checkOpen(): void {
    if (this.closed) throw new Error(`map ${this.name} was closed`);
  }

  private setKey(key: Uint8Array): void {
    this.checkOpen();
    this.checkKey(key);
    this.key.bytes.set(key);
  }

  private command(verb: string, command: number, flags: number): boolean {
    this.attr.view.setBigUint64(24, BigInt(flags), true);
    return this.found(verb, tryBpf(command, this.attr));
  }

  /** False for ENOENT. */
  private found(verb: string, result: number): boolean {
    if (result >= 0) return true;
    if (result === -ERRNO.ENOENT) return false;
    throw new KernelError(`${verb}(map ${this.name})`, -result);
  }
}
