// What the carriers advertise, from the intent, and which carriers can.
import type { Intent, SenderIntent } from '../intent/intent.ts';
import { type Family, formatAddress } from '../model/address.ts';
import type { AdvertisementKind, AdvertisementOf, CarrierName, Origination } from '../model/advertisement.ts';
import { covering, prefixKey } from '../model/prefix.ts';
import { sidAdvertisements } from './srv6.ts';
import { type Facts, missingFeatures } from './facts.ts';
import { proxyAddressFor } from './proxy.ts';

const FAMILIES: readonly Family[] = [4, 6];

/**
 * A SID that the kernel has refused is not advertised: packets to it would be lost. Neither is what senders understand,
 * where the kernel lacks what this router needs to act for them.
 */
type Known = Pick<Facts, 'refusedSids'> & Partial<Pick<Facts, 'features'>>;

/** This router's advertisements of each kind, in this order. */
const DECLARED: { readonly [K in AdvertisementKind]: (intent: Intent, facts: Known) => AdvertisementOf<K>[] } = {
  'sender-prefix': senderPrefixes,
  /** Its END.CON SIDs (FCN-4.2.2-a), and those for groups. */
  sid: (intent, facts) => sidAdvertisements(intent).filter(({ sid }) => !facts.refusedSids?.has(formatAddress(sid))),
  /** Its loopbacks. Its STAMP reflector answers at all of them. */
  'router-address': ({ router, stamp }) =>
    [router.loopback4, router.loopback6]
      .filter((address) => address !== undefined)
      .map((address) => ({ kind: 'router-address', address, answersStamp: stamp?.reflector ?? false })),
  /** Members of End.MT groups that this router declares (RMC-5.1-d). */
  'group-membership': ({ groups }) =>
    (groups ?? []).flatMap(({ members }) => members.map((member) => ({ kind: 'group-membership', ...member }))),
};

/**
 * One per sender prefix of its proxy (PNC-5-a), and of its source if that advertises what senders understand. The
 * longest match counts at the learner, so each says everything about its senders, also what is declared for a shorter
 * prefix.
 */
function senderPrefixes({ proxy, source }: Intent, facts: Known): AdvertisementOf<'sender-prefix'>[] {
  const proxied = proxy?.senders ?? [];
  const isAtWork = source?.advertise && missingFeatures('source', { features: facts.features ?? [] }).length === 0;
  const claimed = isAtWork ? source.senders : [];
  const [proxyOf, claimOf] = [covering(proxied), covering(claimed)];
  const declared = new Map([...proxied, ...claimed].map(({ prefix }) => [prefixKey(prefix), prefix]));
  return [...declared.values()].flatMap((prefix): AdvertisementOf<'sender-prefix'>[] => {
    const supports = claimOf(prefix)?.supports;
    const address = proxy && proxyOf(prefix) ? proxyAddressFor(proxy, prefix.address.family) : undefined;
    if (!address && !supports) return [];
    return [{ kind: 'sender-prefix', prefix, ...(address && { proxy: address }), ...(supports && { supports }) }];
  });
}

export const originated = (intent: Intent, facts: Known = {}): Origination =>
  Object.values(DECLARED).flatMap((declared): Origination => declared(intent, facts));

/**
 * Whether a carrier advertises sender prefixes of a family. `lacks`: the carrier lacks a setting for it, and counts
 * these prefixes.
 */
type Support = 'advertises' | 'lacks' | 'none';

/** An RFC 9084 advertisement holds only a proxy address of its own family. */
const inOspf =
  (own: Family) =>
  ({ proxy }: Intent, family: Family): Support =>
    family !== own ? 'none' : proxy && proxyAddressFor(proxy, family).family === own ? 'advertises' : 'lacks';

/** What each carrier can advertise (docs/architecture.md, "What each protocol carries"). */
const SUPPORT: Readonly<Record<CarrierName, (intent: Intent, family: Family) => Support>> = {
  isis: () => 'advertises',
  ospfv2: inOspf(4),
  ospfv3: inOspf(6),
  // A path needs a next hop of its own family; so does the host route that carries a proxy's senders.
  bgp: ({ bgp }, family) => ((family === 4 ? bgp?.nextHop4 : bgp?.nextHop6) ? 'advertises' : 'lacks'),
};

const carriersThat = (what: Support, intent: Intent, family: Family): CarrierName[] =>
  (Object.keys(SUPPORT) as CarrierName[]).filter((name) => intent[name] && SUPPORT[name](intent, family) === what);

/** The declared carriers that advertise sender prefixes of this family. */
export const carriersOf = (intent: Intent, family: Family): CarrierName[] => carriersThat('advertises', intent, family);

/**
 * The declared carriers that lack a setting for sender prefixes of this family. They count these prefixes themselves.
 */
export const carriersLacking = (intent: Intent, family: Family): CarrierName[] => carriersThat('lacks', intent, family);

/** Number of sender prefixes that this carrier cannot advertise but another does. They are no problem. */
export function advertisedByOthers(intent: Intent, name: CarrierName): number {
  const excused = FAMILIES.filter(
    (family) => carriersLacking(intent, family).includes(name) && carriersOf(intent, family).length > 0,
  );
  return excused.length === 0
    ? 0
    : (intent.proxy?.senders.filter(({ prefix }) => excused.includes(prefix.address.family)).length ?? 0);
}

/** The carriers that advertise at least one of these senders, sorted. */
export function advertisedIn(intent: Intent, senders: readonly SenderIntent[]): CarrierName[] {
  const families = new Set(senders.map(({ prefix }) => prefix.address.family));
  return [...new Set([...families].flatMap((family) => carriersOf(intent, family)))].sort();
}
