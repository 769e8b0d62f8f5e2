// Rates as the programs keep them: a token bucket of so many a second, and how many may follow each other at once.

/**
 * A tenth of a second's worth: flows that become congested together are all notified, and no second sees more than 1.1
 * times the rate.
 */
export const burstOf = (perSecond: number): number => Math.max(1, Math.ceil(perSecond / 10));

export const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * 1e6);
