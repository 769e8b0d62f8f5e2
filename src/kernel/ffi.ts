// All native code is called through this file: no other imports koffi. A wrong pointer ends the process, so the exports
// are few: binding a prototype, errno, the address of a buffer, a view of mapped memory. The checked and typed wrappers
// for the other files are in ffi/libc.ts and ffi/libbpf.ts. koffi.node.poll is deliberately absent (undocumented, stops
// when collected, swallows exceptions); poller.ts does that work.
import { endianness } from 'node:os';
import koffi from 'koffi';
import { KernelError } from './errors.ts';
import { messageOf } from '../model/error-text.ts';

/** An address in this process; null is NULL. */
export type Pointer = bigint;
/** Argument for a `void *` parameter: bytes (the callee gets their address, in and out), an address, or NULL. */
export type Memory = ArrayBufferView | Pointer | null;

type Async<F> = F extends (...args: infer A) => infer R
  ? (...args: [...A, (error: Error | null, result: R) => void]) => void
  : never;
/** A bound C function. `.async` runs it on a libuv worker thread and calls back on the main thread. */
export type Native<F> = F & { readonly async: Async<F> };

export interface Library {
  /** Binds a function by its C prototype. `ssize_t` must be written `long`; pointers are `void *`. */
  bind<F>(prototype: string): Native<F>;
}

/**
 * Loads the first of `names` that exists.
 * @throws Error when none does; it names the package to install
 */
export function openLibrary(names: readonly string[], remedy: string): Library {
  // Structures are laid out in host byte order, and every adapter writes them little-endian.
  if (endianness() !== 'LE') throw new Error(`cnpd runs on little-endian machines; this one (${process.arch}) is not`);
  const failures: string[] = [];
  for (const name of names) {
    try {
      const library = koffi.load(name);
      return { bind: <F>(prototype: string) => library.func(prototype) as unknown as Native<F> };
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  // A library that exists but cannot be opened is not fixed by installing it. dlopen(3) reports the reason as text
  // only.
  const absent = failures.every((failure) => /no such file/i.test(failure));
  throw new Error(`cannot load ${names.join(' or ')}: ${failures.join('; ')}.${absent ? ` ${remedy}` : ''}`);
}

/** errno of the calling thread; read it directly after the call, or inside the callback of an `.async` call. */
export const lastErrno = (): number => koffi.errno();

/** Turns the C convention (negative result, errno set) into the result or a KernelError. */
export function check(operation: string, result: number): number {
  if (result < 0) throw new KernelError(operation, lastErrno());
  return result;
}

/** The address of the first byte of `bytes`. Valid as long as `bytes` is referenced from JavaScript. */
const addressOf = (bytes: ArrayBufferView): Pointer => koffi.address(bytes);

/** A view of native memory without a copy. Reading it after the memory was unmapped ends the process. */
export const viewMemory = (pointer: Pointer, length: number): ArrayBuffer => koffi.view(pointer, length);

/** The NUL-terminated UTF-8 text at `pointer`. */
export const textAt = (pointer: Pointer): string => koffi.decode.string(pointer);

/**
 * Registers a C-callable function for the life of the process (at most a handful exist). Called only while a
 * synchronous native call runs.
 */
export function nativeCallback(prototype: string, run: (...args: never[]) => number): Pointer {
  return koffi.register(run, koffi.pointer(koffi.proto(prototype)));
}

/**
 * Memory with a fixed address, for structures that hold addresses and for calls that outlive the JavaScript frame that
 * made them. The store of an ArrayBuffer does not move; it lives as long as this object is referenced.
 */
export class PinnedBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  readonly address: Pointer;

  constructor(size: number) {
    const memory = new ArrayBuffer(size);
    this.bytes = new Uint8Array(memory);
    this.view = new DataView(memory);
    this.address = addressOf(this.bytes);
    keepForThisTurn(this);
  }
}

/**
 * A caller that keeps only a buffer's address (in another structure, or in an argument) no longer references the
 * buffer. The collector may then free it before the foreign call reads it. Foreign calls are synchronous and each uses
 * few buffers, so the latest ones are kept for this turn.
 */
const KEPT = 64;
const kept: PinnedBuffer[] = [];
function keepForThisTurn(buffer: PinnedBuffer): void {
  if (kept.length === 0) queueMicrotask(() => void (kept.length = 0));
  if (kept.length === KEPT) kept.shift();
  kept.push(buffer);
}

/** Copies text into a fixed-size, NUL-padded field. @throws RangeError when it does not fit with its terminator. */
export function writeText(target: Uint8Array, offset: number, size: number, text: string): void {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length >= size)
    throw new RangeError(`${JSON.stringify(text)} is longer than the ${size - 1} bytes the kernel allows`);
  target.fill(0, offset, offset + size);
  target.set(encoded, offset);
}

/** Reads a NUL-padded field. */
export function readText(source: Uint8Array, offset: number, size: number): string {
  const field = source.subarray(offset, offset + size);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
