// What can be seen of cnpd in a router from outside, to tell whether a feature is there or has left something.
import { LOCK_ETHERTYPE } from '../../../src/kernel/netns-lock.ts';
import type { Router } from './network.ts';

const LOCK = LOCK_ETHERTYPE.toString(16);
const BETWEEN = '----';
const LOOKS = [
  'ls /run/cnpd/bpf/links 2>/dev/null || true',
  'ls /run/cnpd/bpf 2>/dev/null | grep -v -e links -e debug || true',
  'ip -o link',
  'cat /proc/net/packet',
  "ss -Hanuw | awk '{print $1, $(NF-1), $NF}'",
];

/**
 * Everything of cnpd that can be seen from outside in a router: links by name, interfaces, sockets that read frames,
 * UDP and raw sockets.
 */
export async function footprint(router: Pick<Router, 'exec'>): Promise<Record<string, string[]>> {
  // One start of a shell, not five.
  const text = await router.exec('sh', '-c', `set -e; ${LOOKS.join(`; echo ${BETWEEN}; `)}`);
  const [hooks, maps, links, packets, sockets] = text
    .split(`${BETWEEN}\n`)
    .map((part) => part.split('\n').filter((line) => line !== '')) as [
    string[],
    string[],
    string[],
    string[],
    string[],
  ];
  return {
    hooks,
    maps,
    interfaces: links.map((line) => line.split(': ')[1]!.split('@')[0]!),
    // The lock of the network namespace takes no packet (test/kernel/netns-lock.test.ts), and is there whatever is
    // configured.
    packetSockets: packets
      .slice(1)
      .map((line) => line.split(/\s+/)[3]!)
      .filter((protocol) => protocol !== LOCK),
    sockets,
  };
}
