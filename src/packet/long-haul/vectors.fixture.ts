// The Long-haul CNPs of the example in LHCNP §7, as values and as the 12 octets that the figures give.
import { fromHex } from '../hex.ts';
import { type LongHaulCnp, METRIC } from './body.ts';

/** Step 4: level 180, Rate Reduce 30 percent, Queue Pair 100, queue depth 130 MB. */
export const REDUCE: LongHaulCnp = {
  level: 180,
  action: 'rate-reduce',
  parameter: 30,
  sourceQpn: 100,
  metric: { type: METRIC.queueDepthKb, value: 130_000 },
  objects: [],
};
export const REDUCE_BODY = fromHex('b480001e 00000064 0101fbd0');

/** Step 8: level 20, Resume 50 percent, Queue Pair 100, queue depth 30 MB. */
export const RESUME: LongHaulCnp = {
  ...REDUCE,
  level: 20,
  action: 'resume',
  parameter: 50,
  metric: { type: METRIC.queueDepthKb, value: 30_000 },
};
export const RESUME_BODY = fromHex('14c00032 00000064 01007530');

/** Class-Num of the objects: `long-haul-object-class`. */
export const OBJECT_CLASS = 247;
