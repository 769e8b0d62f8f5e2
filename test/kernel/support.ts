// What the kernel tests share: namespaces and processes that are gone afterwards, and waiting for a state instead of a time.
import { spawnSync } from 'node:child_process';
import type { Netns } from '../../src/kernel/netns.ts';

/** Runs a command in a namespace and returns what it printed. @throws Error with its standard error when it fails */
export function inNetns(netns: Netns, command: string, ...args: string[]): string {
  const result = netns.run(() => spawnSync(command, args, { encoding: 'utf8' }));
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export const ip = (netns: Netns, line: string): string => inNetns(netns, 'ip', ...line.split(' '));

/** Waits until `condition` holds. @throws Error naming what was waited for after `limitMs` */
export async function until(what: string, condition: () => boolean, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`after ${limitMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
