// Metrics of the daemon itself, its carriers, what it has learned, and round-trip times.
import type { CarrierSummary, DaemonSummary, LearnedSummary, Stage } from '../../model/telemetry-state.ts';
import type { RttState } from '../../model/state.ts';
import { type Family, type Label, type Sample, flag, one } from './family.ts';

const HEALTH = ['starting', 'running', 'degraded'] as const;
const STAGE_STATES = ['waiting', 'done', 'problem'] as const;

const CARRIER: Label = { name: 'carrier', bound: 'isis, ospfv2, ospfv3, bgp' };

export const DAEMON: readonly Family<DaemonSummary>[] = [
  {
    name: 'cnpd_build',
    type: 'info',
    help: 'Version of cnpd.',
    labels: [{ name: 'version', bound: 'one' }],
    samples: ({ version }) => [one(1, version)],
  },
  {
    name: 'cnpd_start_time_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When cnpd started, since 1970.',
    labels: [],
    samples: ({ startedAt }) => [one(startedAt)],
  },
  {
    name: 'cnpd_health',
    type: 'stateset',
    help: 'As in cnpctl show status: starting, running, or degraded.',
    labels: [{ name: 'cnpd_health', bound: HEALTH.join(', ') }],
    samples: ({ health }) => HEALTH.map((state) => one(flag(state === health), state)),
  },
  {
    name: 'cnpd_problems',
    type: 'gauge',
    help: 'Open problems; cnpctl show status has their remedies.',
    labels: [
      { name: 'code', bound: 'the codes of problems' },
      { name: 'feature', bound: 'the sections of cnpd.yaml' },
    ],
    samples: problemSamples,
  },
];

function problemSamples({ problems }: DaemonSummary): Sample[] {
  const found = new Map<string, { code: string; feature: string; count: number }>();
  for (const { code, feature } of problems) {
    const key = `${code} ${feature}`;
    const entry = found.get(key) ?? { code, feature, count: 0 };
    entry.count++;
    found.set(key, entry);
  }
  return [...found.values()].map(({ code, feature, count }) => one(count, code, feature));
}

export const STAGES: readonly Family<readonly Stage[]>[] = [
  {
    name: 'cnpd_stage_state',
    type: 'gauge',
    help: 'Stages of the start, as in /readyz: 1 for the state that the stage is in.',
    labels: [
      { name: 'stage', bound: 'kernel, plan and the carriers' },
      { name: 'state', bound: STAGE_STATES.join(', ') },
    ],
    samples: (stages) =>
      stages.flatMap(({ name, state }) => STAGE_STATES.map((each) => one(flag(each === state), name, each))),
  },
];

export const CARRIERS: readonly Family<readonly CarrierSummary[]>[] = [
  {
    name: 'cnpd_carrier_running',
    type: 'gauge',
    help: 'Whether a declared carrier runs.',
    labels: [CARRIER],
    samples: (carriers) => carriers.map(({ carrier, running }) => one(flag(running), carrier)),
  },
  {
    name: 'cnpd_carrier_adjacency_up',
    type: 'gauge',
    help: 'Whether the neighbor on a link to FRR is up or full; of BGP, whether gobgpd is ready.',
    labels: [CARRIER, { name: 'interface', bound: 'interfaces of the carriers in cnpd.yaml' }],
    samples: (carriers) =>
      carriers.flatMap(({ carrier, adjacencies }) =>
        adjacencies.map((adjacency) => one(flag(adjacency.isUp), carrier, adjacency.interface)),
      ),
  },
];

export const LEARNED: readonly Family<LearnedSummary>[] = [
  {
    name: 'cnpd_learned_entries',
    type: 'gauge',
    help: 'Entries of the learned table by kind.',
    labels: [{ name: 'kind', bound: 'advertisements, proxies, sids, router-addresses' }],
    samples: ({ advertisements, proxies, sids, routerAddresses }) => [
      one(advertisements, 'advertisements'),
      one(proxies, 'proxies'),
      one(sids, 'sids'),
      one(routerAddresses, 'router-addresses'),
    ],
  },
  {
    name: 'cnpd_learned_originators',
    type: 'gauge',
    help: 'Routers of which anything is learned.',
    labels: [],
    samples: ({ originators }) => [one(originators)],
  },
  {
    name: 'cnpd_learned_held_originators',
    type: 'gauge',
    help: 'Of the originators, those that cannot be reached and whose entries are held for hold-unreachable.',
    labels: [],
    samples: ({ held }) => [one(held)],
  },
];

export const RTT: readonly Family<readonly RttState[]>[] = [
  {
    name: 'cnpd_rtt_targets',
    type: 'gauge',
    help: 'Targets of STAMP probes, by whether any answer has come.',
    labels: [{ name: 'answered', bound: 'yes, no' }],
    samples: (targets) => {
      const answered = targets.filter(({ rttMs }) => rttMs !== null).length;
      return [one(answered, 'yes'), one(targets.length - answered, 'no')];
    },
  },
];
