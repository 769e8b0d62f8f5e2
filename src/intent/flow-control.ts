// The section `flow-control`: precise flow control (FCN §4.1). Where this router's queues fill, it asks its upstream
// neighbors to pause what fills them; where its downstream neighbors ask, it holds what leaves towards them.
import type * as z from 'zod';
import type { IpAddress } from '../model/address.ts';
import { FLOW_CONTROL_MODES, type FlowControlMode } from '../model/flow-control.ts';
import type { Prefix } from '../model/prefix.ts';
import { neighborAddress, neighborPrefix } from './address-values.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import { bitRate, integer, interfaceName, oneOf, rate, size, time } from './values.ts';

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
      'what is paused, on all routers alike (FCN §4.1.2); service: packets between two ends of a tunnel; ' +
        'flow: one RoCEv2 flow; priority: one of eight',
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
