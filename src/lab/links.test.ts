import { expect, test } from 'vitest';
import { steeringScript } from './links.ts';
import type { LinkSpec } from './topology.ts';

const end = (node: string, name: string): LinkSpec['a'] => ({ node, interface: name });
const LINKS: readonly LinkSpec[] = [
  { a: end('a', 'eth1'), b: end('b', 'eth1'), mtu: 1500, delayMs: 0, limit: 100 },
  { a: end('a', "it's"), b: end('b', 'eth2'), mtu: 1500, delayMs: 0, limit: 100 },
  { a: end('a', 'slow'), b: end('c', 'eth1'), mtu: 1500, delayMs: 10, limit: 100 },
];

test('one CPU takes what all veths of a node receive; a link with delay keeps its order by itself', () => {
  expect(steeringScript(LINKS, 'a', 1)).toBe(
    'set -e; for file in /sys/class/net/eth1/queues/rx-*/rps_cpus ' +
      `/sys/class/net/'it'\\''s'/queues/rx-*/rps_cpus; do echo 2 > "$file"; done`,
  );
  expect(steeringScript(LINKS, 'c', 1)).toBeUndefined();
});

test('a CPU beyond the 32nd is named in groups, as the kernel reads them', () => {
  for (const [cpu, mask] of [
    [0, '1'],
    [31, '80000000'],
    [32, '1,00000000'],
    [100, '10,00000000,00000000,00000000'],
  ] as const)
    expect(steeringScript(LINKS, 'b', cpu)).toContain(`echo ${mask} >`);
});
