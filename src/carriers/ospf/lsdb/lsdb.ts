// The link-state database of one area: LSAs by type, link-state ID and advertising router, and which of two instances
// is newer (RFC 2328 §13.1). flooding.ts decides what follows from that. Link-scope LSAs of the area's only link are
// stored here as well.
import { copyOf } from '../../../packet/bytes.ts';
import { setAge } from '../../../packet/ospf/lsa-header.ts';
import { DO_NOT_AGE, MAX_AGE } from '../../../packet/ospf/numbers.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { Lsa, LsaHeader } from '../../../packet/ospf/types.ts';
import { type Headroom, hasHeadroomFor, newHeadroom } from '../../headroom.ts';
import { LSDB_SHARE, MAX_AGE_DIFF_SECONDS, SWEEP_MS, TRANSMIT_DELAY_SECONDS } from '../constants.ts';

export interface StoredLsa extends Lsa {
  readonly key: string;
  readonly own: boolean;
  /** `age` is the age at that time. */
  readonly installedAt: number;
  /** Installed by flooding, not by us: MinLSArrival is measured from then. */
  readonly flooded: boolean;
  /** When this instance was last sent in answer to an older one (RFC 2328 §13 step 8). */
  answeredAt: number;
}

export interface Lsdb extends Headroom {
  readonly byKey: Map<string, StoredLsa>;
  /**
   * The next pass: when an LSA may have reached MaxAge or may be removed, but no sooner than SWEEP_MS after the last
   * pass.
   */
  sweepAt: number;
  sweptAt: number;
  /** The LSAs that the running pass has yet to examine. */
  pass: Iterator<StoredLsa> | undefined;
}

export const newLsdb = (limit: number): Lsdb => ({
  ...newHeadroom(limit, limit * LSDB_SHARE),
  byKey: new Map(),
  sweepAt: Infinity,
  sweptAt: -Infinity,
  pass: undefined,
});

/** The fields that decide which of two instances is newer. */
export type Instance = Pick<LsaHeader, 'sequence' | 'checksum' | 'age'>;
export type Relation = 'newer' | 'same' | 'older';

const seconds = (age: number): number => Math.min(age & ~DO_NOT_AGE, MAX_AGE);

/** Whether an LSA was received or stored with age MaxAge. */
export const atEnd = ({ age }: Pick<LsaHeader, 'age'>): boolean => seconds(age) === MAX_AGE;

/** How `a` relates to `b` (RFC 2328 §13.1). */
export function compareInstances(a: Instance, b: Instance): Relation {
  if (a.sequence !== b.sequence) return a.sequence > b.sequence ? 'newer' : 'older';
  if (a.checksum !== b.checksum) return a.checksum > b.checksum ? 'newer' : 'older';
  if (atEnd(a) !== atEnd(b)) return atEnd(a) ? 'newer' : 'older';
  const [ageA, ageB] = [seconds(a.age), seconds(b.age)];
  if (Math.abs(ageA - ageB) > MAX_AGE_DIFF_SECONDS) return ageA < ageB ? 'newer' : 'older';
  return 'same';
}

/** Seconds, at most MaxAge. */
export function ageOf(lsa: StoredLsa, now: number): number {
  if (lsa.age & DO_NOT_AGE) return seconds(lsa.age);
  return Math.min(MAX_AGE, seconds(lsa.age) + Math.floor((now - lsa.installedAt) / 1000));
}

export const isMaxAge = (lsa: StoredLsa, now: number): boolean => ageOf(lsa, now) >= MAX_AGE;

/** When it reaches MaxAge; Infinity with DoNotAge. */
export function maxAgeAt(lsa: StoredLsa): number {
  if (lsa.age & DO_NOT_AGE && !atEnd(lsa)) return Infinity;
  return lsa.installedAt + (MAX_AGE - seconds(lsa.age)) * 1000;
}

/** Its header with its present age. */
export function headerOf(lsa: StoredLsa, now: number): LsaHeader {
  const { options, type, lsId, advertisingRouter, sequence, checksum, length } = lsa;
  return {
    age: ageOf(lsa, now) | (lsa.age & DO_NOT_AGE),
    options,
    type,
    lsId,
    advertisingRouter,
    sequence,
    checksum,
    length,
  };
}

/** A copy to be sent, aged by InfTransDelay. */
export function forSending(lsa: StoredLsa, now: number): Lsa {
  const raw = copyOf(lsa.raw);
  const age = Math.min(MAX_AGE, ageOf(lsa, now) + TRANSMIT_DELAY_SECONDS) | (lsa.age & DO_NOT_AGE);
  setAge(raw, age);
  return { ...headerOf(lsa, now), age, raw };
}

/** Schedules a pass over the database at `at`, or as soon as possible after it. */
export function sweepBy(db: Lsdb, at: number): void {
  db.sweepAt = Math.min(db.sweepAt, Math.max(at, db.sweptAt + SWEEP_MS));
}

/**
 * Whether there is headroom for an LSA that replaces the stored one, if any.
 * @param length bytes
 * @param coming other LSAs that have been requested
 */
export const hasHeadroom = (db: Lsdb, length: number, stored: StoredLsa | undefined, coming = 0): boolean =>
  hasHeadroomFor(db, length, db.byKey.size + coming, stored?.length);

/** Stores a copy. @returns what was stored under the same key before */
export function put(
  db: Lsdb,
  lsa: Lsa,
  own: boolean,
  now: number,
  flooded: boolean,
): { readonly old: StoredLsa | undefined; readonly stored: StoredLsa } {
  const key = lsaKeyText(lsa);
  const old = db.byKey.get(key);
  const stored: StoredLsa = {
    ...lsa,
    raw: copyOf(lsa.raw),
    key,
    own,
    installedAt: now,
    flooded,
    answeredAt: -Infinity,
  };
  db.byKey.set(key, stored);
  db.bytes += stored.raw.length - (old?.raw.length ?? 0);
  sweepBy(db, maxAgeAt(stored));
  return { old, stored };
}

export function remove(db: Lsdb, lsa: StoredLsa): void {
  if (db.byKey.delete(lsa.key)) db.bytes -= lsa.raw.length;
}
