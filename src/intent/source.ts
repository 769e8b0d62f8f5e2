// The section `source`: this router takes the notifications for hosts behind it (LHCNP §5.6, FCNP §4), and passes them,
// or turns them into standard CNPs.
import type * as z from 'zod';
import type { Prefix } from '../model/prefix.ts';
import { QUEUEINGS, type Queueing } from '../model/queueing.ts';
import { SOURCE_ACTIONS, type SourceAction } from '../model/source.ts';
import { SENDER_FORMATS, type SenderFormat, type Understood, possibleIn } from '../model/understood.ts';
import { senderPrefix, trustedPrefix } from './address-values.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import { bitRate, integer, interfaceName, onOff, oneOf, percent, rate, size, time } from './values.ts';

/** How flows of hosts that cannot obey are slowed down at this router's own egress ports. */
export interface EnforceIntent {
  /** Egress ports by which the flows leave. */
  readonly ports: readonly string[];
  /** bit/s; absent: the rate of the link. */
  readonly bandwidth?: number;
  /** RTT_est of the flows' paths. */
  readonly rttMs: number;
  /** A notification without an instruction reduces by this share. */
  readonly response: number;
  /** What holds them. */
  readonly queueing: Queueing;
  /** Bytes that a held flow may have queued; packets beyond are dropped. */
  readonly buffer: number;
  /** The most flows held at a time. */
  readonly flows: number;
  /** How the IOAM trace of a Fast CNP sets the reduction. Absent: it does not. */
  readonly ioam?: IoamIntent;
}

export interface IoamIntent {
  /** η: the utilization of links that is aimed at. */
  readonly target: number;
  /** Of the links of the nodes, bit/s; absent: the bandwidth. */
  readonly capacity?: number;
  /** Bytes in a unit of queue depth. */
  readonly queueUnit: number;
  readonly txBytes: 'none' | 'namespace-data' | 'namespace-data-wide';
  readonly timestamp: 'posix' | 'ntp' | 'ptp';
}

interface SourceSenders {
  readonly prefix: Prefix;
  readonly action: SourceAction;
  /** The formats that may be sent to them, this router being in front of them; absent: none is known. */
  readonly supports?: Understood;
}

export interface SourceIntent {
  /** By longest match on the destination of a notification. Notifications for others pass untouched. */
  readonly senders: readonly SourceSenders[];
  /** Whether carriers advertise what senders `supports`. */
  readonly advertise: boolean;
  /** Present if some sender has `enforce`. */
  readonly enforce?: EnforceIntent;
  /** Congested nodes whose notifications are accepted. Never empty: there is no "from any node". */
  readonly acceptFrom: readonly Prefix[];
  /**
   * Interfaces at which notifications arrive. Empty: all Ethernet-like ones but the carriers' own and the border ports.
   */
  readonly interfaces: readonly string[];
  /** What the ICRC of a Fast CNP covers (decision B2). */
  readonly icrc: 'cover' | 'skip';
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notifications accepted per second, all senders together: of nodes, and as many of flows' receivers. */
  readonly perSecond: number;
}

const sender = section(
  {
    prefix: value(senderPrefix, 'prefix of the senders; the longest match is used'),
    action: value(
      oneOf<SourceAction>(...SOURCE_ACTIONS),
      'pass: the host gets the notification, once it is checked; convert: it gets a standard CNP in its place; ' +
        'enforce: this router slows its flows down',
    ),
    supports: list(
      value(oneOf(...SENDER_FORMATS), 'format'),
      'what advertise says that these senders understand; ' +
        'default: with convert and enforce all that is possible for the prefix, with pass nothing',
    ).optional(),
  },
  'senders behind this router',
);

const ioam = section(
  {
    target: defaulted(percent('1%', '100%'), '95%', 'the utilization of links that is aimed at (η of HPCC)'),
    capacity: value(bitRate('1kbit', '100Tbit'), 'rate of the links of the nodes; default: bandwidth').optional(),
    'queue-unit': defaulted(size('1B', '1MB'), '1B', 'what one of a trace’s queue depth is; Linux: a byte'),
    'tx-bytes': defaulted(
      oneOf('none', 'namespace-data', 'namespace-data-wide'),
      'none',
      'the field of a trace that counts transmitted bytes; none: each link with a queue counts as busy',
    ),
    timestamp: defaulted(oneOf('posix', 'ntp', 'ptp'), 'posix', 'the format of a trace’s times (RFC 9197 §5)'),
  },
  'the IOAM trace of a Fast CNP sets how much it reduces, as in HPCC, in place of response (FCNP §4)',
);

const enforce = section(
  {
    ports: list(
      value(interfaceName, 'egress interface'),
      'the ports by which the senders’ flows leave; an HTB or fq there, of the operator or of cnpd, holds them',
    ),
    bandwidth: value(bitRate('1kbit', '100Tbit'), 'rate of these ports; default: that of the slowest link').optional(),
    rtt: defaulted(time('10us', '10s'), '20ms', 'round-trip time of the flows; recovery begins two of them later'),
    response: defaulted(
      percent('1%', '100%'),
      '50%',
      'how much a notification without an instruction reduces the rate',
    ),
    queueing: defaulted(
      oneOf<Queueing>(...QUEUEINGS),
      'auto',
      'htb: held flows have classes; fq: they have departure times, which an fq keeps; ' +
        'auto: fq where a port has one, otherwise htb',
    ),
    buffer: defaulted(size('10kB', '1GB'), '4MB', 'what a held flow may have queued; packets beyond are dropped'),
    ioam: ioam.optional(),
    flows: defaulted(integer(1, 16_384), '4096', 'the most flows held at a time; others are left to their hosts'),
  },
  'how flows of senders with action: enforce are slowed down (LHCNP §5.6)',
);

export const schema = section(
  {
    enabled: enabled(),
    senders: list(sender, 'the senders for which this router takes notifications, and what becomes of them'),
    advertise: defaulted(
      onOff,
      'off',
      'on: carriers advertise what the senders understand, for congested nodes with supports: advertised',
    ),
    enforce: enforce.optional(),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose notifications are accepted'),
      'prefixes of congested nodes whose notifications are accepted; there is no default',
    ),
    interfaces: list(
      value(interfaceName, 'interface'),
      'where notifications arrive; default: all Ethernet-like interfaces except border-ports',
    ).optional(),
    icrc: defaulted(
      oneOf('cover', 'skip'),
      'cover',
      'whether the ICRC of a Fast CNP covers its Destination Options header; as at the congested nodes',
    ),
    'per-flow-interval': defaulted(time('1us', '60s'), '50us', 'shortest time between two CNPs for one flow'),
    rate: defaulted(
      rate('1/s', '10M/s'),
      '10000/s',
      'notifications of nodes accepted per second, all senders together; as many of flows’ receivers again',
    ),
  },
  'this router takes Fast CNPs and Long-haul CNPs for hosts behind it (LHCNP §5.6, FCNP §4)',
);

const declaresAll = (action: SourceAction | undefined): boolean => action === 'convert' || action === 'enforce';

/** What these senders understand, declared or because this router acts for them. */
export const supportsOf = (
  prefix: Prefix,
  action: SourceAction,
  declared: readonly SenderFormat[] | undefined,
): Understood | undefined => possibleIn(prefix, declared ?? (declaresAll(action) ? SENDER_FORMATS : []));

export function build(declared: z.output<typeof schema>): SourceIntent {
  const source = filled(schema, declared);
  const held = source.enforce && filled(enforce, source.enforce);
  const trace = held?.ioam && filled(ioam, held.ioam);
  return {
    senders: source.senders.map(({ prefix, action, supports: declared }) => {
      const supports = supportsOf(prefix, action, declared);
      return { prefix, action, ...(supports && { supports }) };
    }),
    advertise: source.advertise,
    ...(held && {
      enforce: {
        ports: held.ports,
        ...(held.bandwidth !== undefined && { bandwidth: held.bandwidth }),
        rttMs: held.rtt,
        response: held.response,
        queueing: held.queueing,
        buffer: held.buffer,
        flows: held.flows,
        ...(trace && {
          ioam: {
            target: trace.target,
            ...(trace.capacity !== undefined && { capacity: trace.capacity }),
            queueUnit: trace['queue-unit'],
            txBytes: trace['tx-bytes'],
            timestamp: trace.timestamp,
          },
        }),
      },
    }),
    acceptFrom: source['accept-from'],
    interfaces: source.interfaces ?? [],
    icrc: source.icrc,
    perFlowIntervalMs: source['per-flow-interval'],
    perSecond: source.rate,
  };
}
