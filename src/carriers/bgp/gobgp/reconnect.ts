// How long the client waits before it tries a gobgpd again: a pause that grows and is never quite the same, so that
// many cnpd do not fall upon a gobgpd that comes back at the same moment. Pure. Milliseconds.
export const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

export const nextPause = (pause: number): number => Math.min(pause * 2, LAST_PAUSE_MS);

/** Three quarters of the pause, up to five quarters. @param random 0 ≤ x < 1 */
export const withJitter = (pause: number, random: number): number => pause * (0.75 + random / 2);
