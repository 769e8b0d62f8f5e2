// The table of `notifications.long-haul`: the content of Long-haul CNPs. It ascends from the early row over those by
// depth to those of an escalation (LHCNP-5.5.1-d, LHCNP-5.7-e), and every parameter is one that its action can have
// (LHCNP-6.1-i, LHCNP-6.1-j).
import type * as z from 'zod';
import type { LongHaulInstruction } from '../model/notification.ts';
import { type Defaults, list, section, value, withDefault } from './schema-parts.ts';
import { type Report, type Seen, each, orDefaults } from './seen.ts';
import { factor, integer, oneOf, orWord } from './values.ts';
import type { Path } from './words.ts';

/** A row of the severity table: from `kMaxRatio` × K_max upwards. */
interface SeverityRowIntent extends LongHaulInstruction {
  readonly kMaxRatio: number;
}

/**
 * A step beyond the severity table. `rtt`: a pause of one round-trip time of the port, as far as 16 bits of
 * microseconds go.
 */
interface EscalationRowIntent {
  readonly level: number;
  readonly action: 'rate-reduce' | 'pause';
  readonly parameter: number | 'rtt';
}

export interface LongHaulTableIntent {
  /** Sent for triggers below K_max (marking rate, growth). */
  readonly early: LongHaulInstruction;
  /** Ascending in kMaxRatio, the first at 1; never Pause or Resume (LHCNP-5.5.1-d). */
  readonly severity: readonly SeverityRowIntent[];
  /** Steps taken when the metrics worsen after a reduction, ascending in strictness; Pause belongs here. */
  readonly escalation: readonly EscalationRowIntent[];
  readonly resume: LongHaulInstruction;
}

const LEVEL = value(integer(0, 255), 'Congestion Level');
const ACTION = value(oneOf('notify', 'rate-reduce', 'pause'), 'what the sender is asked to do; Resume has its own key');
const PARAMETER = 'percent of the rate with rate-reduce, microseconds with pause, 0 with notify';
const parameter = value(integer(0, 65_535), PARAMETER).optional();

const earlyRow = { level: LEVEL, action: ACTION, parameter };
const severityRow = section(
  {
    from: value(factor('1', '1000'), 'queue depth from which the row applies, in multiples of k-max'),
    level: LEVEL,
    action: ACTION,
    parameter,
  },
  'the content of a Long-haul CNP from a depth upwards',
);
const escalationRow = section(
  {
    level: LEVEL,
    action: ACTION,
    parameter: value(orWord('rtt', integer(0, 65_535)), `${PARAMETER}; rtt: a pause of one round-trip time`).optional(),
  },
  'the content of a Long-haul CNP when the previous rows did not help',
);
const resumeRow = {
  level: LEVEL,
  parameter: value(integer(0, 100), 'percent of the reduction that may be reverted; 0: all of it'),
};

/**
 * The row at K_max is the example of LHCNP §7 (A2), Resume too (A3). Levels and actions ascend, so that the next row is
 * always the stricter one (LHCNP-5.7-e).
 */
const EARLY = { level: 100, action: 'notify', parameter: 0 } as const;
const SEVERITY: z.output<typeof severityRow>[] = [
  { from: 1, level: 180, action: 'rate-reduce', parameter: 30 },
  { from: 1.25, level: 205, action: 'rate-reduce', parameter: 40 },
  { from: 1.5, level: 230, action: 'rate-reduce', parameter: 50 },
];
const ESCALATION: z.output<typeof escalationRow>[] = [
  { level: 245, action: 'rate-reduce', parameter: 75 },
  { level: 255, action: 'pause', parameter: 'rtt' },
];
const RESUME = { level: 20, parameter: 50 } as const;

const inWords = (words: readonly (string | number)[]): string => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
const reductions = inWords(SEVERITY.map((row) => `${row.parameter} %`));
const steps = ESCALATION.map((row) => (row.action === 'pause' ? 'pause' : `reduce by ${row.parameter} %`)).join(
  ', then ',
);

/** The keys of the table, in the section that has others too. */
export const keys = {
  early: withDefault(
    section(
      earlyRow,
      `sent when v-ecn or v-growth is exceeded below k-max; default level ${EARLY.level}, ${EARLY.action}`,
    ),
    EARLY,
  ),
  severity: withDefault(
    list(
      severityRow,
      `rows by queue depth, the first from 1; default reduce by ${reductions} ` +
        `from ${inWords(SEVERITY.map((row) => row.from))}`,
    ),
    SEVERITY,
  ),
  escalation: withDefault(
    list(escalationRow, `stricter rows, used when congestion worsens after a reduction; default ${steps}`),
    ESCALATION,
  ),
  resume: withDefault(
    section(
      resumeRow,
      'sent when the queue has been below k-min for one round-trip time; ' +
        `default level ${RESUME.level}, ${RESUME.parameter} %`,
    ),
    RESUME,
  ),
};

const schema = section(keys, 'the content of Long-haul CNPs');
type Table = Seen<typeof schema> | undefined;

const LONG_HAUL = ['notifications', 'long-haul'] as const;
/** Rows of the dataplane's table of instructions, the early one included. */
const MAX_ROWS = 8;

type Declared = Seen<typeof escalationRow>;
interface Row extends Declared {
  readonly path: Path;
  readonly declaresParameter: boolean;
  readonly part: 'early' | 'severity' | 'escalation';
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
function rowsOf(table: Table): Row[] {
  // One that is there but could not be read has no rows.
  const { early = {}, severity, escalation } = orDefaults(schema, table);
  const rows = (part: 'severity' | 'escalation', list: readonly (Declared | undefined)[] | undefined): Row[] =>
    each(list).map(([i, row]) => rowOf(part, [...LONG_HAUL, part, i], row));
  const first = rowOf('early', [...LONG_HAUL, 'early'], early);
  return [first, ...rows('severity', severity), ...rows('escalation', escalation)];
}

/**
 * The allowed parameters of an action (LHCNP-6.1-i, LHCNP-6.1-j): a pause of 0, and a reduction by 0, are no
 * instructions.
 */
const PARAMETERS = {
  notify: { least: 0, most: 0, unit: 'notify has no parameter' },
  'rate-reduce': { least: 1, most: 100, unit: 'rate-reduce takes percent' },
  pause: { least: 1, most: 65_535, unit: 'pause takes microseconds' },
} as const;

function parameters(table: Table, report: Report): void {
  for (const { path, part, action, parameter, declaresParameter } of rowsOf(table)) {
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
function pauseOnlyInEscalation(table: Table, report: Report): void {
  for (const { path, part, action } of rowsOf(table)) {
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
 * Whether a row is stricter than another one; undefined when one of them could not be read. `rtt` may be any pause: it
 * is no step next to another pause.
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
function rowsAscend(table: Table, report: Report): void {
  const rows = rowsOf(table);
  for (const [i, row] of rows.entries()) {
    const before = rows[i - 1];
    if (!before) continue;
    if (row.level !== undefined && before.level !== undefined && row.level <= before.level) {
      report(
        [...row.path, 'level'],
        `more than ${before.level}`,
        `level ${row.level} does not exceed ${before.level} of the previous row: ` +
          'a stricter row has a higher level (LHCNP §5.7)',
      );
    }
    if (isStricter(row, before) !== false) continue;
    report(
      [...row.path, 'action'],
      'a stricter instruction',
      `${describe(row)} is not stricter than ${describe(before)} of the previous row (LHCNP §5.7)`,
    );
  }
}

const describe = ({ action, parameter }: Row): string =>
  action === 'notify' ? 'notify' : `${action} ${parameter ?? ''}`.trim();

function severityByDepth(table: Table, report: Report): void {
  const severity = table?.severity;
  if (!severity) return;
  if (severity.length === 0)
    report([...LONG_HAUL, 'severity'], 'at least one row', 'the row from 1 is what is sent above k-max');
  const rows = each(severity);
  for (const [i, { from }] of rows) {
    if (from === undefined) continue;
    const before = rows.find(([j]) => j === i - 1)?.[1].from;
    if (i === 0 && from !== 1) report([...LONG_HAUL, 'severity', 0, 'from'], '1', 'the first row is from k-max on, 1');
    if (before !== undefined && from <= before)
      report([...LONG_HAUL, 'severity', i, 'from'], `more than ${before}`, 'rows must be in ascending order of depth');
  }
}

function wholeTable(table: Table, report: Report): void {
  if (table?.escalation?.length === 0)
    report(
      [...LONG_HAUL, 'escalation'],
      'at least one row',
      'when congestion worsens after a reduction, something stricter must be sent (LHCNP §5.7)',
    );
  const rows = rowsOf(table);
  if (rows.length > MAX_ROWS)
    report(
      [...LONG_HAUL, table && 'escalation' in table ? 'escalation' : 'severity'],
      `at most ${MAX_ROWS} rows`,
      `early, severity and escalation have ${rows.length} rows, more than ${MAX_ROWS}`,
    );
  const early = rows[0]!.level;
  const resume = table?.resume?.level ?? RESUME.level;
  if (early !== undefined && resume >= early)
    report(
      [...LONG_HAUL, table?.resume ? 'resume' : 'early', 'level'],
      `${table?.resume ? `less than ${early}` : `more than ${resume}`}`,
      `resume means that congestion is over: its level (${resume}) must be less than that of early (${early})`,
    );
}

export const rules = [parameters, pauseOnlyInEscalation, rowsAscend, severityByDepth, wholeTable];

/** Notify has no parameter (LHCNP-6.1-j); of the other actions it is always declared (rules). */
const withParameter = <R extends { parameter?: P | undefined }, P>(row: R): R & { parameter: P | 0 } => ({
  ...row,
  parameter: row.parameter ?? 0,
});

export const build = ({
  early,
  severity,
  escalation,
  resume,
}: z.output<typeof schema> & Defaults<typeof schema>): LongHaulTableIntent => ({
  early: withParameter(early),
  severity: severity.map(({ from, ...row }) => ({ kMaxRatio: from, ...withParameter(row) })),
  // `notify` is refused there.
  escalation: escalation.map((row) => withParameter(row) as EscalationRowIntent),
  resume: { level: resume.level, action: 'resume', parameter: resume.parameter },
});
