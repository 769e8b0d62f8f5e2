// notifications: which senders are told of congestion, and how: through their proxies (PNC), by Fast CNP (FCNP), by
// Long-haul CNP (LHCNP).
import { policyPrefix } from './address-values.ts';
import { list, section, value, wordOrList } from './schema-parts.ts';
import { deviceId, factor, integer, oneOf, onOff, orWord, percent, time } from './values.ts';

const capability = oneOf('fast-cnp', 'long-haul-icmpv6', 'long-haul-roce');

const policy = section(
  {
    prefix: value(policyPrefix, 'source prefix of the senders; the longest match counts'),
    supports: wordOrList(
      oneOf('unknown', 'standard-cnp'),
      capability,
      'what these senders are known to understand besides standard CNPs; default unknown',
    ).optional(),
    order: list(
      value(oneOf('proxy', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'), 'format'),
      'formats in the order in which they are tried; the first that is possible is sent',
    ),
    'ce-with-fast-cnp': value(
      onOff,
      'whether packets of a flow that is told by Fast CNP are CE-marked too; with supports: unknown only; ' +
        'default on (FCNP §4)',
    ).optional(),
  },
  'how the senders of a prefix are told',
);

const LEVEL = value(integer(0, 255), 'Congestion Level');
const ACTION = value(
  oneOf('notify', 'rate-reduce', 'pause'),
  'what the sender is asked to do; Resume has a key of its own',
);
const PARAMETER = 'percent of the rate with rate-reduce, microseconds with pause, 0 with notify';
const parameter = value(integer(0, 65_535), PARAMETER).optional();

const severityRow = section(
  {
    from: value(factor('1', '1000'), 'queue depth from which the row applies, in multiples of k-max'),
    level: LEVEL,
    action: ACTION,
    parameter,
  },
  'what a Long-haul CNP says from a depth upwards',
);
const escalationRow = section(
  {
    level: LEVEL,
    action: ACTION,
    parameter: value(orWord('rtt', integer(0, 65_535)), `${PARAMETER}; rtt: a pause of one round-trip time`).optional(),
  },
  'what a Long-haul CNP says when the rows before it did not help',
);

const longHaul = section(
  {
    early: section(
      { level: LEVEL, action: ACTION, parameter },
      'sent when v-ecn or v-growth is exceeded below k-max; default level 100, notify',
    ).optional(),
    severity: list(
      severityRow,
      'rows by queue depth, the first from 1; default reduce by 30 %, 40 % and 50 % from 1, 1.25 and 1.5',
    ).optional(),
    escalation: list(
      escalationRow,
      'stricter rows, used when congestion worsens after a reduction; default reduce by 75 %, then pause',
    ).optional(),
    resume: section(
      {
        level: value(integer(0, 255), 'Congestion Level'),
        parameter: value(integer(0, 100), 'percent of the reduction that may be taken back; 0: all of it'),
      },
      'sent when the queue has been below k-min for one round-trip time; default level 20, 50 %',
    ).optional(),
    contribution: value(
      percent('0%', '100%'),
      'a flow is told when its share of the queue is at least this part of the largest share; ' +
        '0%: every flow; default 50%',
    ).optional(),
    deferral: value(
      percent('1%', '99%'),
      'an arrival rate that fell by this part within one round-trip time was reduced by a node before this ' +
        'one; default 10%',
    ).optional(),
    disclose: value(onOff, 'off: Metric Type and Metric Value are sent as zero (LHCNP §9); default on').optional(),
    objects: section(
      {
        timestamp: value(onOff, 'NTP time of the notification; default off').optional(),
        'device-id': value(deviceId, 'identifier of this router; default: none').optional(),
        'path-id': value(integer(0, 4_294_967_295), 'identifier of the path; default: none').optional(),
      },
      'extension objects (LHCNP §6.1.1); default: none',
    ).optional(),
    'pad-to-cnp': value(
      onOff,
      'RoCEv2 form: four zero octets make it as long as a standard CNP; not together with objects; default off',
    ).optional(),
  },
  'Long-haul CNP (LHCNP §5.5, §6)',
);

export const notifications = section(
  {
    enabled: value(
      onOff,
      'off: the section is checked but not run, and senders are told through their proxies alone',
    ).optional(),
    senders: list(policy, 'one policy a sender prefix; senders outside all of them are not told'),
    'capability-expiry': value(
      time('1s', '24h'),
      'how long an ICMPv6 Parameter Problem is believed that says a host does not know the format; default 10min',
    ).optional(),
    'fast-cnp': section(
      {
        icrc: value(
          oneOf('cover', 'skip'),
          'whether the ICRC covers the Destination Options header; default cover',
        ).optional(),
      },
      'Fast CNP (FCNP §4)',
    ).optional(),
    'long-haul': longHaul.optional(),
  },
  'who is told of congestion, and how; without this section: every sender through its proxy',
);
