// Lets a few tasks run at once and the others wait in a line of bounded length.
import { RpcError } from './rpc-error.ts';

type Limited = <T>(task: () => Promise<T>) => Promise<T>;

/** @throws RpcError RESOURCE_EXHAUSTED (from the returned function) when the line is full. */
export function limitConcurrency(atOnce: number, waiting: number): Limited {
  const line: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < atOnce) running++;
    else if (line.length >= waiting)
      throw new RpcError('RESOURCE_EXHAUSTED', `${waiting} requests are waiting already: try again later`);
    else await new Promise<void>((resolve) => void line.push(resolve));
    try {
      return await task();
    } finally {
      const next = line.shift();
      if (next) next();
      else running--;
    }
  };
}
