// SRv6 SIDs in TLV 27 (RFC 9352 §7), read and written. cnpd's locators are for signalling only, like its prefixes:
// metric 0xFE000001, so that nobody installs a route towards the veth on which cnpd speaks. That packets to the SID
// arrive is FRR's part (frr-configs/srv6-pe.conf): it advertises the SID's own route as an ordinary prefix, and a
// prefix comes before a locator (RFC 9352 §7.1).
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { AdvertisementKinds } from '../../../model/advertisement.ts';
import { type Prefix, prefixContains, samePrefix } from '../../../model/prefix.ts';
import { prefixBytes } from '../../../packet/bytes.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import { LOCATOR_DOWN, LOCATOR_FIXED } from '../../../packet/isis/tlv/srv6-locator.ts';
import type { Locator, PrefixSubTlv, SourceRouterId, Srv6Locator } from '../../../packet/isis/types.ts';
import { FOREIGN_TOPOLOGIES, SIGNALLING_METRIC } from '../constants.ts';
import type { EntryAttributes } from './entries.ts';

/** One End SID with what its locator says. */
export interface SidEntry extends EntryAttributes {
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly locator: Prefix;
  readonly algorithm: number;
}

/** A SID as we originate it: always with the signalling metric. */
export interface OriginatedSid extends Omit<SidEntry, 'metric'> {
  readonly key: string;
}

const END_SID_TYPE = 5;
/** Sub-TLV 5 without sub-sub-TLVs. */
const END_SID_SIZE = 22;
/** Of a TLV 27, behind its topology. */
const TLV_CAPACITY = 253;

export const sidKey = (sid: IpAddress): string => `sid:${sid.value.toString(32)}`;

/**
 * A SID that is not from its locator MUST be ignored (RFC 9352 §7.2); one that is no host's address could not be
 * answered to.
 */
function unusable(sid: IpAddress, locator: Prefix): Pick<DecodeError, 'code' | 'detail'> | undefined {
  if (!prefixContains(locator, sid))
    return { code: 'sid-outside-locator', detail: 'an End SID that is not from its locator' };
  return isUnicastHost(sid) ? undefined : { code: 'sid-not-unicast', detail: "an End SID that is no host's address" };
}

/**
 * Files the End SIDs of these behaviours by their key; of one that is listed twice the first counts. `report` hears of
 * those that are to be ignored.
 */
export function readSids(
  tlv: Srv6Locator,
  behaviors: readonly number[],
  into: Map<string, SidEntry>,
  report: (subType: number, error: DecodeError) => void,
): void {
  if (FOREIGN_TOPOLOGIES.has(tlv.mtId)) return;
  for (const locator of tlv.locators) {
    for (const subTlv of locator.subTlvs) {
      if (subTlv.kind !== 'srv6-end-sid' || !behaviors.includes(subTlv.behavior)) continue;
      const bad = unusable(subTlv.sid, locator.prefix);
      const key = sidKey(subTlv.sid);
      if (bad) report(END_SID_TYPE, { ...bad, offset: 0 });
      else if (!into.has(key)) into.set(key, entryOf(locator, subTlv.sid, subTlv.behavior));
    }
  }
}

function entryOf(locator: Locator, sid: IpAddress, behavior: number): SidEntry {
  const flags = locator.subTlvs.find((t) => t.kind === 'prefix-attribute-flags')?.flags ?? new Uint8Array();
  const source = (kind: SourceRouterId['kind']): IpAddress | undefined =>
    locator.subTlvs.find((t): t is SourceRouterId => t.kind === kind)?.address;
  const [source4, source6] = [source('ipv4-source-router-id'), source('ipv6-source-router-id')];
  return {
    sid,
    behavior,
    locator: locator.prefix,
    algorithm: locator.algorithm,
    metric: locator.metric,
    down: (locator.flags & LOCATOR_DOWN) !== 0,
    // Views of the LSP, which is let go.
    flags: flags.slice(),
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
}

/**
 * What we declare ourselves. Undefined for what may not be advertised: a SID outside its locator, a locator without
 * length (which makes FRR drop the LSP).
 */
export function declaredSid({ sid, locator, behavior }: AdvertisementKinds['sid']): OriginatedSid | undefined {
  if (sid.family !== 6 || locator.address.family !== 6 || locator.length === 0 || unusable(sid, locator))
    return undefined;
  return { key: sidKey(sid), sid, behavior, locator, algorithm: 0, down: false, flags: new Uint8Array() };
}

/** Encoded bytes of a SID as the only one of its locator: at most what it takes. */
export function sidSize(p: OriginatedSid): number {
  const flags = p.flags.length > 0 ? 2 + p.flags.length : 0;
  return (
    LOCATOR_FIXED +
    prefixBytes(p.locator.length) +
    1 +
    flags +
    (p.source4 ? 6 : 0) +
    (p.source6 ? 18 : 0) +
    END_SID_SIZE
  );
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

export const sameSid = (a: OriginatedSid, b: OriginatedSid): boolean => a.behavior === b.behavior && sameLocator(a, b);

const sameLocator = (a: OriginatedSid, b: OriginatedSid): boolean =>
  samePrefix(a.locator, b.locator) &&
  a.algorithm === b.algorithm &&
  a.down === b.down &&
  sameBytes(a.flags, b.flags) &&
  a.source4?.value === b.source4?.value &&
  a.source6?.value === b.source6?.value;

/**
 * One TLV a locator with as many of its SIDs as fit, though a TLV may hold several locators: there are decoders that
 * read only the first (tshark 4.0).
 */
export function locatorTlvs(sids: readonly OriginatedSid[], mtId: number): Srv6Locator[] {
  const groups: OriginatedSid[][] = [];
  for (const p of sids) {
    const group = groups.find(
      ([first, ...others]) =>
        sameLocator(first!, p) && sidSize(first!) + (others.length + 1) * END_SID_SIZE <= TLV_CAPACITY,
    );
    if (group) group.push(p);
    else groups.push([p]);
  }
  return groups.map((group) => ({ kind: 'srv6-locator', mtId, locators: [locator(group)] }));
}

function locator(sids: readonly OriginatedSid[]): Locator {
  const [{ locator: prefix, algorithm, down, flags, source4, source6 }] = sids as [OriginatedSid];
  const subTlvs: PrefixSubTlv[] = [];
  if (flags.length > 0) subTlvs.push({ kind: 'prefix-attribute-flags', flags });
  if (source4) subTlvs.push({ kind: 'ipv4-source-router-id', address: source4 });
  if (source6) subTlvs.push({ kind: 'ipv6-source-router-id', address: source6 });
  for (const { sid, behavior } of sids)
    subTlvs.push({ kind: 'srv6-end-sid', flags: 0, behavior, sid, subSubTlvs: new Uint8Array() });
  return { prefix, metric: SIGNALLING_METRIC, flags: down ? LOCATOR_DOWN : 0, algorithm, subTlvs };
}
