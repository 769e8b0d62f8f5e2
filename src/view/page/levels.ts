// How deep a queue is, by the thresholds of its port.
import type { PortView } from '../model.ts';

export type Level = 'calm' | 'marking' | 'notifying';

export function levelOf({ queueBytes, kMin, kMax }: PortView): Level {
  if (kMax > 0 && queueBytes >= kMax) return 'notifying';
  return kMin > 0 && queueBytes >= kMin ? 'marking' : 'calm';
}

/** The depth that fills a gauge; what is deeper is cut off. */
export const gaugeTop = ({ kMin, kMax }: PortView): number => Math.max(1, 2 * kMax, 3 * kMin);
