// Rules of the watched ports: thresholds and what they are computed from (LHCNP §5.3.2, §5.4).
import { DEFAULTS } from './build.ts';
import { type Port, type Report, type Rule, type View, each } from './rules-view.ts';

/**
 * The longest RoCEv2 frame, bytes, as a queue counts it: Ethernet 14, IPv6 40, UDP 8, BTH 12, XRCETH 4, RETH 16,
 * immediate data 4, the largest path MTU of InfiniBand 4096, ICRC 4. The least K_base (LHCNP-5.3.2-c).
 */
export const LONGEST_ROCE_FRAME = 14 + 40 + 8 + 12 + 4 + 16 + 4 + 4096 + 4;

/** LHCNP-5.3.2-f. Of an adaptive K_max only the floor is known here, and it may well be all that there is. */
function minimumBelowMaximum(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    const [kMin, kMax] = [port['k-min'], port['k-max']];
    const [bound, name] =
      kMax === 'auto' ? [floorOf(port), 'k-base, the least that k-max: auto can be'] : [kMax, 'k-max'];
    if (kMin !== undefined && bound !== undefined && kMin >= bound) {
      report(
        ['ports', i, 'k-min'],
        `less than ${name.split(',')[0]!}, ${bound} bytes`,
        `k-min (${kMin} bytes) must be less than ${name} (${bound} bytes)`,
      );
    }
    if (!('k-min' in port) && kMax === 1 && port.ecn !== false)
      report(['ports', i, 'k-max'], 'at least 2 bytes', 'there is no k-min below a k-max of 1 byte; say ecn: off');
    if (port.ecn === false && 'k-min' in port)
      report(
        ['ports', i, 'k-min'],
        'no k-min with ecn: off',
        'k-min is the threshold of CE marking, which ecn: off forbids',
      );
  }
}

/** undefined when it could not be read. */
const floorOf = (port: Partial<Port>): number | undefined => ('k-base' in port ? port['k-base'] : DEFAULTS.kBase);

/** LHCNP-5.3.2-c. */
function floorHoldsOneFrame(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    const kBase = port['k-base'];
    if (kBase === undefined || kBase >= LONGEST_ROCE_FRAME) continue;
    const reason =
      `k-base (${kBase} bytes) must hold one RoCEv2 frame of the largest size, ` +
      `${LONGEST_ROCE_FRAME} bytes (LHCNP §5.3.2): a single packet would be congestion`;
    report(['ports', i, 'k-base'], `at least ${LONGEST_ROCE_FRAME} bytes`, reason);
  }
}

/** Keys of the formula say nothing beside a fixed K_max. `rtt` does: Long-haul CNPs keep that distance. */
function formulaKeys(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    // A k-max that could not be read may have been meant to be auto.
    if ('k-max' in port && (port['k-max'] === 'auto' || port['k-max'] === undefined)) continue;
    for (const key of ['k-base', 'alpha', 'bandwidth'] as const) {
      if (key in port)
        report(
          ['ports', i, key],
          `${key} only with k-max: auto`,
          `${key} is used to compute k-max, which is ${'k-max' in port ? 'fixed' : 'not there'}; say k-max: auto`,
        );
    }
  }
}

/** As build.ts has it, of what could be read. */
const measures = ({ stamp }: View): boolean =>
  stamp !== undefined && stamp.enabled !== false && (stamp.learn === true || stamp.targets.length > 0);

/** K_max = auto needs a round-trip time, and one that is measured needs somebody to probe (LHCNP-5.3.1-e). */
function roundTripTime(view: View, report: Report): void {
  if (measures(view)) return;
  const how = 'stamp with targets, or with learn: on';
  for (const [i, port] of each(view.ports)) {
    if (port.rtt === 'probe')
      report(['ports', i, 'rtt'], `a time, or ${how}`, `nothing measures round-trip times: rtt: probe needs ${how}`);
    else if (port['k-max'] === 'auto' && !('rtt' in port))
      report(['ports', i], `rtt, or ${how}`, `k-max: auto needs a round-trip time: give rtt, or ${how}`);
  }
}

/**
 * The highest threshold, bytes. The kernel counts a queue's backlog in 32 bits (struct gnet_stats_queue), so none is
 * seen deeper than 4,294,967,295 bytes; the congestion levels need room between K_max and that.
 */
export const DEEPEST = 4e9;

/** LHCNP-5.4-d, LHCNP-5.4-e: triggers beside K_max. */
function triggers(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    for (const key of ['v-ecn', 'v-growth'] as const) {
      if (key in port && !('k-max' in port))
        report(
          ['ports', i, key],
          `${key} only with k-max`,
          `${key} is one more reason for notifications, which a port without k-max does not send`,
        );
    }
    if ('v-ecn' in port && port.ecn === false)
      report(
        ['ports', i, 'v-ecn'],
        'no v-ecn with ecn: off',
        'v-ecn is the rate of CE marking, which ecn: off forbids',
      );
    const interval = port['measurement-interval'] ?? DEFAULTS.measurementIntervalMs;
    const growth = ((port['v-growth'] ?? 0) * interval) / 1000;
    if (growth > DEEPEST)
      report(
        ['ports', i, 'v-growth'],
        `at most ${DEEPEST} bytes a measurement-interval`,
        `no queue grows by ${growth} bytes in ${interval} ms`,
      );
  }
}

function idlePorts(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    if ('k-max' in port || 'k-min' in port) continue;
    report(
      ['ports', i],
      'k-max, k-min or both',
      'a port needs a threshold: k-max for notices, k-min for CE marking alone',
    );
  }
}

export const PORT_RULES: readonly Rule[] = [
  minimumBelowMaximum,
  floorHoldsOneFrame,
  formulaKeys,
  roundTripTime,
  triggers,
  idlePorts,
];
