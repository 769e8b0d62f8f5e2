// The rules of cnpd.yaml that concern several keys: one table, run also when other keys are wrong, so that all errors
// appear at once (rules-view.ts); how long lists may be is asked before (capacity.ts). Here are those of the router,
// the proxy, IS-IS and the border; the others are in files named after their sections.
import { formatPrefix } from '../model/prefix.ts';
import { DEFAULTS } from './build.ts';
import { formatPath } from './errors.ts';
import { BGP_RULES } from './rules-bgp.ts';
import { CODE_POINT_RULES } from './rules-code-points.ts';
import { LONG_HAUL_RULES } from './rules-long-haul.ts';
import { loopbacks } from './rules-loopback.ts';
import { NOTIFICATION_RULES } from './rules-notifications.ts';
import { OSPF_RULES, ospfInterfaces } from './rules-ospf.ts';
import { PORT_RULES } from './rules-ports.ts';
import { SRV6_RULES, STAMP_RULES } from './rules-srv6.ts';
import {
  type Report,
  type Rule,
  type RuleViolation,
  type View,
  each,
  oneAFamily,
  unique,
  viewOf,
} from './rules-view.ts';
import type { Path } from './words.ts';

function uniqueEntries(view: View, report: Report): void {
  const itself = (name: string): string => name;
  unique(
    view.ports,
    (i) => ['ports', i, 'interface'],
    (port) => port.interface,
    'interface',
    report,
  );
  unique(view.borderPorts, (i) => ['border-ports', i], itself, 'interface', report);
  unique(view.proxyInterfaces, (i) => ['proxy', 'interfaces', i], itself, 'interface', report);
  unique(
    view.senders,
    (i) => ['proxy', 'senders', i, 'prefix'],
    (sender) => sender.prefix && formatPrefix(sender.prefix),
    'prefix',
    report,
  );
  unique(view.acceptFrom, (i) => ['proxy', 'accept-from', i], formatPrefix, 'prefix', report);
  unique(view.borderAllow?.inbound, (i) => ['border-allow', 'inbound', i], formatPrefix, 'prefix', report);
  unique(view.borderAllow?.outbound, (i) => ['border-allow', 'outbound', i], formatPrefix, 'prefix', report);
}

function notEmpty(view: View, report: Report): void {
  const lists = [
    [
      'senders',
      view.senders,
      'at least one entry',
      'a proxy without senders does nothing: remove the section or say enabled: off',
    ],
    [
      'accept-from',
      view.acceptFrom,
      'at least one prefix',
      'an empty allow-list obeys nobody: name the prefixes of the routers whose notices are obeyed',
    ],
  ] as const;
  for (const [key, list, allowed, reason] of lists) if (list?.length === 0) report(['proxy', key], allowed, reason);
}

function proxyAddress({ proxyAddresses }: View, report: Report): void {
  const path = ['proxy', 'address'] as const;
  if (proxyAddresses?.length === 0)
    report(path, 'one address, or one of each family', 'a proxy without an address gets no notices');
  oneAFamily(proxyAddresses, path, 'address', report);
}

function isisTimers(view: View, report: Report): void {
  const isis = view.isis;
  if (!isis) return;
  const lifetime = (isis.lifetime ?? DEFAULTS.lifetimeMs) / 1000;
  const refresh = (isis.refresh ?? DEFAULTS.refreshMs) / 1000;
  if (refresh > lifetime - 60) {
    const reason = `LSPs refreshed every ${refresh} s may expire, their lifetime being ${lifetime} s`;
    report(
      ['isis', isis.refresh === undefined ? 'lifetime' : 'refresh'],
      'refresh at least 60 s below lifetime',
      reason,
    );
  }
  for (const key of ['hello-interval', 'lifetime', 'refresh'] as const) {
    const ms = isis[key];
    if (ms !== undefined && ms % 1000 !== 0)
      report(['isis', key], 'whole seconds', 'IS-IS counts this time in whole seconds');
  }
}

function isisKeys(view: View, report: Report): void {
  const level = view.isis && 'level' in view.isis ? view.isis.level : DEFAULTS.level;
  if (level === '2' && view.keys?.area)
    report(['isis', 'authentication', 'area'], 'domain, on level 2', 'the area key is for level 1, which is not run');
  if (level === '1' && view.keys?.domain)
    report(['isis', 'authentication', 'domain'], 'area, on level 1', 'the domain key is for level 2, which is not run');
}

/** cnpd's own veth ends carry one routing protocol each and nothing else. */
function carrierInterfaces(view: View, report: Report): void {
  const isis = view.isis && ('interface' in view.isis ? view.isis.interface : DEFAULTS.interface);
  const own = new Map<string, string>(isis === undefined ? [] : [[isis, 'isis.interface']]);
  for (const { path, name } of ospfInterfaces(view)) {
    if (name === undefined) continue;
    const other = own.get(name);
    if (other === undefined) own.set(name, formatPath(path));
    else report(path, 'an interface of its own', `${name} is the veth of another carrier or area (${other})`);
  }
  const uses: (readonly [Path, string | undefined])[] = [
    ...each(view.ports).map(([i, port]) => [['ports', i, 'interface'], port.interface] as const),
    ...each(view.borderPorts).map(([i, name]) => [['border-ports', i], name] as const),
    ...each(view.proxyInterfaces).map(([i, name]) => [['proxy', 'interfaces', i], name] as const),
    ...each(view.srv6?.corePorts).map(([i, name]) => [['srv6', 'core-ports', i], name] as const),
  ];
  for (const [path, name] of uses) {
    const carrier = name === undefined ? undefined : own.get(name);
    if (carrier !== undefined)
      report(
        path,
        `an interface other than ${carrier}`,
        `${name} is the veth of a carrier (${carrier}); no traffic passes it`,
      );
  }
}

/** What may pass the border needs a border. */
function idleAllowance(view: View, report: Report): void {
  if (!view.borderAllow || view.borderPorts.length > 0) return;
  report(['border-allow'], 'border-allow only with border-ports', 'there are no border-ports that anything could pass');
}

const RULES: readonly Rule[] = [
  uniqueEntries,
  notEmpty,
  proxyAddress,
  isisTimers,
  isisKeys,
  carrierInterfaces,
  idleAllowance,
  loopbacks,
  ...OSPF_RULES,
  ...BGP_RULES,
  ...PORT_RULES,
  ...NOTIFICATION_RULES,
  ...LONG_HAUL_RULES,
  ...SRV6_RULES,
  ...STAMP_RULES,
  ...CODE_POINT_RULES,
];

/** @param declared what the schema could read of the file, undefined where it could not */
export function violations(declared: unknown): RuleViolation[] {
  const found: RuleViolation[] = [];
  const view = viewOf(declared);
  for (const rule of RULES) rule(view, (path, allowed, reason) => found.push({ path, allowed, reason }));
  return found;
}
