// The state of our own LSP in one level: sequence numbers, refresh and what must be issued anew. How it is built is origination.ts.
import type { Originated, Placement } from './placement.ts';

export interface OwnFragment {
  /** The last sequence number used by us or seen from elsewhere; 0 when none. */
  sequence: number;
  issuedAt: number;
  live: boolean;
  refreshAt: number;
  /** The sequence number wraps: nothing may be issued before (ISO/IEC 10589 §7.3.16.1). */
  blockedUntil: number;
  /** The TLVs last issued, encoded, without authentication. */
  tlvs: Uint8Array | undefined;
}

export interface OwnLsps {
  placement: Placement;
  readonly fragments: Map<number, OwnFragment>;
  /** Fragments to look at; `true` issues them even when their contents are unchanged. */
  readonly dirty: Map<number, boolean>;
  issueAt: number;
  refreshAt: number;
  /** Prefixes and SIDs for which no fragment had room. */
  readonly homeless: Map<string, Originated>;
}

export const newOwnLsps = (placement: Placement): OwnLsps => ({
  placement,
  fragments: new Map(),
  dirty: new Map(),
  issueAt: Infinity,
  refreshAt: Infinity,
  homeless: new Map(),
});

export function ownFragment(own: OwnLsps, number: number): OwnFragment {
  let fragment = own.fragments.get(number);
  if (!fragment) {
    fragment = { sequence: 0, issuedAt: -Infinity, live: false, refreshAt: Infinity, blockedUntil: -Infinity, tlvs: undefined };
    own.fragments.set(number, fragment);
  }
  return fragment;
}

/** Marks a fragment for issuing no earlier than `at`. */
export function markDirty(own: OwnLsps, number: number, at: number, force = false): void {
  own.dirty.set(number, force || (own.dirty.get(number) ?? false));
  own.issueAt = Math.min(own.issueAt, at);
}
