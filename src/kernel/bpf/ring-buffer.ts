// Reader of a BPF ring buffer (Documentation/bpf/ringbuf.rst). The ring is mapped into this process and read in place,
// without a call or a copy a record. The data pages are mapped twice in a row, so that a record never wraps. Positions
// only grow; as numbers they are exact up to 2⁵³ bytes. A ring is smaller than 2³¹ bytes, so the low 32 bits of the
// producer's position show how much there is.
import type { Poller, Registration } from '../poller.ts';
import { PROT, mapShared, pageSize, unmap } from '../ffi/libc.ts';
import { type Pointer, viewMemory } from '../ffi.ts';
import type { BpfMap } from './map.ts';
import { mapTypeName } from './syscall.ts';

/** Flags in the length word of a record: still being written; to be skipped. */
const BUSY = 0x8000_0000;
const DISCARD = 0x4000_0000;
const LENGTH = 0x3fff_ffff;
const RECORD_HEADER = 8;
/** Records a wake-up, by default: other descriptors must not starve; the rest is reported again. */
const RECORDS_A_WAKE_UP = 16_384;
/** Records after which the kernel is notified what it may overwrite. */
const COMMIT_EVERY = 256;

interface RingBufferDependencies {
  readonly poller: Poller;
  /**
   * One record: `length` bytes of `data` from `offset` on, valid only during the call. `data` is the same view every
   * time: a view made for each record costs more than half of the rate.
   */
  onRecord(data: DataView, offset: number, length: number): void;
  /** Fewer where a record leads to much work: timers and other descriptors wait meanwhile. */
  readonly recordsAWakeUp?: number;
  /** Records that are there already are skipped: they tell of what is over. */
  readonly onlyNew?: boolean;
}

export interface RingBufferReader {
  /** Records delivered so far. */
  readonly records: number;
  /** Reads the records that exist now, without waiting for the poller. */
  drain(): void;
  /** Stops reading and unmaps; unread records stay in the ring. Idempotent. */
  close(): void;
}

/** @throws KernelError; Error when the map is not a ring buffer */
export function openRingBuffer(map: BpfMap, dependencies: RingBufferDependencies): RingBufferReader {
  if (mapTypeName(map.info.type) !== 'ringbuf')
    throw new Error(`map ${map.name} is not a ring buffer but ${mapTypeName(map.info.type)}`);
  return new MappedRing(map, dependencies);
}

class MappedRing implements RingBufferReader {
  records = 0;
  private readonly dependencies: RingBufferDependencies;
  private readonly size: number;
  private readonly mappings: { readonly address: Pointer; readonly size: number }[] = [];
  /** The consumer's page, written by this process. */
  private readonly consumed: BigUint64Array;
  /** The producer's position, and the data, both written by the kernel. */
  private readonly produced: Int32Array;
  private readonly lengths: Int32Array;
  private readonly data: DataView;
  private readonly registration: Registration;
  private position: number;
  private reading = false;
  private closed = false;

  constructor(map: BpfMap, dependencies: RingBufferDependencies) {
    this.dependencies = dependencies;
    this.size = map.info.maxEntries;
    const page = pageSize();
    try {
      this.consumed = new BigUint64Array(this.map(map, page, PROT.READ | PROT.WRITE, 0), 0, 1);
      const producer = this.map(map, page + 2 * this.size, PROT.READ, page);
      this.produced = new Int32Array(producer, 0, 1);
      this.lengths = new Int32Array(producer, page, (2 * this.size) / 4);
      this.data = new DataView(producer, page, 2 * this.size);
      const begin = dependencies.onlyNew ? new BigUint64Array(producer, 0, 1) : this.consumed;
      this.position = Number(Atomics.load(begin, 0));
      this.commit();
      this.registration = dependencies.poller.add(map.fd, () => this.drain());
    } catch (error) {
      this.release();
      throw error;
    }
  }

  drain(): void {
    if (this.closed || this.reading) return;
    this.reading = true;
    let uncommitted = 0;
    const most = this.dependencies.recordsAWakeUp ?? RECORDS_A_WAKE_UP;
    try {
      for (let i = 0; i < most && !this.closed && this.next(); i++) {
        if (++uncommitted % COMMIT_EVERY === 0) this.commit();
      }
    } finally {
      this.commit();
      this.reading = false;
      // Closed from inside a callback: the memory is in use up to here.
      if (this.closed) this.release();
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.registration.remove();
    if (!this.reading) this.release();
  }

  /** Reads one record, or skips a discarded one; false when there is none, or the next is still being written. */
  private next(): boolean {
    // Bitwise operators take a number modulo 2³², whatever its size.
    if (((Atomics.load(this.produced, 0) - this.position) | 0) <= 0) return false;
    const offset = this.position & (this.size - 1);
    const word = Atomics.load(this.lengths, offset >>> 2) >>> 0;
    if ((word & BUSY) !== 0) return false;
    const length = word & LENGTH;
    this.position += (length + RECORD_HEADER + 7) & ~7;
    if ((word & DISCARD) === 0) this.deliver(offset + RECORD_HEADER, length);
    return true;
  }

  private commit(): void {
    Atomics.store(this.consumed, 0, BigInt(this.position));
  }

  private deliver(offset: number, length: number): void {
    this.records++;
    try {
      this.dependencies.onRecord(this.data, offset, length);
    } catch (error) {
      this.dependencies.poller.report(error);
    }
  }

  private map(map: BpfMap, size: number, protection: number, offset: number): ArrayBuffer {
    const address = mapShared(`mmap(ring ${map.name})`, map.fd, size, protection, offset);
    this.mappings.push({ address, size });
    return viewMemory(address, size);
  }

  private release(): void {
    for (const { address, size } of this.mappings.splice(0)) unmap(address, size);
  }
}
