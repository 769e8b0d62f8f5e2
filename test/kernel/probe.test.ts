// The kernel feature report, against what other tools say of this kernel.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../../src/kernel/probe.ts';
import { bundled } from './support/bundle.ts';
import { inNetns } from '../support/netns.ts';

async function features(): Promise<Map<string, KernelFeature>> {
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  try {
    return new Map((await probeKernel({ poller, objectDir: 'dist/bpf' })).map((f) => [f.name, f]));
  } finally {
    poller.close();
  }
}

describe('probeKernel', () => {
  test('agrees with iproute2 and bpftool, and what is missing has a remedy in words', async () => {
    const found = await features();
    const ns = Netns.create();
    const works = (command: string, ...args: string[]): boolean => {
      try {
        inNetns(ns, command, ...args);
        return true;
      } catch {
        return false;
      }
    };
    inNetns(ns, 'ip', 'link', 'add', 't-k-a', 'type', 'veth', 'peer', 'name', 't-k-b');
    expect(found.get('veth')!.ok).toBe(true);
    expect(found.get('tbf')!.ok).toBe(
      works('tc', ...'qdisc add dev t-k-a root tbf rate 1mbit burst 10kb limit 10000'.split(' ')),
    );
    expect(found.get('htb')!.ok).toBe(works('tc', ...'qdisc replace dev t-k-a root htb'.split(' ')));
    expect(found.get('clsact')!.ok).toBe(works('tc', ...'qdisc add dev t-k-b clsact'.split(' ')));
    expect(found.get('vrf')!.ok).toBe(works('ip', ...'link add t-k-v type vrf table 9'.split(' ')));
    inNetns(ns, 'ip', 'link', 'set', 't-k-a', 'up');
    expect(found.get('seg6local')!.ok).toBe(
      works('ip', ...'-6 route add 2001:db8::1/128 encap seg6local action End dev t-k-a'.split(' ')),
    );
    const functions = spawnSync(
      'bash',
      ['-c', 'bpftool btf dump file /sys/kernel/btf/vmlinux | grep -c "FUNC \'bpf_cast_to_kern_ctx\'"'],
      { encoding: 'utf8' },
    );
    expect(found.get('packet-memory')).toMatchObject({
      ok: true,
      detail: functions.stdout.trim() === '0' ? 'bpf_probe_read_kernel' : 'bpf_cast_to_kern_ctx is there',
    });
    for (const feature of found.values()) expect(feature.remedy, feature.name).toMatch(feature.ok ? /^$/ : /.{11}/s);
    for (const feature of found.values()) expect(feature.detail.length).toBeGreaterThan(0);
    ns.close();
  });

  test('what is known is not tried again, a look is taken each time, and nothing else is asked', async () => {
    const poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
    const [only, known] = [new Set(['libbpf', 'loop', 'packet-memory', 'atomics']), new Set(['loop', 'packet-memory'])];
    // Without the programs, no attempt to load one can succeed.
    const found = await probeKernel({ poller, objectDir: '/nonexistent' }, { only, known });
    poller.close();
    expect(found.map(({ name, ok }) => [name, ok])).toEqual([
      ['libbpf', true],
      ['atomics', false],
      ['loop', true],
      ['packet-memory', true],
    ]);
    expect(found[0]!.detail).toBe('libbpf.so.1');
    expect(found[2]).toMatchObject({ detail: 'found by an earlier start', remedy: '' });
  });

  test('an unprivileged process gets a report that names what it lacks, not an exception', async () => {
    const contents = `
      import { Poller } from './src/kernel/poller.ts';
      import { probeKernel } from './src/kernel/probe.ts';
      const poller = Poller.open({ onError: (e) => { throw e; } });
      console.log(JSON.stringify(await probeKernel({ poller, objectDir: 'dist/bpf' })));
      poller.close();`;
    const run = spawnSync(
      'setpriv',
      ['--bounding-set=-all', '--inh-caps=-all', process.execPath, '--input-type=module'],
      { input: await bundled(contents), encoding: 'utf8', timeout: 15_000 },
    );
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const report = JSON.parse(run.stdout) as KernelFeature[];
    const first = report[0]!;
    expect(first).toMatchObject({ name: 'capabilities', ok: false, required: true });
    expect(first.remedy).toContain('run cnpd as root');
  });
});
