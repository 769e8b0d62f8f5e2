// Fast CNP with Proxy over IS-IS (containerlab/proxy): p1 congests, learns from IS-IS that leaf1 is the proxy for h1,
// and leaf1 sends h1 a standard CNP.
import { type Mapping, mappingEvidence, waitForMapping } from '../mapping.ts';
import { type Scene, fourRuns, topologyFile } from '../scene.ts';
import { WATCHED, proxyChecks } from './proxy-checks.ts';

/** What p1 has to have learned: h1's prefix, and leaf1's loopback as its proxy. */
export const MAPPING: Mapping = { carrier: 'isis', prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1' };

export const proxy: Scene = {
  name: 'proxy',
  title: 'Fast CNP with Proxy, over IS-IS and unmodified FRR',
  path: 'h1 – leaf1 – p1 ═ WAN 40 Mbit/s, 10 ms ═ p2 – leaf2 – h2',
  file: topologyFile('proxy'),
  sender: { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' },
  receiver: { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' },
  sendingRateBps: 100e6,
  watched: [WATCHED],
  routers: ['leaf1', 'p1'],
  routes: [
    ['leaf1', '2001:db8:2::/64'],
    ['leaf2', '2001:db8:1::/64'],
    ['leaf1', '2001:db8:ffff::2'],
    ['p1', '2001:db8:ffff::1'],
  ],
  names: { '2001:db8:2::2': 'h2' },
  proxy: 'leaf1',
  runs: fourRuns({ title: 'CNPs from cnpd, through the proxy, at most one in 20 ms' }),
  repetitions: 3,
  learn: async (lab, signal) => mappingEvidence('p1', await waitForMapping(lab, 'p1', MAPPING, signal), MAPPING),
  verdict: (runs) => proxyChecks(runs).flatMap(({ failures }) => failures),
  checks: proxyChecks,
};
