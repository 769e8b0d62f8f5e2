// Metrics of watched ports, and of those that take part in precise flow control.
import type { FlowControlPortState } from '../../model/flow-control-state.ts';
import type { PortState } from '../../model/state.ts';
import { type Family, type Label, type Sample, flag, one } from './family.ts';

const PORT: Label = { name: 'port', bound: 'ports of cnpd.yaml' };

type PortNumber = (port: PortState) => number | null;
/** A number of each port; null: the port has none. */
const perPort =
  (of: PortNumber) =>
  (ports: readonly PortState[]): Sample[] =>
    ports.flatMap((port) => {
      const value = of(port);
      return value === null ? [] : [one(value, port.interface)];
    });

type Kind = Pick<Family<readonly PortState[]>, 'type' | 'unit'>;
const BYTES: Kind = { type: 'gauge', unit: 'bytes' };

const row = (name: string, kind: Kind, help: string, of: PortNumber): Family<readonly PortState[]> => ({
  name: `cnpd_port_${name}`,
  ...kind,
  help,
  labels: [PORT],
  samples: perPort(of),
});

type Named = readonly (readonly [string, (port: PortState) => number])[];

/** Why triggers led to no notification. */
const REASONS: Named = [
  ['flow-interval', (port) => port.suppressedPerFlow],
  ['port-rate', (port) => port.suppressedPerPort],
  ['not-contributing', (port) => port.notContributing],
  ['deferred', (port) => port.deferred],
  ['no-proxy', (port) => port.noProxy],
  ['no-format', (port) => port.noFormat],
];
const TUNNELS: Named = [
  ['mpls', (port) => port.unseenMpls],
  ['gre', (port) => port.unseenGre],
  ['vxlan', (port) => port.unseenVxlan],
  ['esp', (port) => port.unseenEsp],
  ['geneve', (port) => port.unseenGeneve],
  ['other', (port) => port.unseenOther],
];

/** One row for each port and each name. */
function divided(family: string, help: string, label: string, named: Named): Family<readonly PortState[]> {
  return {
    name: `cnpd_port_${family}`,
    type: 'counter',
    help,
    labels: [PORT, { name: label, bound: named.map(([name]) => name).join(', ') }],
    samples: (ports) => ports.flatMap((port) => named.map(([name, of]) => one(of(port), port.interface, name))),
  };
}

const ratio: Kind = { type: 'gauge', unit: 'ratio' };

export const PORTS: readonly Family<readonly PortState[]>[] = [
  row('attached', { type: 'gauge' }, 'Whether the program is attached.', (port) => flag(port.attached)),
  row('queue_bytes', BYTES, 'Depth of the root queue now.', (port) => port.queueBytes),
  row('queue_peak_bytes', BYTES, 'Deepest queue that a packet has met.', (port) => port.peakQueueBytes),
  row('k_min_bytes', BYTES, 'K_min in force; 0 if unknown.', (port) => port.kMin),
  row('k_max_bytes', BYTES, 'K_max in force; 0 if unknown.', (port) => port.kMax),
  row('rtt_seconds', { type: 'gauge', unit: 'seconds' }, 'RTT_est, configured or measured.', (port) =>
    port.rttMs === null ? null : port.rttMs / 1000,
  ),
  row('ecn_marking_ratio', ratio, 'Marking rate of the last whole interval.', (port) => port.ecnMarkingRate / 100),
  row(
    'queue_growth_bytes_per_second',
    { type: 'gauge', unit: 'bytes_per_second' },
    'Growth of the queue in the last whole interval.',
    (port) => port.queueGrowth,
  ),
  row('packets', { type: 'counter' }, 'RoCEv2 data packets that were looked at.', (port) => port.packets),
  row('bytes', { type: 'counter', unit: 'bytes' }, 'Bytes of these packets.', (port) => port.bytes),
  row('ce_marked_packets', { type: 'counter' }, 'Packets that were marked CE here.', (port) => port.ceMarked),
  row('triggers', { type: 'counter' }, 'Packets that met a condition for a notification.', (port) => port.triggers),
  row('notifications', { type: 'counter' }, 'Notifications sent.', (port) => port.notifications),
  divided('triggers_without_notification', 'Triggers that led to no notification.', 'reason', REASONS),
  divided('uninspected_packets', 'Packets passed without inspection because of their tunnel.', 'tunnel', TUNNELS),
];

const flowControlRow = (
  name: string,
  help: string,
  of: (port: FlowControlPortState) => number,
): Family<readonly FlowControlPortState[]> => ({
  name: `cnpd_flow_control_${name}`,
  type: 'gauge',
  help,
  labels: [PORT],
  samples: (ports) => ports.map((port) => one(of(port), port.interface)),
});

export const FLOW_CONTROL: readonly Family<readonly FlowControlPortState[]>[] = [
  flowControlRow('asked', 'What neighbors are asked to pause because of this port.', (port) => port.asked),
  flowControlRow('paused', 'What is paused at this port for neighbors.', (port) => port.paused),
];
