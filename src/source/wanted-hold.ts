// What a slot is to be, of all effects that a machine has had for it so far. Pure: time comes with every call.
import type { HoldEffect } from './hold.ts';

/** One hold, from the effect `hold` until `free`: another one in the same slot is another object. */
export interface WantedHold<Subject> {
  readonly flow: Subject;
  /** bit/s. */
  rate: number;
  untilMs: number;
  leaving: boolean;
  pausedUntil: number | undefined;
}

/** Undefined: nothing is held. */
export function wantedAfter<Subject>(
  wanted: WantedHold<Subject> | undefined,
  effect: HoldEffect<Subject>,
  now: number,
): WantedHold<Subject> | undefined {
  if (effect.kind === 'hold') {
    const { flow, rate, untilMs } = effect;
    const hold = { rate, untilMs, leaving: false, pausedUntil: undefined };
    // What leaves is taken back: its packets in the class are still its own.
    return wanted?.leaving ? Object.assign(wanted, hold) : { flow, ...hold };
  }
  // Of a hold that was refused.
  if (!wanted) return undefined;
  switch (effect.kind) {
    case 'rate':
      return Object.assign(wanted, { rate: effect.rate });
    case 'pause':
      return Object.assign(wanted, { pausedUntil: now + effect.microseconds / 1000 });
    case 'resume':
      return Object.assign(wanted, { pausedUntil: undefined });
    case 'renew':
      return Object.assign(wanted, { untilMs: effect.untilMs });
    case 'leave':
      return Object.assign(wanted, { rate: effect.rate, leaving: true, pausedUntil: undefined });
    case 'free':
      return undefined;
  }
}
