// The sections `border-ports` and `border-allow`: where the domain ends, and what may pass there (PNC-6-c, PNC-6-d).
import type * as z from 'zod';
import { formatPrefix, type Prefix } from '../model/prefix.ts';
import { trustedPrefix } from './address-values.ts';
import { list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, itself, unique } from './seen.ts';
import { interfaceName } from './values.ts';

/** Exceptions at a border port: from outside by source, to outside by destination. */
export interface BorderAllowIntent {
  readonly inbound: readonly Prefix[];
  readonly outbound: readonly Prefix[];
}

export const ports = list(
  value(interfaceName, 'interface'),
  'interfaces to outside the domain; notifications are dropped there in both directions',
);

export const allow = section(
  {
    inbound: list(value(trustedPrefix, 'prefix'), 'source prefixes outside whose notifications may enter').optional(),
    outbound: list(
      value(trustedPrefix, 'prefix'),
      'destination prefixes outside to which notifications may leave',
    ).optional(),
  },
  'notifications that may pass the border ports; default: none',
);

interface Sections {
  readonly 'border-ports'?: Seen<typeof ports> | undefined;
  readonly 'border-allow'?: Seen<typeof allow> | undefined;
}

function uniqueEntries({ 'border-ports': names, 'border-allow': allowed }: Sections, report: Report): void {
  unique(names, (i) => ['border-ports', i], itself, 'interface', report);
  for (const key of ['inbound', 'outbound'] as const)
    unique(allowed?.[key], (i) => ['border-allow', key, i], formatPrefix, 'prefix', report);
}

/** What may pass the border needs a border. */
function idleAllowance({ 'border-ports': names, 'border-allow': allowed }: Sections, report: Report): void {
  if (!allowed || (names ?? []).length > 0) return;
  report(['border-allow'], 'border-allow only with border-ports', 'there are no border-ports to pass');
}

export const rules: readonly Rule<Sections>[] = [uniqueEntries, idleAllowance];

export const buildAllow = ({ inbound = [], outbound = [] }: z.output<typeof allow>): BorderAllowIntent => ({
  inbound,
  outbound,
});
