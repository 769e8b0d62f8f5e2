// Rules of `notifications.long-haul`: the table of instructions ascends from the early row over those by depth to those
// of an escalation (LHCNP-5.5.1-d, LHCNP-5.7-e), and every parameter is one that its action can have (LHCNP-6.1-i,
// LHCNP-6.1-j).
import { LONG_HAUL_DEFAULTS } from './build-notifications.ts';
import { type LongHaul, type Report, type Rule, type View, each } from './rules-view.ts';
import type { Path } from './words.ts';

const LONG_HAUL = ['notifications', 'long-haul'] as const;
/** Rows of the dataplane's table of instructions, the early one included. */
const MAX_ROWS = 8;

interface Row {
  readonly path: Path;
  readonly level?: number | undefined;
  readonly action?: 'notify' | 'rate-reduce' | 'pause' | undefined;
  readonly parameter?: number | 'rtt' | undefined;
  readonly declaresParameter: boolean;
  readonly part: 'early' | 'severity' | 'escalation';
}

interface Declared {
  readonly level?: number | undefined;
  readonly action?: Row['action'];
  readonly parameter?: number | 'rtt' | undefined;
}

const rowOf = (part: Row['part'], path: Path, row: Declared): Row => ({
  part,
  path,
  level: row.level,
  action: row.action,
  parameter: row.parameter,
  declaresParameter: 'parameter' in row,
});

/** All rows in the order of their strictness, the defaults where nothing is declared. */
function rowsOf(longHaul: Partial<LongHaul>): Row[] {
  // One that is there but could not be read has no rows.
  const early: Declared = 'early' in longHaul ? (longHaul.early ?? { level: undefined }) : LONG_HAUL_DEFAULTS.early;
  const severity = 'severity' in longHaul ? (longHaul.severity ?? []) : LONG_HAUL_DEFAULTS.severity;
  const escalation = 'escalation' in longHaul ? (longHaul.escalation ?? []) : LONG_HAUL_DEFAULTS.escalation;
  const rows = (part: 'severity' | 'escalation', list: readonly (Declared | undefined)[]): Row[] =>
    each(list).map(([i, row]) => rowOf(part, [...LONG_HAUL, part, i], row));
  return [
    rowOf('early', [...LONG_HAUL, 'early'], early),
    ...rows('severity', severity),
    ...rows('escalation', escalation),
  ];
}

/**
 * What the parameter of an action may be (LHCNP-6.1-i, LHCNP-6.1-j): a pause of nothing, and a reduction by nothing,
 * are no instructions.
 */
const PARAMETERS = {
  notify: { least: 0, most: 0, unit: 'notify has no parameter' },
  'rate-reduce': { least: 1, most: 100, unit: 'rate-reduce takes percent' },
  pause: { least: 1, most: 65_535, unit: 'pause takes microseconds' },
} as const;

function parameters({ notifications }: View, report: Report): void {
  for (const { path, part, action, parameter, declaresParameter } of rowsOf(notifications?.longHaul ?? {})) {
    if (action === undefined || (declaresParameter && parameter === undefined)) continue;
    const { least, most, unit } = PARAMETERS[action];
    const allowed =
      least === most
        ? `${least}`
        : `${least} to ${most}${action === 'pause' && part === 'escalation' ? ', or rtt' : ''}`;
    if (parameter === 'rtt' ? action === 'pause' : (parameter ?? 0) >= least && (parameter ?? 0) <= most) continue;
    report(
      [...path, 'parameter'],
      allowed,
      `${unit}, ${least === most ? 'so it is 0' : `from ${least} to ${most}`} (LHCNP §6.1)`,
    );
  }
}

/** LHCNP-5.5.1-d: a sender is halted only when reducing its rate has not helped; that is what `escalation` is for. */
function pauseOnlyInEscalation({ notifications }: View, report: Report): void {
  for (const { path, part, action } of rowsOf(notifications?.longHaul ?? {})) {
    if (part !== 'escalation' && action === 'pause') {
      report(
        [...path, 'action'],
        'notify or rate-reduce',
        'pause is for congestion that a reduction did not end (LHCNP §5.5.1): put it under escalation',
      );
    }
    if (part === 'escalation' && action === 'notify')
      report(
        [...path, 'action'],
        'rate-reduce or pause',
        'an escalation is stricter than what was sent before (LHCNP §5.7); notify asks for nothing',
      );
  }
}

const STRICTNESS = { notify: 0, 'rate-reduce': 1, pause: 2 } as const;
/**
 * Whether a row asks for more than another one; undefined when one of them could not be read. `rtt` may be any pause:
 * next to another pause it is no step.
 */
function isStricter(row: Row, than: Row): boolean | undefined {
  if (row.action === undefined || than.action === undefined) return undefined;
  if (row.action !== than.action) return STRICTNESS[row.action] > STRICTNESS[than.action];
  if (row.action === 'notify') return false;
  // In place of a percentage `rtt` is an error of its own.
  if (row.parameter === 'rtt' || than.parameter === 'rtt') return row.action === 'pause' ? false : undefined;
  return row.parameter === undefined || than.parameter === undefined ? undefined : row.parameter > than.parameter;
}

/** LHCNP-5.7-e: the row after is always higher and stricter, so that escalating is taking the next row. */
function rowsAscend({ notifications }: View, report: Report): void {
  const rows = rowsOf(notifications?.longHaul ?? {});
  for (const [i, row] of rows.entries()) {
    const before = rows[i - 1];
    if (!before) continue;
    if (row.level !== undefined && before.level !== undefined && row.level <= before.level) {
      report(
        [...row.path, 'level'],
        `more than ${before.level}`,
        `level ${row.level} does not exceed ${before.level} of the row before: ` +
          'a stricter row has a higher level (LHCNP §5.7)',
      );
    }
    if (isStricter(row, before) !== false) continue;
    report(
      [...row.path, 'action'],
      'a stricter instruction',
      `${describe(row)} is not stricter than ${describe(before)} of the row before (LHCNP §5.7)`,
    );
  }
}

const describe = ({ action, parameter }: Row): string =>
  action === 'notify' ? 'notify' : `${action} ${parameter ?? ''}`.trim();

function severityByDepth({ notifications }: View, report: Report): void {
  const severity = notifications?.longHaul.severity;
  if (!severity) return;
  if (severity.length === 0)
    report([...LONG_HAUL, 'severity'], 'at least one row', 'the row from 1 says what is sent above k-max');
  const rows = each(severity as readonly ({ from?: number } | undefined)[]);
  for (const [i, { from }] of rows) {
    if (from === undefined) continue;
    const before = rows.find(([j]) => j === i - 1)?.[1].from;
    if (i === 0 && from !== 1) report([...LONG_HAUL, 'severity', 0, 'from'], '1', 'the first row is from k-max on, 1');
    if (before !== undefined && from <= before)
      report(
        [...LONG_HAUL, 'severity', i, 'from'],
        `more than ${before}`,
        'rows stand in the order of the depths from which they apply',
      );
  }
}

function tableOfInstructions({ notifications }: View, report: Report): void {
  const longHaul = notifications?.longHaul ?? {};
  if (longHaul.escalation?.length === 0)
    report(
      [...LONG_HAUL, 'escalation'],
      'at least one row',
      'when congestion worsens after a reduction, something stricter must be sent (LHCNP §5.7)',
    );
  const rows = rowsOf(longHaul);
  if (rows.length > MAX_ROWS)
    report(
      [...LONG_HAUL, 'escalation' in longHaul ? 'escalation' : 'severity'],
      `at most ${MAX_ROWS} rows`,
      `early, severity and escalation have ${rows.length} rows, more than ${MAX_ROWS}`,
    );
  const early = rows[0]!.level;
  const resume = longHaul.resume?.level ?? LONG_HAUL_DEFAULTS.resume.level;
  if (early !== undefined && resume >= early)
    report(
      [...LONG_HAUL, longHaul.resume ? 'resume' : 'early', 'level'],
      `${longHaul.resume ? `less than ${early}` : `more than ${resume}`}`,
      `resume says that congestion is over: its level (${resume}) must be less than that of early (${early})`,
    );
}

/** Decision A3: the padding stands where objects would. */
function padding({ notifications }: View, report: Report): void {
  const { objects, 'pad-to-cnp': pad } = notifications?.longHaul ?? {};
  if (pad !== true || !objects || !(objects.timestamp === true || 'device-id' in objects || 'path-id' in objects))
    return;
  report(
    [...LONG_HAUL, 'pad-to-cnp'],
    'off, or no objects',
    'the padding takes the place of extension objects, which make the packet longer than a CNP anyway',
  );
}

export const LONG_HAUL_RULES: readonly Rule[] = [
  parameters,
  pauseOnlyInEscalation,
  rowsAscend,
  severityByDepth,
  tableOfInstructions,
  padding,
];
