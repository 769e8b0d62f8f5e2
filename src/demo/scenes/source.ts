// A host without any congestion control (containerlab/source): p1 congests and sends h1 Long-haul CNPs; leaf1 takes
// them and slows the flow down at its own port (LHCNP §5.6). h1 hears nothing and goes on sending.
import { NOT_ALL_RUNS, boundedQueues, byMode } from '../checks.ts';
import type { RunResult } from '../results.ts';
import { waitForRow } from '../routers.ts';
import { type Scene, threeRuns, topologyFile } from '../scene.ts';

/** cnpd has to bring so much of what the WAN port drains to the receiver. */
const LEAST_SHARE = 1 / 2;

function verdict(runs: readonly RunResult[]): string[] {
  const all = byMode(runs);
  if (!all) return [NOT_ALL_RUNS];
  const { none, receiver, cnpd } = all;
  const failures = [...boundedQueues(cnpd, source)];
  if (none.ports[0]!.drops === 0) failures.push('none: p1 dropped nothing: the overload is too small to show anything');
  // leaf1 obeys the receiver's CNPs as well.
  for (const { mode, notifications } of [receiver, cnpd])
    if (notifications.count !== 0)
      failures.push(`${mode}: ${notifications.count} notifications were seen on h1's wire; leaf1 has to take them all`);
  if (cnpd.ports[0]!.counted.notifications === 0) failures.push('cnpd: p1 has sent no notification');
  const least = source.watched[0].rateBps * LEAST_SHARE;
  if (cnpd.goodputBps < least)
    failures.push(`cnpd: ${Math.round(cnpd.goodputBps)} bit/s arrived, less than ${Math.round(least)}`);
  return failures;
}

export const source: Scene = {
  name: 'source',
  title: 'A router that obeys in place of a host without congestion control',
  path: 'h1 – leaf1 – p1 ═ WAN 40 Mbit/s, 10 ms ═ p2 – leaf2 – h2',
  file: topologyFile('source'),
  sender: { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' },
  receiver: { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' },
  sendingRateBps: 100e6,
  watched: [{ node: 'p1', interface: 'eth2', rateBps: 40e6, limitBytes: 2_000_000 }],
  routers: ['leaf1', 'p1'],
  routes: [
    ['leaf1', '2001:db8:2::/64'],
    ['leaf2', '2001:db8:1::/64'],
    ['leaf1', '2001:db8:ffff::2'],
    ['p1', '2001:db8:1::/64'],
  ],
  names: {},
  runs: threeRuns({ title: 'the leaf obeys, the host has no congestion control', reaction: 'none' }),
  learn: async (lab, signal) => {
    const row = await waitForRow(lab, 'leaf1', ['sources'], (one) => one['action'] === 'enforce', signal);
    return { sentences: [`leaf1 obeys for the senders in ${String(row['prefix'])}`], failures: [] };
  },
  verdict,
};
