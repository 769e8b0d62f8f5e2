// BPF_PROG_TEST_RUN on a CPU of choice, beside this process: bpftool's.
import { spawn } from 'node:child_process';
import type { Netns } from '../../../src/kernel/netns.ts';

export interface PinnedRun {
  readonly cpu: number;
  /** Where the program is pinned. */
  readonly pin: string;
  /** Files: the frame, and a struct __sk_buff. */
  readonly data: string;
  readonly context: string;
  readonly repeat: number;
}

/** In `netns`, if it is given. Rejects with what bpftool prints. */
export function runOnCpu({ cpu, pin, data, context, repeat }: PinnedRun, netns?: Netns): Promise<void> {
  const run = ['bpftool', 'prog', 'run', 'pinned', pin, 'data_in', data, 'ctx_in', context, 'repeat', String(repeat)];
  const start = () => spawn('taskset', ['-c', String(cpu), ...run], { stdio: ['ignore', 'ignore', 'pipe'] });
  const child = netns ? netns.run(start) : start();
  return new Promise((resolve, reject) => {
    let output = '';
    child.stderr.on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`bpftool: ${output}`))));
  });
}
