// Metrics of the bounded tables of the programs: how full they are. What was refused or replaced for want of a place
// has counters, such as proxy.qp.full and egress.flow.evicted.
import type { TablesSummary } from '../../model/telemetry-state.ts';
import { type Family, type Label, one } from './family.ts';

const TABLE: Label = {
  name: 'table',
  bound: 'maps of the programs that run, but not those of groups and of held flows',
};

export const TABLES: readonly Family<TablesSummary>[] = [
  {
    name: 'cnpd_table_entries',
    type: 'gauge',
    help: 'Entries of a table: those that the programs have written, or that are declared and learned.',
    labels: [TABLE],
    samples: ({ tables }) => tables.map(({ name, entries }) => one(entries, name)),
  },
  {
    name: 'cnpd_table_entries_limit',
    type: 'gauge',
    help: 'Entries that a table can have.',
    labels: [TABLE],
    samples: ({ tables }) => tables.map(({ name, limit }) => one(limit, name)),
  },
  {
    name: 'cnpd_table_count_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'How long ago the entries of the tables were counted.',
    labels: [],
    samples: ({ tables, ageMs }) => (tables.length > 0 ? [one(ageMs / 1000)] : []),
  },
];
