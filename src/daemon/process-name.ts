// The name of the process for systemd and ps, which Node.js calls MainThread. A title would replace the arguments too.
import { writeFileSync } from 'node:fs';

/** @param file tells the kernel */
export function nameProcess(name: string, file = '/proc/self/comm'): void {
  try {
    writeFileSync(file, name);
  } catch {
    // Without /proc nobody sees the name.
  }
}
