// A narrow port, as a router is given one: a TBF as its root qdisc, whose queue cnpd reads.

interface TokenBucket {
  /** `change` fails where there is none; what is queued stays queued. */
  readonly verb?: 'replace' | 'change';
  readonly rate?: string;
  /** In bytes. */
  readonly burst?: number;
  /** Bytes that the queue holds. */
  readonly limit?: number;
}

/** The command line. */
export const tokenBucket = (
  device: string,
  { verb = 'replace', rate = '20mbit', burst = 3000, limit = 400_000 }: TokenBucket = {},
): string[] => `tc qdisc ${verb} dev ${device} root tbf rate ${rate} burst ${burst} limit ${limit}`.split(' ');
