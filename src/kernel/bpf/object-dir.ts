// Where the compiled programs are.
import { join } from 'node:path';

/** In dist/, beside the bundle that this code is built into. */
export const objectDir = (): string =>
  join(import.meta.dirname, import.meta.dirname.endsWith('chunk') ? '../bpf' : 'bpf');
