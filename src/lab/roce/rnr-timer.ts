// How long a requester waits after an RNR NAK (InfiniBand vol. 1 §9.7.5.2.8, table 45).

/** Milliseconds, by the timer code of the AETH. */
export const RNR_TIMER_MS: readonly number[] = [
  655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
  7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
];
