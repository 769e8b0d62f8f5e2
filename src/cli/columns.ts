// A view of `cnpctl show`, and the columns that views are made of. The data arrive with YANG names (yang/cnpd.yang).
import type { Row } from '../model/state.ts';
import { type Column, formatAge, formatTable, hex } from './table.ts';

export interface View {
  /** Path below the root. */
  readonly path: readonly string[];
  readonly description: string;
  readonly empty: string;
  readonly columns: readonly ViewColumn[];
}

/** What rows can be chosen by: `--port`, `--prefix`. */
export type FilterKind = 'port' | 'prefix';
export interface ViewColumn extends Column<Cells> {
  /** Its cells are names of interfaces, or addresses and prefixes. */
  readonly filter?: { readonly by: FilterKind; readonly values: (row: Row) => readonly unknown[] };
}

/** A row with typed look-ups and the time of printing. */
export interface Cells {
  readonly row: Row;
  readonly nowMs: number;
}

export const text = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => row[name] as string | undefined,
});
/** The name of an interface. */
export const port = (name: string, header = name): ViewColumn => ({
  ...text(name, header),
  filter: { by: 'port', values: (row) => [row[name]] },
});
/** An address or a prefix, or a list of them. */
export const address = (name: string, header = name): ViewColumn => ({
  ...text(name, header),
  filter: { by: 'prefix', values: (row) => [row[name]] },
});
export const addresses = (name: string, header = name): ViewColumn => ({
  ...list(name, header),
  filter: { by: 'prefix', values: (row) => (row[name] as string[] | undefined) ?? [] },
});
export const number = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => row[name] as number | undefined,
  align: 'right',
});
export const list = (name: string, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => (row[name] as string[] | undefined)?.join(', '),
});
/** Of what a neighbor may have sent a thousand times; JSON has all of it. */
const FEW = 8;
export const few = (items: readonly unknown[], separator: string): string =>
  `${items.slice(0, FEW).join(separator)}${items.length > FEW ? ` and ${items.length - FEW} more` : ''}`;
export const shortList = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => few((row[name] as unknown[] | undefined) ?? [], ', '),
});
export const shortAddresses = (name: string, header: string): ViewColumn => ({
  ...shortList(name, header),
  filter: addresses(name).filter!,
});
export const age = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row, nowMs }) => formatAge(row[name] as string | undefined, nowMs),
  align: 'right',
});
export const hexadecimal = (name: string, digits: number, header = name): Column<Cells> => ({
  header,
  cell: ({ row }) => hex(row[name] as number | undefined, digits),
  align: 'right',
});

/** When and how wide. */
export interface Printing {
  readonly nowMs: () => number;
  readonly width: number;
}

export const layOut = (
  view: Pick<View, 'columns' | 'empty'>,
  rows: readonly Row[],
  { nowMs, width }: Printing,
): string[] => {
  const now = nowMs();
  return formatTable(
    view.columns,
    rows.map((row) => ({ row, nowMs: now })),
    view.empty,
    width,
  );
};
