// Parameters of the programs' token buckets: rate per second and burst.

/**
 * The burst of a tenth of a second: flows that become congested together are all notified, and no second exceeds 1.1
 * times the rate.
 */
export const burstOf = (perSecond: number): number => Math.max(1, Math.ceil(perSecond / 10));

export const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * 1e6);
