// The counters of End.MT (bpf/lib/multicast/counter-rows.h), part of the table in counters.ts.
import type { CounterRow } from './counters.ts';

const row = (index: number, name: string, meaning: string): CounterRow => ({ index, name, meaning });

export const MULTICAST_COUNTERS: readonly CounterRow[] = [
  row(256, 'multicast.edge.packets', 'packets replicated to receivers by End.MT (RMC-6.2-e)'),
];
