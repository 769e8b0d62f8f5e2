// The rules of cnpd.yaml that concern several keys, one table. They run also when other keys are wrong, so that all errors appear
// at once: a value that could not be read is undefined here, and a rule that needs it stays silent.
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { DEFAULTS } from './build.ts';
import type { Path } from './words.ts';
import type { Declared } from './schema.ts';

export interface RuleViolation {
  readonly path: Path;
  readonly allowed: string;
  readonly reason: string;
}

type Report = (path: Path, allowed: string, reason: string) => void;

type Port = NonNullable<Declared['ports']>[number];
type Proxy = NonNullable<Declared['proxy']>;
type Isis = NonNullable<Declared['isis']>;

/** What could be read: any key may be missing, an element that is not what it should be is undefined. */
interface View {
  readonly loopback?: Partial<NonNullable<Declared['router']['loopback']>> | undefined;
  readonly isis?: Partial<Isis> | undefined;
  readonly keys?: Partial<NonNullable<Isis['authentication']>> | undefined;
  readonly ports: readonly (Partial<Port> | undefined)[];
  readonly borderPorts: readonly (string | undefined)[];
  readonly senders?: readonly (Partial<Proxy['senders'][number]> | undefined)[] | undefined;
  readonly acceptFrom?: readonly (Prefix | undefined)[] | undefined;
  readonly proxyInterfaces: readonly (string | undefined)[];
}

type Unread = Readonly<Record<string, unknown>>;
const mapping = <T>(raw: unknown): Partial<T> | undefined => (typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Partial<T>) : undefined);
const mappings = <T>(raw: unknown): (Partial<T> | undefined)[] | undefined => (Array.isArray(raw) ? raw.map((element) => mapping<T>(element)) : undefined);
const values = <T>(raw: unknown): (T | undefined)[] | undefined => (Array.isArray(raw) ? (raw as (T | undefined)[]) : undefined);

function viewOf(declared: unknown): View {
  const root = mapping<Unread>(declared) ?? {};
  const [router, isis, proxy] = [mapping<Unread>(root['router']), mapping<Isis>(root['isis']), mapping<Unread>(root['proxy'])];
  return {
    loopback: mapping(router?.['loopback']),
    isis,
    keys: mapping(isis?.authentication),
    ports: mappings<Port>(root['ports']) ?? [],
    borderPorts: values<string>(root['border-ports']) ?? [],
    senders: mappings(proxy?.['senders']),
    acceptFrom: values<Prefix>(proxy?.['accept-from']),
    proxyInterfaces: values<string>(proxy?.['interfaces']) ?? [],
  };
}

/** The elements that could be read, with their places in the list. */
const each = <T>(list: readonly (T | undefined)[] | undefined): (readonly [number, T])[] =>
  [...(list ?? []).entries()].flatMap(([i, element]) => (element === undefined ? [] : [[i, element] as const]));

/** Reports the second and later occurrences of a name. */
function unique<T>(list: readonly (T | undefined)[] | undefined, path: (i: number) => Path, nameOf: (element: T) => string | undefined, what: string, report: Report): void {
  const first = new Map<string, number>();
  for (const [i, element] of each(list)) {
    const name = nameOf(element);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, i);
    else report(path(i), `each ${what} once`, `${name} stands in this list already, as entry ${earlier + 1}`);
  }
}

/** LHCNP §5.3.2: K_min < K_max. */
function thresholds(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    const [kMin, kMax] = [port['k-min'], port['k-max']];
    if (kMin !== undefined && kMax !== undefined && kMin >= kMax) {
      report(['ports', i, 'k-min'], `less than k-max, ${kMax} bytes`, `k-min (${kMin} bytes) must be less than k-max (${kMax} bytes)`);
    }
    if (!('k-min' in port) && kMax === 1 && port.ecn !== false) report(['ports', i, 'k-max'], 'at least 2 bytes', 'there is no k-min below a k-max of 1 byte; say ecn: off');
    if (port.ecn === false && 'k-min' in port) report(['ports', i, 'k-min'], 'no k-min with ecn: off', 'k-min is the threshold of CE marking, which ecn: off forbids');
  }
}

function uniqueEntries(view: View, report: Report): void {
  const itself = (name: string): string => name;
  unique(view.ports, (i) => ['ports', i, 'interface'], (port) => port.interface, 'interface', report);
  unique(view.borderPorts, (i) => ['border-ports', i], itself, 'interface', report);
  unique(view.proxyInterfaces, (i) => ['proxy', 'interfaces', i], itself, 'interface', report);
  unique(view.senders, (i) => ['proxy', 'senders', i, 'prefix'], (sender) => sender.prefix && formatPrefix(sender.prefix), 'prefix', report);
  unique(view.acceptFrom, (i) => ['proxy', 'accept-from', i], formatPrefix, 'prefix', report);
}

function loopback(view: View, report: Report): void {
  const notifying = each(view.ports).find(([, port]) => 'k-max' in port);
  // A loopback that is there but could not be read has been reported already.
  if (!notifying || (view.loopback && ('ipv4' in view.loopback || 'ipv6' in view.loopback))) return;
  const reason = `port ${notifying[1].interface ?? notifying[0] + 1} sends notices (k-max), which need a loopback address of this router as their source`;
  report(['router', 'loopback'], 'ipv6, ipv4 or both', reason);
}

function notEmpty(view: View, report: Report): void {
  const lists = [
    ['senders', view.senders, 'at least one entry', 'a proxy without senders does nothing: remove the section or say enabled: off'],
    ['accept-from', view.acceptFrom, 'at least one prefix', 'an empty allow-list obeys nobody: name the prefixes of the routers whose notices are obeyed'],
  ] as const;
  for (const [key, list, allowed, reason] of lists) if (list?.length === 0) report(['proxy', key], allowed, reason);
}

function isisTimers(view: View, report: Report): void {
  const isis = view.isis;
  if (!isis) return;
  const lifetime = (isis.lifetime ?? DEFAULTS.lifetimeMs) / 1000;
  const refresh = (isis.refresh ?? DEFAULTS.refreshMs) / 1000;
  if (refresh > lifetime - 60) {
    const reason = `LSPs refreshed every ${refresh} s may expire, their lifetime being ${lifetime} s`;
    report(['isis', isis.refresh === undefined ? 'lifetime' : 'refresh'], 'refresh at least 60 s below lifetime', reason);
  }
  for (const key of ['hello-interval', 'lifetime', 'refresh'] as const) {
    const ms = isis[key];
    if (ms !== undefined && ms % 1000 !== 0) report(['isis', key], 'whole seconds', 'IS-IS counts this time in whole seconds');
  }
}

function isisKeys(view: View, report: Report): void {
  const level = view.isis && 'level' in view.isis ? view.isis.level : DEFAULTS.level;
  if (level === '2' && view.keys?.area) report(['isis', 'authentication', 'area'], 'domain, on level 2', 'the area key is for level 1, which is not run');
  if (level === '1' && view.keys?.domain) report(['isis', 'authentication', 'domain'], 'area, on level 1', 'the domain key is for level 2, which is not run');
}

/** cnpd's own veth end carries IS-IS and nothing else. */
function carrierInterface(view: View, report: Report): void {
  if (!view.isis) return;
  const own = 'interface' in view.isis ? view.isis.interface : DEFAULTS.interface;
  const uses: (readonly [Path, string | undefined])[] = [
    ...each(view.ports).map(([i, port]) => [['ports', i, 'interface'], port.interface] as const),
    ...each(view.borderPorts).map(([i, name]) => [['border-ports', i], name] as const),
    ...each(view.proxyInterfaces).map(([i, name]) => [['proxy', 'interfaces', i], name] as const),
  ];
  for (const [path, name] of uses) {
    if (name === undefined || name !== own) continue;
    report(path, 'an interface other than isis.interface', `${name} is the veth of the IS-IS carrier (isis.interface); no traffic passes it`);
  }
}

/** Presence is asked of the key, not of the value: a threshold that could not be read is an error of its own. */
function idlePorts(view: View, report: Report): void {
  for (const [i, port] of each(view.ports)) {
    if ('k-max' in port || 'k-min' in port) continue;
    report(['ports', i], 'k-max, k-min or both', 'a port needs a threshold: k-max for notices, k-min for CE marking alone');
  }
}

/** What the maps of the dataplane hold (bpf/lib), the ports with room for collisions of their slots. */
const CAPACITY = { ports: 128, borderPorts: 1024, senders: 65_536, acceptFrom: 4096 } as const;

function capacity(view: View, report: Report): void {
  const paths: Record<keyof typeof CAPACITY, Path> = { ports: ['ports'], borderPorts: ['border-ports'], senders: ['proxy', 'senders'], acceptFrom: ['proxy', 'accept-from'] };
  for (const [key, most] of Object.entries(CAPACITY) as [keyof typeof CAPACITY, number][]) {
    const entries = view[key]?.length ?? 0;
    if (entries > most) report(paths[key], `at most ${most} entries`, `${entries} entries are more than the dataplane holds, ${most}`);
  }
}

const RULES: readonly ((view: View, report: Report) => void)[] = [
  thresholds, uniqueEntries, loopback, notEmpty, isisTimers, isisKeys, carrierInterface, idlePorts, capacity,
];

/** @param declared what the schema could read of the file, undefined where it could not */
export function violations(declared: unknown): RuleViolation[] {
  const found: RuleViolation[] = [];
  const view = viewOf(declared);
  for (const rule of RULES) rule(view, (path, allowed, reason) => found.push({ path, allowed, reason }));
  return found;
}
