// `notifications.long-haul`: Long-haul CNP (LHCNP §5.5, §6). Their contents are in long-haul-table.ts.
import type * as z from 'zod';
import * as table from './long-haul-table.ts';
import { defaulted, filled, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen } from './seen.ts';
import { deviceId, integer, onOff, percent } from './values.ts';

export interface LongHaulIntent extends table.LongHaulTableIntent {
  /**
   * A flow's sender is notified when the flow's share of the bytes queued in the window is at least this fraction of
   * the largest share; 0: every flow (LHCNP-5.5-b).
   */
  readonly contribution: number;
  /**
   * An arrival rate that fell by at least this fraction within the window counts as a reduction by an upstream node
   * (LHCNP-5.7-c).
   */
  readonly deferralReduction: number;
  /** Off: Metric Type and Value are zero (LHCNP-6.1-n). */
  readonly disclose: boolean;
  readonly objects: { readonly timestamp: boolean; readonly deviceId?: string; readonly pathId?: number };
  /** RoCEv2 form: 4 zero octets behind the extension, so that it is as long as a CNP (decision L2). */
  readonly padToCnp: boolean;
}

const objects = section(
  {
    timestamp: defaulted(onOff, 'off', 'NTP time of the notification'),
    'device-id': value(deviceId, 'identifier of this router; default: none').optional(),
    'path-id': value(integer(0, 4_294_967_295), 'identifier of the path; default: none').optional(),
  },
  'extension objects (LHCNP §6.1.1); default: none',
);

export const schema = section(
  {
    ...table.keys,
    contribution: defaulted(
      percent('0%', '100%'),
      '50%',
      "a flow's sender is notified when the flow's share of the queue is at least this part of the largest share; 0%: every flow",
    ),
    deferral: defaulted(
      percent('1%', '99%'),
      '10%',
      'an arrival rate that fell by this part within one round-trip time was reduced by an upstream node',
    ),
    disclose: defaulted(onOff, 'on', 'off: Metric Type and Metric Value are sent as zero (LHCNP §9)'),
    objects: objects.optional(),
    'pad-to-cnp': defaulted(
      onOff,
      'off',
      'RoCEv2 form: four zero octets make it as long as a standard CNP; not together with objects',
    ),
  },
  'Long-haul CNP (LHCNP §5.5, §6)',
);

interface Sections {
  readonly notifications?: { readonly 'long-haul'?: Seen<typeof schema> | undefined } | undefined;
}

/** Decision L2: the padding is where objects would be. */
function padding({ notifications }: Sections, report: Report): void {
  const { objects: sent, 'pad-to-cnp': pad } = notifications?.['long-haul'] ?? {};
  if (pad !== true || !sent || !(sent.timestamp === true || 'device-id' in sent || 'path-id' in sent)) return;
  report(
    ['notifications', 'long-haul', 'pad-to-cnp'],
    'off, or no objects',
    'padding is pointless with extension objects, which make the packet longer than a CNP anyway',
  );
}

export const rules: readonly Rule<Sections>[] = [
  ...table.rules.map(
    (rule): Rule<Sections> =>
      ({ notifications }, report) =>
        rule(notifications?.['long-haul'], report),
  ),
  padding,
];

export function build(declared?: z.output<typeof schema>): LongHaulIntent {
  const longHaul = filled(schema, declared);
  const { timestamp, 'device-id': id, 'path-id': pathId } = filled(objects, longHaul.objects);
  return {
    ...table.build(longHaul),
    contribution: longHaul.contribution,
    deferralReduction: longHaul.deferral,
    disclose: longHaul.disclose,
    objects: { timestamp, ...(id !== undefined && { deviceId: id }), ...(pathId !== undefined && { pathId }) },
    padToCnp: longHaul['pad-to-cnp'],
  };
}

/** For a file without Long-haul CNPs. */
export const DEFAULT_LONG_HAUL = build();
