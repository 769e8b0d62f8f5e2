// The counters of End.MT (bpf/lib/multicast/counter-rows.h), part of the table in counters.ts.

const row = (
  index: number,
  name: string,
  meaning: string,
): { readonly index: number; readonly name: string; readonly meaning: string } => ({ index, name, meaning });

export const MULTICAST_COUNTERS = [
  row(256, 'multicast.edge.packets', 'packets replicated to receivers by End.MT (RMC-6.2-e)'),
];
