// The state of our own LSAs in an area: the desired LSAs, those issued, and those to be issued again (own.ts).
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { type Contest, newContest } from '../../contest.ts';
import type { OwnLsa } from '../version.ts';

interface Issue extends Contest {
  /** Last used by us, or received from an earlier run; undefined: none. */
  sequence: number | undefined;
  issuedAt: number;
  /** When it is issued again although it has not changed, or forgotten if it is not desired. */
  refreshAt: number;
}

export const newIssue = (sequence: number | undefined): Issue => ({
  sequence,
  issuedAt: -Infinity,
  refreshAt: Infinity,
  ...newContest(),
});

export interface OwnState {
  /** By key: what the content originates, and our place in the topology. */
  readonly desired: Map<string, OwnLsa>;
  topology: Map<string, OwnLsa>;
  /** The remaining steps of the latest desired set, which is being compared with the previous one. */
  takingOver: Iterator<void> | undefined;
  readonly issued: Map<string, Issue>;
  /** Keys to handle, and when; `force` issues even an unchanged LSA. */
  readonly dirty: Map<string, { at: number; force: boolean }>;
  issueAt: number;
  refreshAt: number;
  /**
   * When we begin to flush LSAs under our name that we do not originate: not before the first declaration, or they
   * would flap at a restart.
   */
  flushUnknownFrom: number;
  /** When one of our LSAs was last outbid repeatedly, by another router that has our router ID. */
  contestedAt: number;
}

export const newOwnState = (): OwnState => ({
  desired: new Map(),
  topology: new Map(),
  takingOver: undefined,
  issued: new Map(),
  dirty: new Map(),
  issueAt: Infinity,
  refreshAt: Infinity,
  flushUnknownFrom: Infinity,
  contestedAt: -Infinity,
});

interface Owning {
  readonly own: OwnState;
}

export const ownKey = (s: { readonly config: { readonly routerId: number } }, { type, lsId }: OwnLsa): LsaKey => ({
  type,
  lsId,
  advertisingRouter: s.config.routerId,
});

export const desiredNow = ({ own }: Owning, key: string): OwnLsa | undefined =>
  own.topology.get(key) ?? own.desired.get(key);

/** Whether we originate it. Such an LSA is stored even without headroom: a forged one must be outbid. */
export const isDesired = (area: Owning, key: string): boolean => desiredNow(area, key) !== undefined;

export function markDirty(own: OwnState, key: string, at: number, force = false): void {
  const before = own.dirty.get(key);
  own.dirty.set(key, { at: Math.min(at, before?.at ?? Infinity), force: force || (before?.force ?? false) });
  own.issueAt = Math.min(own.issueAt, at);
}
