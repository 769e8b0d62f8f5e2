// The section `flow-control`: precise flow control (FCN §4.1). Where this router's queues fill, it asks its upstream
// neighbors to pause what fills them; where its downstream neighbors ask, it holds what leaves towards them.
import type * as z from 'zod';
import { formatAddress, type IpAddress } from '../model/address.ts';
import { FLOW_CONTROL_MODES, type FlowControlMode } from '../model/flow-control.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { neighborAddress, neighborPrefix } from './address-values.ts';
import type * as border from './border.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import type * as ports from './ports.ts';
import { type Report, type Rule, type Seen, each, itself, orDefaults, unique } from './seen.ts';
import type * as source from './source.ts';
import { bitRate, integer, interfaceName, oneOf, rate, size, time } from './values.ts';
import type { Path } from './words.ts';

export interface FlowControlIntent {
  readonly mode: FlowControlMode;
  /** Ports whose queues are watched: bytes above which neighbors are asked to pause, and below which to go on. */
  readonly watch: readonly { readonly interface: string; readonly above: number; readonly below: number }[];
  /** Ports at which traffic is held as the neighbors behind them ask. */
  readonly hold: readonly string[];
  /** Where traffic arrives. Empty: all Ethernet-like interfaces but the carriers' own and the border ports. */
  readonly interfaces: readonly string[];
  /** The same two thresholds for a class that holds traffic. */
  readonly above: number;
  readonly below: number;
  /** bit/s, of the ports that hold; absent: the rate of the fastest link. */
  readonly bandwidth?: number;
  /** Bytes that a class may have queued; packets beyond are dropped. */
  readonly buffer: number;
  /** Upstream neighbors. Where none is declared it is the next hop of the route back. */
  readonly neighbors: readonly { readonly interface: string; readonly address: IpAddress }[];
  /** Neighbors that may ask. Empty only if nothing is held. */
  readonly acceptFrom: readonly Prefix[];
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  readonly watchdogMs: number;
  /** ARNs sent and obeyed per second. */
  readonly perSecond: number;
  /** Exceptions from priority = DSCP / 8. */
  readonly priorities: readonly { readonly dscp: number; readonly priority: number }[];
}

const queueDepth = size('1B', '4GB');

const watched = section(
  {
    interface: value(interfaceName, 'egress interface with a TBF or HTB root qdisc, or one that holds'),
    'pause-above': value(
      queueDepth,
      'neighbors are asked to pause above this depth; default: that of flow-control',
    ).optional(),
    'resume-below': value(queueDepth, 'and to go on below this one; default: that of flow-control').optional(),
  },
  'a port whose queue is watched',
);

const neighbor = section(
  {
    interface: value(interfaceName, 'interface at which its traffic arrives'),
    address: value(neighborAddress, 'its IPv6 address on that link'),
  },
  'an upstream neighbor',
);

const mapped = section(
  { dscp: value(integer(0, 63), 'DSCP of the outermost IP header'), priority: value(integer(0, 7), 'its priority') },
  'the priority of a DSCP',
);

export const schema = section(
  {
    enabled: enabled(),
    mode: value(
      oneOf<FlowControlMode>(...FLOW_CONTROL_MODES),
      'what is paused, the same on all routers (FCN §4.1.2): service: all packets between the two ends of a tunnel; ' +
        'flow: one RoCEv2 flow; priority: one of the eight priorities',
    ),
    watch: list(watched, 'ports whose queues are watched; default: none').optional(),
    hold: list(
      value(interfaceName, 'egress interface'),
      'ports at which traffic is held as the neighbors behind them ask; an HTB there, of the operator or of cnpd',
    ).optional(),
    interfaces: list(
      value(interfaceName, 'interface'),
      'where traffic arrives whose upstream neighbor can be asked; default: all Ethernet-like ones except border-ports',
    ).optional(),
    'pause-above': defaulted(
      queueDepth,
      '200kB',
      'neighbors are asked to pause what a queue, or a class, has above this',
    ),
    'resume-below': defaulted(queueDepth, '100kB', 'and to go on below this'),
    bandwidth: value(
      bitRate('1kbit', '100Tbit'),
      'rate of the ports that hold; default: that of the fastest link, else 100Gbit',
    ).optional(),
    buffer: defaulted(size('10kB', '1GB'), '4MB', 'what a class may have queued; packets beyond are dropped'),
    neighbors: list(neighbor, 'upstream neighbors; where none is declared: the next hop of the route back').optional(),
    'accept-from': list(
      value(neighborPrefix, 'prefix of neighbors'),
      'who may ask this router to hold traffic, by its address on the link; required with hold',
    ).optional(),
    pause: defaulted(time('100us', '1s'), '10ms', 'compression time that is asked for; repeated while it lasts'),
    'longest-pause': defaulted(time('100us', '10s'), '100ms', 'the most that one ARN is obeyed for'),
    watchdog: defaulted(time('1ms', '60s'), '1s', 'what has been paused for so long goes on, for as long'),
    rate: defaulted(rate('1/s', '1M/s'), '1000/s', 'ARNs sent, and ARNs obeyed, per second'),
    priorities: list(mapped, 'priorities of packets without an 802.1Q tag; of other DSCPs it is DSCP / 8').optional(),
  },
  'neighbors are asked to pause what fills queues here, and ask for the same (FCN §4.1)',
);

interface Sections {
  readonly 'flow-control'?: Seen<typeof schema> | undefined;
  readonly ports?: Seen<typeof ports.schema> | undefined;
  readonly source?: Seen<typeof source.schema> | undefined;
  readonly 'border-ports'?: Seen<typeof border.ports> | undefined;
}

const at = (...path: Path): Path => ['flow-control', ...path];

function uniqueEntries({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const { watch, hold, interfaces, neighbors, priorities, 'accept-from': from } = declared;
  unique(
    watch,
    (i) => at('watch', i, 'interface'),
    (entry) => entry.interface,
    'interface',
    report,
  );
  unique(hold, (i) => at('hold', i), itself, 'interface', report);
  unique(interfaces, (i) => at('interfaces', i), itself, 'interface', report);
  unique(
    neighbors,
    (i) => at('neighbors', i, 'interface'),
    (entry) => entry.interface,
    'interface',
    report,
  );
  unique(from, (i) => at('accept-from', i), formatPrefix, 'prefix', report);
  unique(
    priorities,
    (i) => at('priorities', i, 'dscp'),
    ({ dscp }) => dscp?.toString(),
    'DSCP',
    report,
  );
}

/** A section that neither asks nor obeys is a mistake, and so is one that obeys nobody. */
function partners({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const has = (key: 'watch' | 'hold' | 'accept-from'): boolean =>
    key in declared && (declared[key] === undefined || declared[key].length > 0);
  if (!has('watch') && !has('hold'))
    report(at(), 'watch, hold or both', 'there is neither a queue to watch nor a port that holds: set watch or hold');
  if (has('hold') && !has('accept-from'))
    report(
      at('accept-from' in declared ? 'accept-from' : 'hold'),
      'hold only with accept-from',
      'nobody may ask for traffic to be held: name the neighbors under flow-control.accept-from, e.g. fe80::/10',
    );
  if (has('accept-from') && !has('hold'))
    report(at('accept-from'), 'accept-from only with hold', 'there is no port that holds what these neighbors ask for');
}

/** A value, and where it is written; a default is written where it is overridden by another. */
interface Bound {
  readonly value: number | undefined;
  readonly path: Path | undefined;
}

function smaller(low: Bound, high: Bound, message: (low: number, high: number) => string, report: Report): void {
  if (low.value === undefined || high.value === undefined || low.value < high.value) return;
  const reason = message(low.value, high.value);
  if (low.path) report(low.path, `less than ${high.value}`, reason);
  else if (high.path) report(high.path, `more than ${low.value}`, reason);
}

/** Of the section's own thresholds, and of the thresholds of each queue, which may come from the section. */
function thresholds({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const general = orDefaults(schema, declared);
  const written = (key: 'pause-above' | 'resume-below' | 'buffer'): Bound => ({
    value: general[key],
    path: key in declared ? at(key) : undefined,
  });
  const message = (below: number, above: number): string =>
    `resume-below (${below} bytes) must be less than pause-above (${above} bytes)`;
  smaller(written('resume-below'), written('pause-above'), message, report);
  for (const [i, entry] of each(declared.watch)) {
    if (!('pause-above' in entry) && !('resume-below' in entry)) continue;
    const own = (key: 'pause-above' | 'resume-below'): Bound =>
      key in entry ? { value: entry[key], path: at('watch', i, key) } : { value: general[key], path: undefined };
    smaller(own('resume-below'), own('pause-above'), message, report);
  }
  if ('hold' in declared)
    smaller(
      written('pause-above'),
      written('buffer'),
      (above, buffer) =>
        `pause-above (${above} bytes) must be less than buffer (${buffer} bytes): ` +
        'a class would drop before the neighbor upstream of it is asked',
      report,
    );
}

function times({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const { pause, 'longest-pause': longest, watchdog } = orDefaults(schema, declared);
  const place = (key: string, other: string): Path => at(key in declared ? key : other);
  if (pause !== undefined && longest !== undefined && pause > longest)
    report(
      place('pause', 'longest-pause'),
      `pause not longer than longest-pause, ${longest} ms`,
      `pause (${pause} ms) must not be longer than longest-pause (${longest} ms): neighbors obey no longer than that`,
    );
  if (longest !== undefined && watchdog !== undefined && longest >= watchdog)
    report(
      place('longest-pause', 'watchdog'),
      `longest-pause less than watchdog, ${watchdog} ms`,
      `longest-pause (${longest} ms) must be less than watchdog (${watchdog} ms), which would end each pause`,
    );
}

/**
 * What waits in a class counts as the port's queue for a congested node, and a class holds for one reason only. A
 * queue may be watched by both.
 */
function otherUses(file: Sections, report: Report): void {
  const declared = file['flow-control'];
  const monitored = new Set(each(file.ports).map(([, port]) => port.interface));
  const enforced = new Set(each(file.source?.enforce?.ports).map(([, name]) => name));
  const enforces = 'an interface that is not under source.enforce.ports';
  for (const [i, name] of each(declared?.hold)) {
    if (monitored.has(name))
      report(
        at('hold', i),
        'an interface that is not under ports',
        `${name} is monitored (ports): what is held there would be taken for its queue`,
      );
    else if (enforced.has(name))
      report(at('hold', i), enforces, `${name} already holds flows of hosts (source.enforce.ports)`);
  }
  for (const [i, { interface: name }] of each(declared?.watch))
    if (name !== undefined && enforced.has(name))
      report(
        at('watch', i, 'interface'),
        enforces,
        `${name} holds flows of hosts (source.enforce.ports): what waits there would be taken for its queue`,
      );
}

/** Neighbors are inside the domain: outside nobody is asked, and nobody is obeyed. */
function atTheBorder(file: Sections, report: Report): void {
  const declared = file['flow-control'];
  const borders = new Set(each(file['border-ports']).map(([, name]) => name));
  const places: (readonly [Path, string | undefined])[] = [
    ...each(declared?.hold).map(([i, name]) => [at('hold', i), name] as const),
    ...each(declared?.interfaces).map(([i, name]) => [at('interfaces', i), name] as const),
    ...each(declared?.neighbors).map(([i, entry]) => [at('neighbors', i, 'interface'), entry.interface] as const),
  ];
  for (const [path, name] of places)
    if (name !== undefined && borders.has(name))
      report(
        path,
        'an interface that is not under border-ports',
        `${name} is a border port, at which ARNs are dropped in both directions`,
      );
}

function neighborsOfArrival({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared?.interfaces || declared.interfaces.includes(undefined)) return;
  const arrival = new Set(declared.interfaces);
  for (const [i, { interface: name, address }] of each(declared.neighbors))
    if (name !== undefined && !arrival.has(name))
      report(
        at('neighbors', i, 'interface'),
        'one of flow-control.interfaces',
        `${address ? formatAddress(address) : 'this neighbor'} is never asked: ` +
          `${name} is not under flow-control.interfaces`,
      );
}

export const rules: readonly Rule<Sections>[] = [
  uniqueEntries,
  partners,
  thresholds,
  times,
  otherUses,
  atTheBorder,
  neighborsOfArrival,
];

export function build(declared: z.output<typeof schema>): FlowControlIntent {
  const flowControl = filled(schema, declared);
  const { 'pause-above': above, 'resume-below': below } = flowControl;
  return {
    mode: flowControl.mode,
    watch: (flowControl.watch ?? []).map((entry) => ({
      interface: entry.interface,
      above: entry['pause-above'] ?? above,
      below: entry['resume-below'] ?? below,
    })),
    hold: flowControl.hold ?? [],
    interfaces: flowControl.interfaces ?? [],
    above,
    below,
    ...(flowControl.bandwidth !== undefined && { bandwidth: flowControl.bandwidth }),
    buffer: flowControl.buffer,
    neighbors: flowControl.neighbors ?? [],
    acceptFrom: flowControl['accept-from'] ?? [],
    pauseMs: flowControl.pause,
    longestPauseMs: flowControl['longest-pause'],
    watchdogMs: flowControl.watchdog,
    perSecond: flowControl.rate,
    priorities: flowControl.priorities ?? [],
  };
}
