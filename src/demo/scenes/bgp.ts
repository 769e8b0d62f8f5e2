// Fast CNP with Proxy over BGP (containerlab/bgp): leaf2 congests at its WAN port. Who is the proxy for h1 it learned
// from a path that a route reflector and a transit AS have passed on, both FRR, with an attribute that they do not
// know; leaf1 sends h1 a standard CNP.
import type { Lab } from '../../lab/lab.ts';
import { NOT_ALL_RUNS, byMode, checkRuns } from '../checks.ts';
import { type Mapping, mappingEvidence, waitForMapping } from '../mapping.ts';
import type { Evidence, RunResult } from '../results.ts';
import type { Row } from '../routers.ts';
import { type Scene, threeRuns, topologyFile } from '../scene.ts';

/** What leaf2 has to have learned: of both families, the proxy being leaf1's IPv6 loopback for either. */
export const MAPPINGS: readonly [Mapping, Mapping] = [
  { carrier: 'bgp', prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1' },
  { carrier: 'bgp', prefix: '198.51.100.0/24', proxy: '2001:db8:ffff::1' },
];

/** @param rows of `cnpctl show senders`, one a mapping */
export function mappingsEvidence(rows: readonly Row[]): Evidence {
  const all = MAPPINGS.map((mapping, i) => mappingEvidence('leaf2', rows[i] ?? {}, mapping));
  return { sentences: all.flatMap(({ sentences }) => sentences), failures: all.flatMap(({ failures }) => failures) };
}

const learn = async (lab: Lab, signal: AbortSignal): Promise<Evidence> =>
  mappingsEvidence(await Promise.all(MAPPINGS.map((mapping) => waitForMapping(lab, 'leaf2', mapping, signal))));

function verdict(runs: readonly RunResult[]): string[] {
  const all = byMode(runs);
  return all ? checkRuns(all, 'cnp', bgp) : [NOT_ALL_RUNS];
}

export const bgp: Scene = {
  name: 'bgp',
  title: 'Fast CNP with Proxy, over BGP: GoBGP beside cnpd, unmodified FRR and BIRD between',
  path: 'h1 – leaf1 – rr – t1 – leaf2 ═ WAN 40 Mbit/s, 10 ms ═ b1 – h2',
  file: topologyFile('bgp'),
  sender: { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' },
  receiver: { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' },
  sendingRateBps: 100e6,
  watched: [{ node: 'leaf2', interface: 'eth2', rateBps: 40e6, limitBytes: 2_000_000 }],
  routers: ['leaf1', 'leaf2'],
  routes: [
    ['rr', '2001:db8:2::/64', 'bgp'],
    ['t1', '2001:db8:2::/64', 'bgp'],
    ['b1', '2001:db8:1::/64', 'bird'],
  ],
  names: { '2001:db8:2::2': 'h2' },
  proxy: 'leaf1',
  runs: threeRuns({ title: 'CNPs from cnpd (proxy)' }),
  learn,
  verdict,
};
