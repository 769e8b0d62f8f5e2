// `--port` and `--prefix` of `cnpctl show`: which rows of a view are printed. Any view whose columns hold names of
// interfaces, or addresses and prefixes, can be filtered by them.
import { type Command, InvalidArgumentError } from 'commander';
import { hostPrefix, parsePrefix, type Prefix, prefixCovers } from '../model/prefix.ts';
import { parseAddress } from '../model/address.ts';
import type { Row } from '../model/state.ts';
import type { FilterKind, View } from './columns.ts';

/** As given on the command line. */
export interface Filters {
  readonly port?: string;
  readonly prefix?: string;
}

type Columns = Pick<View, 'columns'>;

const prefixIn = (text: string): Prefix | undefined => {
  const address = parseAddress(text);
  return address ? hostPrefix(address) : parsePrefix(text);
};

export function prefixText(text: string): string {
  if (!prefixIn(text)) throw new InvalidArgumentError('allowed: an IP prefix without host bits, or an IP address.');
  return text;
}

const canFilter = ({ columns }: Columns, kind: FilterKind): boolean =>
  columns.some(({ filter }) => filter?.by === kind);

/** Adds the options that at least one of these tables can apply. */
export function addFilters(command: Command, ...tables: readonly Columns[]): Command {
  if (tables.some((table) => canFilter(table, 'port'))) command.option('--port <name>', 'only rows of this port');
  if (tables.some((table) => canFilter(table, 'prefix')))
    command.option(
      '--prefix <prefix>',
      'only rows with an address or prefix that equals it, contains it, or lies in it',
      prefixText,
    );
  return command;
}

/** What commander says of an option that the command does not have, in the words of filters. */
export function explainNoFilter(message: string): string {
  const option = /^error: unknown option '--(port|prefix)(?:=[^']*)?'/.exec(message)?.[1];
  if (option === undefined) return message;
  const what = option === 'port' ? 'ports' : 'addresses or prefixes';
  return `error: --${option} cannot be applied here: this view has no column of ${what}\n`;
}

export const isFiltered = ({ port, prefix }: Filters): boolean => port !== undefined || prefix !== undefined;

/** Of a view of several tables, those that can apply all filters; the others are left out. */
export const applies = (table: Columns, { port, prefix }: Filters): boolean =>
  (port === undefined || canFilter(table, 'port')) && (prefix === undefined || canFilter(table, 'prefix'));

/** The rows that match all filters. */
export function filterRows({ columns }: Columns, rows: readonly Row[], { port, prefix }: Filters): readonly Row[] {
  const matches = (row: Row, kind: FilterKind, test: (value: unknown) => boolean): boolean =>
    columns.some(({ filter }) => filter?.by === kind && filter.values(row).some(test));
  const wanted = prefix === undefined ? undefined : prefixIn(prefix);
  return rows.filter(
    (row) =>
      (port === undefined || matches(row, 'port', (value) => value === port)) &&
      (wanted === undefined || matches(row, 'prefix', (value) => overlaps(wanted, value))),
  );
}

function overlaps(wanted: Prefix, value: unknown): boolean {
  const prefix = typeof value === 'string' ? prefixIn(value) : undefined;
  return prefix !== undefined && (prefixCovers(wanted, prefix) || prefixCovers(prefix, wanted));
}

/** The table with a sentence for the case that it is empty because of the filters. */
export function filtered<T extends Pick<View, 'columns' | 'empty'>>(
  table: T,
  all: readonly Row[],
  filters: Filters,
): T {
  if (all.length === 0 || !isFiltered(filters)) return table;
  const given = [
    ...(filters.port === undefined ? [] : [`--port ${filters.port}`]),
    ...(filters.prefix === undefined ? [] : [`--prefix ${filters.prefix}`]),
  ];
  return { ...table, empty: `no row matches ${given.join(' ')}, of ${all.length}` };
}
