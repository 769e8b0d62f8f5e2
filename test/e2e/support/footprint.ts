// What can be seen of cnpd in a router from outside, to tell whether a feature is there or has left something.
import { LOCK_ETHERTYPE } from '../../../src/kernel/netns-lock.ts';
import type { Router } from './network.ts';

const LOCK = LOCK_ETHERTYPE.toString(16);

/**
 * Everything of cnpd that can be seen from outside in a router: links by name, interfaces, sockets that read frames,
 * UDP and raw sockets.
 */
export async function footprint(router: Pick<Router, 'exec'>): Promise<Record<string, string[]>> {
  const lines = async (...argv: string[]): Promise<string[]> =>
    (await router.exec('sh', '-c', argv.join(' '))).split('\n').filter((line) => line !== '');
  return {
    hooks: await lines('ls /run/cnpd/bpf/links 2>/dev/null || true'),
    maps: await lines('ls /run/cnpd/bpf 2>/dev/null | grep -v -e links -e debug || true'),
    interfaces: (await lines('ip -o link')).map((line) => line.split(': ')[1]!.split('@')[0]!),
    // The lock of the network namespace takes no packet (test/kernel/netns-lock.test.ts), and is there whatever is
    // configured.
    packetSockets: (await lines('cat /proc/net/packet'))
      .slice(1)
      .map((line) => line.split(/\s+/)[3]!)
      .filter((protocol) => protocol !== LOCK),
    sockets: await lines("ss -Hanuw | awk '{print $1, $(NF-1), $NF}'"),
  };
}
