// The section `queue-pairs`.
import type * as z from 'zod';
import { defaulted, filled, section } from './schema-parts.ts';
import { time } from './values.ts';

/** Known connections, for a proxy or for Long-haul CNPs. */
export interface QueuePairsIntent {
  /** A connection of which no packet came for this time is forgotten. */
  readonly ageingMs: number;
}

export const schema = section(
  {
    ageing: defaulted(time('10s', '24h'), '5min', 'a connection without packets for this time is forgotten'),
  },
  'known connections, for the proxy and for Long-haul CNPs',
);

export const build = (declared: z.output<typeof schema> | undefined): QueuePairsIntent => ({
  ageingMs: filled(schema, declared).ageing,
});
