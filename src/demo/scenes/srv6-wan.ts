// An SRv6 WAN between two data centers (containerlab/srv6-wan; FCN, figure 1). p1's congested packets are inside
// tunnels and p1 has no route to their sender. Its Fast CNP goes to END.CON, the source of the tunnel, which IS-IS has
// taught it; pe1 hands it to h1 as it was. A mark at p1 reaches the receiver through RFC 6040.
import { NOT_ALL_RUNS, type Runs, byMode, checkRuns, evidence } from '../checks.ts';
import type { Evidence, RunResult } from '../results.ts';
import { type Row, waitForRow } from '../routers.ts';
import { type Scene, threeRuns, topologyFile } from '../scene.ts';

const END_CON = {
  sid: '2001:db8:c1::c',
  behavior: 'END.CON',
  origin: 'learned',
  status: 'reachable',
  carrier: 'isis',
} as const;
const P1 = '2001:db8:ffff::2';

/** Of a row of `cnpctl show srv6 sids`. */
export function sidEvidence(row: Row): Evidence {
  const sentence =
    `p1 has learned over ${String(row['carrier'])} that ${String(row['sid'])} is ${String(row['behavior'])} ` +
    `(from ${String(row['originator'])}, ${String(row['status'])})`;
  return evidence([sentence], row, END_CON, "p1's SID");
}

/** RFC 6040: what p1 marks on the outer header the receiver sees on the inner one, packet for packet. */
function checkMarks({ receiver }: Runs): string[] {
  const { ceMarked } = receiver.ports[0]!.counted;
  if (ceMarked === 0) return ['receiver: p1 marked nothing'];
  return receiver.ceAtReceiver === ceMarked
    ? []
    : [`receiver: p1 marked ${ceMarked} packets, the receiver saw ${receiver.ceAtReceiver} marks`];
}

/** A17: through END.CON, and as they were. */
function checkTunneled({ cnpd }: Runs): string[] {
  const failures: string[] = [];
  const { tunneled, notifications, ports } = cnpd;
  if (!tunneled || tunneled.count === 0) return ['cnpd: no notification came to END.CON'];
  if (!tunneled.unchanged)
    failures.push(
      `cnpd: what h1 got (${notifications.count}) is not what came to END.CON (${tunneled.count}), byte for byte`,
    );
  if (notifications.nodes.some(({ node }) => node !== P1))
    failures.push(
      `cnpd: notifications came from ${notifications.nodes.map((n) => n.node).join(', ')}, expected ${P1} alone`,
    );
  if (ports[0]!.counted.notifications !== tunneled.count)
    failures.push(
      `cnpd: p1 counts ${ports[0]!.counted.notifications} notifications, ${tunneled.count} came to END.CON`,
    );
  return failures;
}

function verdict(runs: readonly RunResult[]): string[] {
  const all = byMode(runs);
  return all ? [...checkRuns(all, 'fast-cnp', srv6Wan), ...checkMarks(all), ...checkTunneled(all)] : [NOT_ALL_RUNS];
}

export const srv6Wan: Scene = {
  name: 'srv6-wan',
  title: 'Fast CNP out of an SRv6 WAN, through END.CON',
  path: 'h1 – pe1 – p1 ═ WAN 40 Mbit/s, 10 ms ═ p2 – pe2 – h2, SRv6 tunnels from pe1 to pe2 and back',
  file: topologyFile('srv6-wan'),
  sender: { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' },
  receiver: { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' },
  sendingRateBps: 100e6,
  watched: [{ node: 'p1', interface: 'eth2', rateBps: 40e6, limitBytes: 2_000_000 }],
  routers: ['pe1', 'p1', 'pe2'],
  // The SIDs at which the tunnels end, and the one to which p1 sends.
  routes: [
    ['pe1', '2001:db8:c2::d6'],
    ['pe2', '2001:db8:c1::d6'],
    ['p1', END_CON.sid],
  ],
  tunnel: { at: { node: 'pe1', interface: 'eth2' }, endCon: END_CON.sid },
  names: { '2001:db8:2::2': 'h2', [P1]: 'p1' },
  runs: threeRuns({
    title: 'Fast CNPs from cnpd',
    understands: ['--understands', 'fast-cnp', '--known-nodes', '2001:db8:ffff::/48'],
  }),
  learn: async (lab, signal) =>
    sidEvidence(
      await waitForRow(
        lab,
        'p1',
        ['srv6', 'sids'],
        (row) => row['sid'] === END_CON.sid && row['status'] === 'reachable',
        signal,
      ),
    ),
  verdict,
};
