// What the process keeps of memory that it no longer needs: garbage in the JavaScript heap, and what malloc(3) holds
// back. By default V8 lets garbage pile up until the heap has multiplied. In an agent that occasionally relearns ten
// thousand prefixes, this doubles the memory without benefit. Collecting sooner costs less than the kernel calls of the
// same work (docs/explanation/performance.md). No limit is set: a large database may use the memory that it needs.
import { setFlagsFromString } from 'node:v8';
import { trimMemory } from '../kernel/ffi/libc.ts';

/** Must be called before the heap has grown. */
export function keepHeapSmall(): void {
  // Old generation: collect when it has grown by this share.
  setFlagsFromString('--heap-growing-percent=20');
  // Young generation: keep its initial size, two halves of 1 MB. Its maximum, 16 MB each, is read before any JavaScript
  // runs and cannot be set here.
  setFlagsFromString('--semi-space-growth-factor=1');
}

const TRIM_MS = 30_000;

/**
 * From now on, memory outside of the heap that was freed goes back to the kernel: buffers of messages, above all. glibc
 * would keep it for a next burst, between pieces that are in use.
 */
export function returnFreedMemory(): void {
  const next = (): void => void setTimeout(() => trimMemory(next), TRIM_MS).unref();
  next();
}

/**
 * Has the process that is executed next share one pool of malloc(3) among its threads, unless the environment says
 * otherwise. By default each has its own, which keeps what that thread has freed. cnpd allocates on one thread.
 */
export function shareMalloc(env: NodeJS.ProcessEnv): void {
  env['MALLOC_ARENA_MAX'] ??= '1';
}
