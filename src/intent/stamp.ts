// The section `stamp`: round-trip times by STAMP (RFC 8762).
import type * as z from 'zod';
import { type IpAddress, formatAddress } from '../model/address.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { hostAddress, trustedPrefix } from './address-values.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, unique } from './seen.ts';
import { hmacKey, integer, onOff, time } from './values.ts';

/** RTT probing (STAMP, RFC 8762). */
export interface StampIntent {
  readonly reflector: boolean;
  /** Who may be reflected to; never empty with `reflector`. */
  readonly acceptFrom: readonly Prefix[];
  readonly udpPort: number;
  readonly intervalMs: number;
  /** Probed in addition to the router addresses learned from the IGP. */
  readonly targets: readonly IpAddress[];
  /** Whether addresses learned from the IGP are probed. */
  readonly learnTargets: boolean;
  /** HMAC-SHA-256 of authenticated mode (RFC 8762 §4.4), of probes and answers alike; absent: unauthenticated. */
  readonly hmacKey?: string;
}

export const schema = section(
  {
    enabled: enabled(),
    reflector: defaulted(onOff, 'off', 'whether this router answers probes'),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose probes are answered'),
      'prefixes of routers whose probes are answered; required with reflector',
    ).optional(),
    port: defaulted(integer(1, 65_535), '862', 'UDP port of probes, here and at the targets'),
    interval: defaulted(time('10ms', '60s'), '1s', 'between two probes of one target'),
    targets: list(value(hostAddress(), 'address'), 'addresses that are probed; default: none').optional(),
    learn: defaulted(onOff, 'off', 'whether the router addresses learned from the IGP are probed'),
    'hmac-key': value(
      hmacKey,
      'HMAC-SHA-256 key of authenticated mode, the same on all routers ' +
        'that probe one another; default: unauthenticated',
    ).optional(),
  },
  'round-trip times by STAMP (RFC 8762)',
);

interface Sections {
  readonly stamp?: Seen<typeof schema> | undefined;
  readonly isis?: unknown;
  readonly ospfv2?: unknown;
  readonly ospfv3?: unknown;
  readonly bgp?: unknown;
}

/** An open reflector answers any host, at any address that a probe claims as its source. */
function reflectorNeedsAllowList({ stamp }: Sections, report: Report): void {
  if (stamp?.reflector !== true || ('accept-from' in stamp && stamp['accept-from']?.length !== 0)) return;
  report(
    ['stamp', 'accept-from'],
    'at least one prefix',
    'a reflector answers only listed routers: name the prefixes of the routers that probe',
  );
}

function idle({ stamp }: Sections, report: Report): void {
  if (
    !stamp ||
    ('reflector' in stamp && stamp.reflector !== false) ||
    ('learn' in stamp && stamp.learn !== false) ||
    stamp.targets?.length
  )
    return;
  report(
    ['stamp'],
    'reflector: on, learn: on, or targets',
    'stamp neither probes nor answers: set reflector: on, learn: on, or name targets',
  );
}

function learnsFromSomewhere({ stamp, isis, ospfv2, ospfv3, bgp }: Sections, report: Report): void {
  if (stamp?.learn !== true || isis || ospfv2 || ospfv3 || bgp) return;
  report(
    ['stamp', 'learn'],
    'learn only with isis, ospfv2, ospfv3 or bgp',
    'router addresses are learned by a carrier, and none is configured',
  );
}

function uniqueEntries({ stamp }: Sections, report: Report): void {
  unique(stamp?.targets, (i) => ['stamp', 'targets', i], formatAddress, 'address', report);
  unique(stamp?.['accept-from'], (i) => ['stamp', 'accept-from', i], formatPrefix, 'prefix', report);
}

export const rules: readonly Rule<Sections>[] = [reflectorNeedsAllowList, idle, learnsFromSomewhere, uniqueEntries];

/** Whether RTTs are measured at all. */
export const measures = (stamp: Seen<typeof schema> | undefined): boolean =>
  stamp !== undefined && stamp.enabled !== false && (stamp.learn === true || (stamp.targets ?? []).length > 0);

export function build(declared: z.output<typeof schema>): StampIntent {
  const stamp = filled(schema, declared);
  return {
    reflector: stamp.reflector,
    acceptFrom: stamp['accept-from'] ?? [],
    udpPort: stamp.port,
    intervalMs: stamp.interval,
    targets: stamp.targets ?? [],
    learnTargets: stamp.learn,
    ...(stamp['hmac-key'] !== undefined && { hmacKey: stamp['hmac-key'] }),
  };
}
