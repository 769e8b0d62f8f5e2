// Which loopback addresses the declared features need as their sources (FCNP-4-c; PNC §4; LHCNP §9: senders know this
// node by its address).
import type { Family } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import { type Report, type View, each } from './rules-view.ts';

interface Need {
  /** `any`: of either family. */
  readonly family: Family | 'any';
  readonly reason: string;
}

function* needs(view: View): Generator<Need> {
  const notifying = each(view.ports).find(([, port]) => 'k-max' in port);
  if (notifying)
    yield {
      family: 'any',
      reason:
        `${notifying[1].interface === undefined ? `ports[${notifying[0]}]` : `port ${notifying[1].interface}`} ` +
        'sends notices (k-max), which need a loopback address of this router as their source',
    };
  for (const [, { prefix, order }] of each(view.notifications?.enabled ? view.notifications.policies : [])) {
    if (!prefix) continue;
    const own = (order ?? []).find((format) => format !== undefined && format !== 'proxy');
    if (own)
      yield {
        family: prefix.address.family,
        reason:
          `${own} for ${formatPrefix(prefix)} needs an IPv${prefix.address.family} loopback address of this ` +
          'router as its source',
      };
  }
  for (const [, { prefix, format }] of each(view.senders)) {
    if (!prefix || format === undefined || format === 'standard-cnp') continue;
    yield {
      family: prefix.address.family,
      reason:
        `${format} for ${formatPrefix(prefix)} needs an IPv${prefix.address.family} loopback address of this ` +
        'router as its source',
    };
  }
  const { stamp } = view;
  if (!stamp || stamp.enabled === false) return;
  yield {
    family: 'any',
    reason: 'stamp needs a loopback address of this router: probes are sent from it and answered at it',
  };
  for (const [, { family }] of each(stamp.targets))
    yield {
      family,
      reason: `stamp has IPv${family} targets, which are probed from an IPv${family} loopback address of this router`,
    };
}

/** A loopback that is there but could not be read has been reported already. */
export function loopbacks(view: View, report: Report): void {
  const has = { 4: 'ipv4' in (view.loopback ?? {}), 6: 'ipv6' in (view.loopback ?? {}) };
  for (const { family, reason } of needs(view)) {
    if (family === 'any' ? has[4] || has[6] : has[family]) continue;
    report(
      family === 'any' ? ['router', 'loopback'] : ['router', 'loopback', `ipv${family}`],
      family === 'any' ? 'ipv6, ipv4 or both' : `an IPv${family} address`,
      reason,
    );
  }
}
