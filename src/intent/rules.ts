// The rules of cnpd.yaml that concern several keys: one table, run also when other keys are wrong, so that all errors
// appear at once (seen.ts). A file with a list that is too long is refused before that (capacity.ts). Each rule is in
// the file of the section whose keys it refuses; the one that concerns most of them is here.
import * as bgp from './bgp.ts';
import * as border from './border.ts';
import * as codePoints from './code-points.ts';
import { formatPath } from './errors.ts';
import * as flowControl from './flow-control-rules.ts';
import * as groups from './group-rules.ts';
import * as isis from './isis.ts';
import * as northbound from './northbound.ts';
import * as notifications from './notifications.ts';
import * as ospf from './ospf.ts';
import * as ports from './ports.ts';
import * as proxy from './proxy.ts';
import * as router from './router.ts';
import { cnpdSchema } from './schema.ts';
import { type Report, type Rule, type RuleViolation, type Seen, each, looksAt, orDefaults } from './seen.ts';
import * as source from './source-rules.ts';
import * as srv6 from './srv6.ts';
import * as stamp from './stamp.ts';
import type { Path } from './words.ts';

type File = Seen<typeof cnpdSchema>;

/** Each of cnpd's own veth ends carries one routing protocol and nothing else. */
function carrierInterfaces(file: File, report: Report): void {
  const ofIsis = file.isis && orDefaults(isis.schema, file.isis).interface;
  const own = new Map<string, string>(ofIsis === undefined ? [] : [[ofIsis, 'isis.interface']]);
  for (const { path, name } of ospf.interfaces(file)) {
    if (name === undefined) continue;
    const other = own.get(name);
    if (other === undefined) own.set(name, formatPath(path));
    else report(path, 'an interface of its own', `${name} is the veth of another carrier or area (${other})`);
  }
  const uses: (readonly [Path, string | undefined])[] = [
    ...each(file.ports).map(([i, port]) => [['ports', i, 'interface'], port.interface] as const),
    ...each(file['border-ports']).map(([i, name]) => [['border-ports', i], name] as const),
    ...each(file.proxy?.interfaces).map(([i, name]) => [['proxy', 'interfaces', i], name] as const),
    ...each(file.source?.interfaces).map(([i, name]) => [['source', 'interfaces', i], name] as const),
    ...each(file.source?.enforce?.ports).map(([i, name]) => [['source', 'enforce', 'ports', i], name] as const),
    ...each(file['flow-control']?.watch).map(
      ([i, entry]) => [['flow-control', 'watch', i, 'interface'], entry.interface] as const,
    ),
    ...each(file['flow-control']?.hold).map(([i, name]) => [['flow-control', 'hold', i], name] as const),
    ...each(file['flow-control']?.interfaces).map(([i, name]) => [['flow-control', 'interfaces', i], name] as const),
    ...each(file.srv6?.['core-ports']).map(([i, name]) => [['srv6', 'core-ports', i], name] as const),
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

/** Of two complaints about one place the first is kept. */
const RULES: readonly Rule<File>[] = [
  ...proxy.rules,
  ...source.rules,
  ...flowControl.rules,
  ...border.rules,
  ...ports.rules,
  ...isis.rules,
  carrierInterfaces,
  ...router.rules,
  ...ospf.rules,
  ...bgp.rules,
  ...notifications.rules,
  ...srv6.rules,
  ...groups.rules,
  ...stamp.rules,
  ...codePoints.rules,
  ...northbound.rules,
];

const seenOf = looksAt(cnpdSchema);

/** @param declared the readable part of the file, undefined where a value could not be read */
export function violations(declared: unknown): RuleViolation[] {
  const found: RuleViolation[] = [];
  const file = seenOf(declared) ?? {};
  for (const rule of RULES) rule(file, (path, allowed, reason) => found.push({ path, allowed, reason }));
  return found;
}
