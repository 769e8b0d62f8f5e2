// Long-haul CNPs from two congested nodes on one path (containerlab/longhaul). Both take K_max from the bandwidth-delay
// product that STAMP and the qdisc give. n1 is nearer to the sender and speaks first; whichever sees the rate fall
// waits (LHCNP §5.7); when a queue has drained its node sends Resume (LHCNP §5.5.1).
import { NOT_ALL_RUNS, type Runs, byMode, checkRuns } from '../checks.ts';
import type { Evidence, NodeNotifications, RunResult } from '../results.ts';
import { type PortState, portState, waitForRow } from '../routers.ts';
import { type Scene, type WatchedPort, portName, threeRuns, topologyFile } from '../scene.ts';

const LOOPBACK = { n1: '2001:db8:ffff::2', n2: '2001:db8:ffff::3' } as const;
/** The router at the other end of each watched port. */
const BEHIND = [LOOPBACK.n2, '2001:db8:ffff::4'] as const;
/**
 * RTT_est of a port stays while the measurement is this near to it, and a little is allowed for the moment between two
 * questions.
 */
const STEADY = 1.5;
/** As in cnpd.yaml (k-base), bytes. */
const K_BASE = 32_000;
/** Shown figures are rounded. */
const NEAR = 0.01;
/** A receiver that answers marks sends a CNP in this time (LHCNP §1). */
const CNP_INTERVAL_MS = 0.05;
/** One Long-haul CNP a flow, node and round-trip time of 10 ms is 200 times fewer; two nodes speak here. */
const FEWER = 100;

/** LHCNP §5.3.2, from what the port shows of itself. */
export function thresholdEvidence(
  ports: readonly { readonly port: WatchedPort; readonly state: PortState }[],
): Evidence {
  const failures: string[] = [];
  const sentences = ports.map(({ port, state: { kMax, kMin, rttMs, explanation } }) => {
    const product = (port.rateBps * (rttMs ?? 0)) / 8000;
    const expected = Math.max(K_BASE, product);
    if (kMax === null || Math.abs(kMax - expected) > expected * NEAR)
      failures.push(
        `${portName(port)}: K_max is ${kMax}, ` +
          `expected ${Math.round(expected)} of ${rttMs} ms at ${port.rateBps / 1e6} Mbit/s`,
      );
    if (kMin === null || kMax === null || kMin >= kMax)
      failures.push(`${portName(port)}: K_min is ${kMin}, not below K_max ${kMax}`);
    return `${portName(port)}: ${explanation
      .slice(0, 3)
      .map((line) => line.trim())
      .join('; ')}`;
  });
  return { sentences, failures };
}

const NOBODY: NodeNotifications = { node: 'nobody', count: 0, firstMs: Infinity, actions: {} };

/**
 * LHCNP-5.7: n1 first; n2 holds back while the rate falls. LHCNP-5.5-h: no node more often than once a round-trip time.
 */
function checkCoordination({ cnpd }: Runs): string[] {
  const failures: string[] = [];
  const notificationsOf = (node: keyof typeof LOOPBACK): NodeNotifications =>
    cnpd.notifications.nodes.find((n) => n.node === LOOPBACK[node]) ?? NOBODY;
  const [n1, n2] = [notificationsOf('n1'), notificationsOf('n2')];
  if (n1.count === 0) failures.push('cnpd: n1 sent nothing');
  else if (n1.firstMs >= n2.firstMs) failures.push(`cnpd: n2 spoke first, at ${n2.firstMs} ms; n1 at ${n1.firstMs} ms`);
  if (!cnpd.ports[1]!.counted.deferred) failures.push('cnpd: n2 never held back while the rate fell');
  for (const [i, node] of [n1, n2].entries()) {
    const { port, rttMs } = cnpd.ports[i]!;
    const slowing = node.count - (node.actions.resume ?? 0);
    const most = rttMs === null ? 0 : cnpd.durationMs / rttMs + 1;
    if (slowing > most)
      failures.push(
        `cnpd: ${port} was reported ${slowing} times, more than once in a round-trip time (${Math.floor(most)})`,
      );
  }
  return failures;
}

function checkInstructions({ cnpd }: Runs): string[] {
  const failures: string[] = [];
  const total = (action: 'rate-reduce' | 'resume'): number =>
    cnpd.notifications.nodes.reduce((sum, node) => sum + (node.actions[action] ?? 0), 0);
  for (const action of ['rate-reduce', 'resume'] as const)
    if (total(action) === 0) failures.push(`cnpd: no ${action} was seen on the sender's wire`);
  const { count } = cnpd.notifications;
  const counted = cnpd.ports.reduce((sum, port) => sum + port.counted.notifications, 0);
  // Resume is the agent's: no packet triggers it, and no port counts it.
  if (count - total('resume') !== counted)
    failures.push(
      `cnpd: n1 and n2 count ${counted} notifications, ${count - total('resume')} were seen besides Resume`,
    );
  const everyInterval = cnpd.congestedMs / CNP_INTERVAL_MS;
  if (count * FEWER > everyInterval) {
    failures.push(
      `cnpd: ${count} notifications in ${cnpd.congestedMs} ms of congestion, ` +
        `less than ${FEWER} times fewer than a CNP every 50 µs`,
    );
  }
  return failures;
}

function verdict(runs: readonly RunResult[]): string[] {
  const all = byMode(runs);
  return all
    ? [...checkRuns(all, 'long-haul-icmpv6', longhaul), ...checkCoordination(all), ...checkInstructions(all)]
    : [NOT_ALL_RUNS];
}

export const longhaul: Scene = {
  name: 'longhaul',
  title: 'Long-haul CNPs from two congested nodes on one path',
  path: 'h1 – r1 ═ 5 ms ═ n1 ═ 45 Mbit/s, 5 ms ═ n2 ═ 40 Mbit/s, 5 ms ═ r2 – h2',
  file: topologyFile('longhaul'),
  sender: { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' },
  receiver: { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' },
  sendingRateBps: 80e6,
  watched: [
    { node: 'n1', interface: 'eth2', rateBps: 45e6, limitBytes: 2_000_000 },
    { node: 'n2', interface: 'eth2', rateBps: 40e6, limitBytes: 2_000_000 },
  ],
  routers: ['r1', 'n1', 'n2', 'r2'],
  routes: [
    ['r1', '2001:db8:2::/64'],
    ['r2', '2001:db8:1::/64'],
    ['n1', '2001:db8:1::/64'],
    ['n2', '2001:db8:1::/64'],
  ],
  names: { '2001:db8:2::2': 'h2', [LOOPBACK.n1]: 'n1', [LOOPBACK.n2]: 'n2' },
  runs: threeRuns({
    title: 'Long-haul CNPs from cnpd',
    understands: ['--understands', 'long-haul-icmpv6', '--known-nodes', '2001:db8:ffff::/48'],
  }),
  learn: async (lab, signal) => {
    const ports = [];
    for (const [i, port] of longhaul.watched.entries()) {
      const target = await waitForRow(
        lab,
        port.node,
        ['rtt'],
        (r) => r['target'] === BEHIND[i] && r['rtt-ms'] !== undefined,
        signal,
      );
      // The port takes the nearest router behind it; until that one answers, the one behind that.
      const most = Number(target['rtt-ms']) * STEADY;
      const row = await waitForRow(
        lab,
        port.node,
        ['ports'],
        (r) => r['interface'] === port.interface && Number(r['rtt-ms'] ?? Infinity) <= most,
        signal,
      );
      ports.push({ port, state: portState(row) });
    }
    return thresholdEvidence(ports);
  },
  verdict,
};
