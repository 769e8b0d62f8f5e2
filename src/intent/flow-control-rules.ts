// The rules of the section `flow-control`: what its keys have to be to each other, and to other sections.
import { formatAddress } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import type * as border from './border.ts';
import { schema } from './flow-control.ts';
import type * as ports from './ports.ts';
import { type Report, type Rule, type Seen, each, itself, orDefaults, unique } from './seen.ts';
import type * as source from './source.ts';
import type { Path } from './words.ts';

interface Sections {
  readonly 'flow-control'?: Seen<typeof schema> | undefined;
  readonly ports?: Seen<typeof ports.schema> | undefined;
  readonly source?: Seen<typeof source.schema> | undefined;
  readonly 'border-ports'?: Seen<typeof border.ports> | undefined;
}

const at = (...path: Path): Path => ['flow-control', ...path];

function uniqueEntries({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const { watch, hold, interfaces, neighbors, priorities, 'accept-from': from } = declared;
  unique(
    watch,
    (i) => at('watch', i, 'interface'),
    (entry) => entry.interface,
    'interface',
    report,
  );
  unique(hold, (i) => at('hold', i), itself, 'interface', report);
  unique(interfaces, (i) => at('interfaces', i), itself, 'interface', report);
  unique(
    neighbors,
    (i) => at('neighbors', i, 'interface'),
    (entry) => entry.interface,
    'interface',
    report,
  );
  unique(from, (i) => at('accept-from', i), formatPrefix, 'prefix', report);
  unique(
    priorities,
    (i) => at('priorities', i, 'dscp'),
    ({ dscp }) => dscp?.toString(),
    'DSCP',
    report,
  );
}

/** A section that neither asks nor obeys is a mistake, and so is one that obeys nobody. */
function partners({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const has = (key: 'watch' | 'hold' | 'accept-from'): boolean =>
    key in declared && (declared[key] === undefined || declared[key].length > 0);
  if (!has('watch') && !has('hold'))
    report(at(), 'watch, hold or both', 'there is neither a queue to watch nor a port that holds: set watch or hold');
  if (has('hold') && !has('accept-from'))
    report(
      at('accept-from' in declared ? 'accept-from' : 'hold'),
      'hold only with accept-from',
      'nobody may ask for traffic to be held: name the neighbors under flow-control.accept-from, e.g. fe80::/10',
    );
  if (has('accept-from') && !has('hold'))
    report(at('accept-from'), 'accept-from only with hold', 'there is no port that holds what these neighbors ask for');
}

/** A value, and where it is written; a default is written where it is overridden by another. */
interface Bound {
  readonly value: number | undefined;
  readonly path: Path | undefined;
}

function smaller(low: Bound, high: Bound, message: (low: number, high: number) => string, report: Report): void {
  if (low.value === undefined || high.value === undefined || low.value < high.value) return;
  const reason = message(low.value, high.value);
  if (low.path) report(low.path, `less than ${high.value}`, reason);
  else if (high.path) report(high.path, `more than ${low.value}`, reason);
}

/** Of the section's own thresholds, and of the thresholds of each queue, which may come from the section. */
function thresholds({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const general = orDefaults(schema, declared);
  const written = (key: 'pause-above' | 'resume-below' | 'buffer'): Bound => ({
    value: general[key],
    path: key in declared ? at(key) : undefined,
  });
  const message = (below: number, above: number): string =>
    `resume-below (${below} bytes) must be less than pause-above (${above} bytes)`;
  smaller(written('resume-below'), written('pause-above'), message, report);
  for (const [i, entry] of each(declared.watch)) {
    if (!('pause-above' in entry) && !('resume-below' in entry)) continue;
    const own = (key: 'pause-above' | 'resume-below'): Bound =>
      key in entry ? { value: entry[key], path: at('watch', i, key) } : { value: general[key], path: undefined };
    smaller(own('resume-below'), own('pause-above'), message, report);
  }
  if ('hold' in declared)
    smaller(
      written('pause-above'),
      written('buffer'),
      (above, buffer) =>
        `pause-above (${above} bytes) must be less than buffer (${buffer} bytes): ` +
        'a class would drop before the neighbor upstream of it is asked',
      report,
    );
}

function times({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared) return;
  const { pause, 'longest-pause': longest, watchdog } = orDefaults(schema, declared);
  const place = (key: string, other: string): Path => at(key in declared ? key : other);
  if (pause !== undefined && longest !== undefined && pause > longest)
    report(
      place('pause', 'longest-pause'),
      `pause not longer than longest-pause, ${longest} ms`,
      `pause (${pause} ms) must not be longer than longest-pause (${longest} ms): neighbors obey no longer than that`,
    );
  if (longest !== undefined && watchdog !== undefined && longest >= watchdog)
    report(
      place('longest-pause', 'watchdog'),
      `longest-pause less than watchdog, ${watchdog} ms`,
      `longest-pause (${longest} ms) must be less than watchdog (${watchdog} ms), which would end each pause`,
    );
}

/**
 * What waits in a class counts as the port's queue for a congested node, and a class holds for one reason only. A
 * queue may be watched by both.
 */
function otherUses(file: Sections, report: Report): void {
  const declared = file['flow-control'];
  const monitored = new Set(each(file.ports).map(([, port]) => port.interface));
  const enforced = new Set(each(file.source?.enforce?.ports).map(([, name]) => name));
  const enforces = 'an interface that is not under source.enforce.ports';
  for (const [i, name] of each(declared?.hold)) {
    if (monitored.has(name))
      report(
        at('hold', i),
        'an interface that is not under ports',
        `${name} is monitored (ports): what is held there would be taken for its queue`,
      );
    else if (enforced.has(name))
      report(at('hold', i), enforces, `${name} already holds flows of hosts (source.enforce.ports)`);
  }
  for (const [i, { interface: name }] of each(declared?.watch))
    if (name !== undefined && enforced.has(name))
      report(
        at('watch', i, 'interface'),
        enforces,
        `${name} holds flows of hosts (source.enforce.ports): what waits there would be taken for its queue`,
      );
}

/** Neighbors are inside the domain: outside nobody is asked, and nobody is obeyed. */
function atTheBorder(file: Sections, report: Report): void {
  const declared = file['flow-control'];
  const borders = new Set(each(file['border-ports']).map(([, name]) => name));
  const places: (readonly [Path, string | undefined])[] = [
    ...each(declared?.hold).map(([i, name]) => [at('hold', i), name] as const),
    ...each(declared?.interfaces).map(([i, name]) => [at('interfaces', i), name] as const),
    ...each(declared?.neighbors).map(([i, entry]) => [at('neighbors', i, 'interface'), entry.interface] as const),
  ];
  for (const [path, name] of places)
    if (name !== undefined && borders.has(name))
      report(
        path,
        'an interface that is not under border-ports',
        `${name} is a border port, at which ARNs are dropped in both directions`,
      );
}

/** Without a name all interfaces count. */
function neighborsOfArrival({ 'flow-control': declared }: Sections, report: Report): void {
  if (!declared?.interfaces || declared.interfaces.length === 0 || declared.interfaces.includes(undefined)) return;
  const arrival = new Set(declared.interfaces);
  for (const [i, { interface: name, address }] of each(declared.neighbors))
    if (name !== undefined && !arrival.has(name))
      report(
        at('neighbors', i, 'interface'),
        'one of flow-control.interfaces',
        `${address ? formatAddress(address) : 'this neighbor'} is never asked: ` +
          `${name} is not under flow-control.interfaces`,
      );
}

export const rules: readonly Rule<Sections>[] = [
  uniqueEntries,
  partners,
  thresholds,
  times,
  otherUses,
  atTheBorder,
  neighborsOfArrival,
];
