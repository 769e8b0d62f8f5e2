// How a line of the log is written: JSON, with the severity in front where journald reads it, or as text on a
// terminal. Pure.

export type LineStyle = 'json' | 'journal' | 'text';

export interface Destination {
  readonly isTerminal: boolean;
  /** `DEVICE:INODE` of the stream, as fstat(2) has them. */
  readonly stream: string;
  /** What systemd says that it has connected the standard streams to (systemd.exec(5)). */
  readonly journalStream: string | undefined;
}

export const styleFor = ({ isTerminal, stream, journalStream }: Destination): LineStyle =>
  isTerminal ? 'text' : journalStream === stream ? 'journal' : 'json';

/** Numbers of pino's levels → priorities of syslog (sd-daemon(3)). */
const PRIORITIES: readonly (readonly [least: number, priority: number])[] = [
  [50, 3],
  [40, 4],
  [30, 6],
  [0, 7],
];
const priorityOf = (level: number): number => PRIORITIES.find(([least]) => level >= least)![1];

/** @param json one line, as pino writes it @param level its number */
export function writtenLine(style: LineStyle, json: string, level: number): string {
  if (style === 'json') return json;
  return style === 'journal' ? `<${priorityOf(level)}>${json}` : textLine(json);
}

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0);
/** What other routers say may be in a line, and a terminal obeys control characters. */
const printable = (text: string): string =>
  [...text].map((c) => (isControl(c.codePointAt(0)!) ? '\u{fffd}' : c)).join('');

/** `12:00:01.250 warn isis: IS-IS adjacency down: no hello  neighbor=0000.0000.0001` */
function textLine(json: string): string {
  const { time, level, component, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${String(component)}: ${String(msg)}`;
  return `${printable([head, ...shown].join('  '))}\n`;
}
