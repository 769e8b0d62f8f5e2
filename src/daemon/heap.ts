// Limits the growth of the JavaScript heap. By default V8 lets garbage pile up until the heap has multiplied. In an
// agent that occasionally relearns ten thousand prefixes, this doubles the memory without benefit. Collecting sooner
// costs less than the kernel calls of the same work (docs/explanation/performance.md). No limit is set: a large
// database may use the memory that it needs.
import { setFlagsFromString } from 'node:v8';

/** Must be called before the heap has grown. */
export function keepHeapSmall(): void {
  // Old generation: collect when it has grown by this share.
  setFlagsFromString('--heap-growing-percent=40');
  // Young generation: keep its initial size, two halves of 1 MB. Its maximum, 16 MB each, is read before any JavaScript
  // runs and cannot be set here.
  setFlagsFromString('--semi-space-growth-factor=1');
}
