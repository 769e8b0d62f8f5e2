// Receives many datagrams in one system call: recvmmsg(2) into one block of memory that is laid out once. The block is
// reused, so a result of data() is valid until the next receive().
import { MSG, receiveMany } from './ffi/libc.ts';
import { PinnedBuffer } from './ffi.ts';

/** struct mmsghdr of a 64-bit system: struct msghdr (56 bytes) and msg_len. */
const HEADER = {
  size: 64,
  name: 0,
  nameLength: 8,
  vector: 16,
  vectorLength: 24,
  control: 32,
  controlLength: 40,
  flags: 48,
  length: 56,
} as const;
const VECTOR_SIZE = 16;

interface BatchLayout {
  /** Datagrams a call. */
  readonly slots: number;
  /** Bytes kept of each datagram; a longer one is marked truncated. */
  readonly slotSize: number;
  /** Size of the socket address to receive with each; 0 for none. */
  readonly nameSize: number;
  /** Space for the control messages of each (cmsg(3)), a multiple of 8; none when absent. */
  readonly controlSize?: number;
}

export class ReceiveBatch {
  private readonly layout: BatchLayout;
  private readonly headers: PinnedBuffer;
  private readonly vectors: PinnedBuffer;
  private readonly names: PinnedBuffer;
  private readonly controls: PinnedBuffer;
  private readonly controlSize: number;
  private readonly memory: PinnedBuffer;

  constructor(layout: BatchLayout) {
    this.layout = layout;
    this.headers = new PinnedBuffer(layout.slots * HEADER.size);
    this.vectors = new PinnedBuffer(layout.slots * VECTOR_SIZE);
    this.names = new PinnedBuffer(Math.max(1, layout.slots * layout.nameSize));
    this.controlSize = layout.controlSize ?? 0;
    this.controls = new PinnedBuffer(Math.max(1, layout.slots * this.controlSize));
    this.memory = new PinnedBuffer(layout.slots * layout.slotSize);
    for (let i = 0; i < layout.slots; i++) this.layOut(i);
  }

  private layOut(i: number): void {
    const { slotSize, nameSize } = this.layout;
    this.vectors.view.setBigUint64(i * VECTOR_SIZE, this.memory.address + BigInt(i * slotSize), true);
    this.vectors.view.setBigUint64(i * VECTOR_SIZE + 8, BigInt(slotSize), true);
    const header = i * HEADER.size;
    if (nameSize > 0)
      this.headers.view.setBigUint64(header + HEADER.name, this.names.address + BigInt(i * nameSize), true);
    if (this.controlSize > 0)
      this.headers.view.setBigUint64(
        header + HEADER.control,
        this.controls.address + BigInt(i * this.controlSize),
        true,
      );
    this.headers.view.setBigUint64(header + HEADER.vector, this.vectors.address + BigInt(i * VECTOR_SIZE), true);
    this.headers.view.setBigUint64(header + HEADER.vectorLength, 1n, true);
  }

  /** Most datagrams that one receive() returns. */
  get slots(): number {
    return this.layout.slots;
  }

  /** Receives the queued datagrams without waiting. Returns their number. @throws KernelError */
  receive(operation: string, fd: number): number {
    // The kernel overwrites these lengths with the true ones, so they are set each time.
    for (let i = 0; i < this.layout.slots; i++) {
      this.headers.view.setUint32(i * HEADER.size + HEADER.nameLength, this.layout.nameSize, true);
      this.headers.view.setBigUint64(i * HEADER.size + HEADER.controlLength, BigInt(this.controlSize), true);
    }
    return receiveMany(operation, fd, this.headers.address, this.layout.slots) ?? 0;
  }

  /** Bytes of datagram `i`, valid until the next receive(). */
  data(i: number): Uint8Array {
    const start = i * this.layout.slotSize;
    return this.memory.bytes.subarray(
      start,
      start + this.headers.view.getUint32(i * HEADER.size + HEADER.length, true),
    );
  }

  /** One byte of the socket address of datagram `i`. */
  nameByte(i: number, offset: number): number {
    return this.names.bytes[i * this.layout.nameSize + offset]!;
  }

  /** The socket address of datagram `i`, valid until the next receive(). */
  name(i: number): Uint8Array {
    return this.names.bytes.subarray(i * this.layout.nameSize, (i + 1) * this.layout.nameSize);
  }

  /** The control messages of datagram `i`, valid until the next receive(). */
  control(i: number): Uint8Array {
    const length = Number(this.headers.view.getBigUint64(i * HEADER.size + HEADER.controlLength, true));
    return this.controls.bytes.subarray(
      i * this.controlSize,
      i * this.controlSize + Math.min(length, this.controlSize),
    );
  }

  /** Whether datagram `i` was longer than a slot. */
  truncated(i: number): boolean {
    return (this.headers.view.getInt32(i * HEADER.size + HEADER.flags, true) & MSG.TRUNC) !== 0;
  }
}
