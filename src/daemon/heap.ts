// How the JavaScript heap grows. V8 lets garbage pile up until the heap has multiplied, which in an agent that relearns
// ten thousand prefixes now and then is twice the memory for nothing. Collecting sooner costs less than the kernel
// calls of the same work (docs/performance.md). No limit is set: a large database may take what it needs.
import { setFlagsFromString } from 'node:v8';

/** To be called before the heap has grown. */
export function keepHeapSmall(): void {
  // Old generation: collect when it has grown by this share.
  setFlagsFromString('--heap-growing-percent=40');
  // Young generation: as large as it starts, which is 1 MB and as much to copy into. Its largest size, 16 MB each, is
  // read before any of this runs and cannot be set here.
  setFlagsFromString('--semi-space-growth-factor=1');
}
