// For tests: a telemetry source with something in every section.
import type { TelemetrySource } from '../../model/telemetry-state.ts';
import { exampleState, sourceOf } from '../state.fixture.ts';

export function exampleTelemetry(more: Partial<TelemetrySource> = {}): TelemetrySource {
  const example = exampleState();
  const state = sourceOf(example);
  return {
    state,
    daemon: () => ({
      version: '0.4.0',
      startedAt: 1_764_000_000.25,
      health: 'degraded',
      problems: example.status.problems,
    }),
    carriers: () => [
      { carrier: 'isis', running: true, adjacencies: [{ interface: 'cnpd-isis', isUp: true }] },
      { carrier: 'bgp', running: false, adjacencies: [{ interface: '', isUp: false }] },
    ],
    learned: () => ({ advertisements: 9, proxies: 4, sids: 3, routerAddresses: 2, originators: 5, held: 1 }),
    stages: () => [
      { name: 'kernel', state: 'done', reason: '' },
      { name: 'plan', state: 'done', reason: '' },
      { name: 'isis', state: 'waiting', reason: 'no neighbor is up yet' },
    ],
    holds: () => ({ states: { held: 3, paused: 2 }, formats: { 'fast-cnp': 4, 'standard-cnp': 1 }, rate: 80_000 }),
    groups: async () => [
      {
        ...{ name: 'train', members: { source: 1, receiver: 4 }, branches: { up: 3, stalled: 1 } },
        ...{ packets: { branching: 1000, edge: 10 }, answers: { branching: 100, edge: 1 } },
      },
    ],
    tables: async () => ({ tables: [{ name: 'queue_pairs', entries: 7, limit: 65_536 }], ageMs: 1500 }),
    meaningOf: (counter) => (counter === 'isis.lsp.sent' ? 'LSPs sent, "all" of them' : undefined),
    ...more,
  };
}
