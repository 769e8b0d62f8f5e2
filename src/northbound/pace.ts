// Long answers are made in slices, so that the event loop keeps its other appointments (hellos, notices): work for a
// few milliseconds, let everybody else run, go on.
import { RpcError } from './rpc-error.ts';

/**
 * Called between small pieces of work: undefined to go on at once, or a promise to wait for. Throws CANCELLED when
 * nobody waits any more.
 */
export type Pace = () => Promise<void> | undefined;

const SLICE_MS = 4;

export function createPace(cancelled: () => boolean = () => false, now: () => number = () => performance.now()): Pace {
  let since = now();
  return () => {
    if (now() - since < SLICE_MS) return undefined;
    if (cancelled()) throw new RpcError('CANCELLED', 'the client went away');
    return new Promise((resolve) => {
      setImmediate(() => {
        since = now();
        resolve();
      });
    });
  };
}
