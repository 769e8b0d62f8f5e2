// A namespace as the tests use it: commands in it, links that carry, programs at its ports; and waiting for a state
// instead of a time.
import { spawnSync } from 'node:child_process';
import { BPF_CMD, attributes, bpf } from '../../src/kernel/bpf/syscall.ts';
import { PinnedBuffer } from '../../src/kernel/ffi.ts';
import type { Netns } from '../../src/kernel/netns.ts';
import { until } from './until.ts';

function run(netns: Netns, command: string, args: readonly string[], input = ''): string {
  const result = netns.run(() => spawnSync(command, args, { encoding: 'utf8', input }));
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

/** Runs a command in a namespace and returns what it printed. @throws Error with its standard error when it fails */
export const inNetns = (netns: Netns, command: string, ...args: string[]): string => run(netns, command, args);

export const ip = (netns: Netns, line: string): string => inNetns(netns, 'ip', ...line.split(' '));

/**
 * Commands of ip(8), one a line, in one process: each start takes milliseconds, and a scene has dozens of commands. A
 * line has no options: the family is that of its addresses.
 * @throws Error naming the line that was refused
 */
export function ipLines(netns: Netns, lines: string): void {
  run(netns, 'ip', ['-batch', '-'], `${lines.trim()}\n`);
}

/**
 * Waits until these veths carry packets: the kernel finds the carrier a while after both ends were set up, on a busy
 * machine up to seconds, and drops what is sent before.
 */
export const untilCarried = (netns: Netns, ...links: readonly string[]): Promise<unknown> =>
  until(
    `${links.join(', ')} up`,
    () => links.map((link) => ip(netns, `-o link show dev ${link}`)),
    (shown) => shown.every((line) => line.includes(' state UP ')),
  );

/**
 * Program numbers on a TCX hook in the order in which they run, by BPF_PROG_QUERY: the bpftool of Debian 12 does not
 * list TCX.
 */
export function attachedPrograms(ns: Netns, ifindex: number, direction: 'ingress' | 'egress'): number[] {
  const ids = new PinnedBuffer(64);
  const query = attributes(64);
  query.view.setUint32(0, ifindex, true);
  query.view.setUint32(4, { ingress: 46, egress: 47 }[direction], true);
  query.view.setBigUint64(16, ids.address, true);
  query.view.setUint32(24, 16, true);
  ns.run(() => bpf('query', BPF_CMD.PROG_QUERY, query));
  return Array.from({ length: query.view.getUint32(24, true) }, (_, i) => ids.view.getUint32(4 * i, true));
}
