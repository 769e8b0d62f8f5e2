// The section `ports`: the monitored egress ports (LHCNP §5.3, §5.4).
import type * as z from 'zod';
import { LONGEST_ROCE_FRAME } from '../model/roce.ts';
import { type Defaults, defaulted, defaultsOf, filled, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, each, orDefaults, unique } from './seen.ts';
import * as stamp from './stamp.ts';
import { bitRate, byteRate, factor, interfaceName, onOff, orWord, percent, rate, size, time } from './values.ts';

const entry = section(
  {
    interface: value(
      interfaceName,
      'egress interface whose queue can be read: a TBF, HTB, fq_codel, fq, pfifo or bfifo, or an mq over these',
    ),
    // LHCNP-5.4-a. Absent: K_max / 2, which of `k-max: auto` only plan knows (LHCNP-5.3.2-g).
    'k-min': value(size('1B', '4GB'), 'CE marking of ECT packets above this queue depth; default k-max / 2').optional(),
    'k-max': value(
      orWord('auto', size('1B', '4GB')),
      'notifications above this queue depth; auto: the greater of k-base and ' +
        'alpha × bandwidth × rtt (LHCNP §5.3.2); absent: none',
    ).optional(),
    'k-base': defaulted(size('1B', '4GB'), '64kB', 'lower bound of k-max: auto, at least one RoCEv2 frame'),
    alpha: defaulted(factor('0.01', '100'), '1', 'factor of the bandwidth-delay product in k-max: auto'),
    bandwidth: value(
      bitRate('1kbit', '100Tbit'),
      'rate of the port; default: that of the qdisc, else that of the link',
    ).optional(),
    rtt: value(
      orWord('probe', time('1us', '10s')),
      'round-trip time of the path through the port; probe: measured by stamp; default: probe when stamp has targets',
    ).optional(),
    // LHCNP-5.4-d.
    'v-ecn': value(
      percent('0.001%', '99.999%'),
      'senders are also notified when more than this share of the packets is CE-marked; default: no such trigger',
    ).optional(),
    // LHCNP-5.4-e.
    'v-growth': value(
      byteRate('1kB/s', '1000GB/s'),
      'senders are also notified when the queue grows faster; default: no such trigger',
    ).optional(),
    'measurement-interval': defaulted(
      time('1ms', '10s'),
      '10ms',
      'the interval over which v-ecn and v-growth are measured',
    ),
    ecn: defaulted(onOff, 'on', 'off: no CE marking'),
    'per-flow-interval': defaulted(time('1us', '60s'), '20ms', 'shortest time between two notifications for one flow'),
    rate: defaulted(rate('1/s', '10M/s'), '1000/s', 'notifications per second, all flows of the port together'),
  },
  'a monitored egress port',
);

export const schema = list(entry, 'monitored egress ports');

/**
 * A port in the operator's words, with defaults: bytes, milliseconds, bit/s, bytes per second, fractions. `rtt: probe`
 * appears only if STAMP has targets.
 */
export type PortIntent = Readonly<z.output<typeof entry> & Defaults<typeof entry>>;

interface Sections {
  readonly ports?: Seen<typeof schema> | undefined;
  readonly stamp?: Seen<typeof stamp.schema> | undefined;
}

function uniqueEntries({ ports }: Sections, report: Report): void {
  unique(
    ports,
    (i) => ['ports', i, 'interface'],
    (port) => port.interface,
    'interface',
    report,
  );
}

/** LHCNP-5.3.2-f. Of an adaptive K_max only the floor is known here, and it may well be all that there is. */
function minimumBelowMaximum({ ports }: Sections, report: Report): void {
  for (const [i, port] of each(ports)) {
    const [kMin, kMax] = [port['k-min'], port['k-max']];
    const [bound, name] =
      kMax === 'auto' ? [orDefaults(entry, port)['k-base'], 'k-base, the lower bound of k-max: auto'] : [kMax, 'k-max'];
    if (kMin !== undefined && bound !== undefined && kMin >= bound) {
      report(
        ['ports', i, 'k-min'],
        `less than ${name.split(',')[0]!}, ${bound} bytes`,
        `k-min (${kMin} bytes) must be less than ${name} (${bound} bytes)`,
      );
    }
    if (!('k-min' in port) && kMax === 1 && port.ecn !== false)
      report(['ports', i, 'k-max'], 'at least 2 bytes', 'there is no k-min below a k-max of 1 byte; set ecn: off');
    if (port.ecn === false && 'k-min' in port)
      report(
        ['ports', i, 'k-min'],
        'no k-min with ecn: off',
        'k-min is the threshold of CE marking, which ecn: off forbids',
      );
  }
}

/** LHCNP-5.3.2-c. */
function floorHoldsOneFrame({ ports }: Sections, report: Report): void {
  for (const [i, port] of each(ports)) {
    const kBase = port['k-base'];
    if (kBase === undefined || kBase >= LONGEST_ROCE_FRAME) continue;
    const reason =
      `k-base (${kBase} bytes) must hold one RoCEv2 frame of the largest size, ` +
      `${LONGEST_ROCE_FRAME} bytes (LHCNP §5.3.2): a single packet would be congestion`;
    report(['ports', i, 'k-base'], `at least ${LONGEST_ROCE_FRAME} bytes`, reason);
  }
}

/** Keys of the formula say nothing beside a fixed K_max. `rtt` does: Long-haul CNPs keep that distance. */
function formulaKeys({ ports }: Sections, report: Report): void {
  for (const [i, port] of each(ports)) {
    // A k-max that could not be read may have been meant to be auto.
    if ('k-max' in port && (port['k-max'] === 'auto' || port['k-max'] === undefined)) continue;
    for (const key of ['k-base', 'alpha', 'bandwidth'] as const) {
      if (key in port)
        report(
          ['ports', i, key],
          `${key} only with k-max: auto`,
          `${key} is used to compute k-max, which is ${'k-max' in port ? 'fixed' : 'not set'}; set k-max: auto`,
        );
    }
  }
}

/** K_max = auto needs a round-trip time, and a measured one needs a prober (LHCNP-5.3.1-e). */
function roundTripTime({ ports, stamp: probes }: Sections, report: Report): void {
  if (stamp.measures(probes)) return;
  const how = 'stamp with targets, or with learn: on';
  for (const [i, port] of each(ports)) {
    if (port.rtt === 'probe')
      report(['ports', i, 'rtt'], `a time, or ${how}`, `nothing measures round-trip times: rtt: probe needs ${how}`);
    else if (port['k-max'] === 'auto' && !('rtt' in port))
      report(['ports', i], `rtt, or ${how}`, `k-max: auto needs a round-trip time: set rtt, or ${how}`);
  }
}

/**
 * The highest threshold, bytes. The kernel counts a queue's backlog in 32 bits (struct gnet_stats_queue), so no depth
 * above 4,294,967,295 bytes is visible; the congestion levels need a range between K_max and that.
 */
export const DEEPEST = 4e9;

/** LHCNP-5.4-d, LHCNP-5.4-e: triggers beside K_max. */
function triggers({ ports }: Sections, report: Report): void {
  const fallback = defaultsOf(entry);
  for (const [i, port] of each(ports)) {
    for (const key of ['v-ecn', 'v-growth'] as const) {
      if (key in port && !('k-max' in port))
        report(
          ['ports', i, key],
          `${key} only with k-max`,
          `${key} is a trigger of notifications, which a port without k-max does not send`,
        );
    }
    if ('v-ecn' in port && port.ecn === false)
      report(
        ['ports', i, 'v-ecn'],
        'no v-ecn with ecn: off',
        'v-ecn is the rate of CE marking, which ecn: off forbids',
      );
    const interval = port['measurement-interval'] ?? fallback['measurement-interval'];
    const growth = ((port['v-growth'] ?? 0) * interval) / 1000;
    if (growth > DEEPEST)
      report(
        ['ports', i, 'v-growth'],
        `at most ${DEEPEST} bytes a measurement-interval`,
        `no queue grows by ${growth} bytes in ${interval} ms`,
      );
  }
}

function idlePorts({ ports }: Sections, report: Report): void {
  for (const [i, port] of each(ports)) {
    if ('k-max' in port || 'k-min' in port) continue;
    report(
      ['ports', i],
      'k-max, k-min or both',
      'a port needs a threshold: k-max for notices, k-min for CE marking only',
    );
  }
}

export const rules: readonly Rule<Sections>[] = [
  uniqueEntries,
  minimumBelowMaximum,
  floorHoldsOneFrame,
  formulaKeys,
  roundTripTime,
  triggers,
  idlePorts,
];

/** @param probed whether RTTs are measured: then those that are not given are */
export const build = (declared: z.output<typeof entry>, probed: boolean): PortIntent => ({
  ...(probed && { rtt: 'probe' as const }),
  ...filled(entry, declared),
});
