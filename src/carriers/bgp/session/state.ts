// The session with gobgpd, as the machine of content.ts sees it.
import type { Family } from '../../../model/address.ts';
import type { GobgpFaultCode } from '../../../model/gobgp-fault.ts';
import type { GobgpAbout } from '../gobgp/gobgp.ts';

export interface Session {
  state: 'connecting' | 'loading' | 'ready' | 'waiting';
  about: GobgpAbout | undefined;
  /** Families of which gobgpd has no table. */
  without: readonly Family[];
  since: number;
  reason: string;
  /** Meaningful while waiting. */
  fault: GobgpFaultCode;
  retryAt: number;
}

export const newSession = (now: number): Session => ({
  state: 'connecting',
  about: undefined,
  without: [],
  since: now,
  reason: 'not connected yet',
  fault: 'other',
  retryAt: now,
});
