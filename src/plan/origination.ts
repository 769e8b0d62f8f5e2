// What the carriers are asked to advertise, out of the intent, and which of them can.
import type { Intent, SenderIntent } from '../intent/intent.ts';
import { type Family, formatAddress } from '../model/address.ts';
import type { AdvertisementKind, AdvertisementOf, CarrierName, Origination } from '../model/advertisement.ts';
import { sidAdvertisements } from './srv6.ts';
import type { Facts } from './facts.ts';
import { proxyAddressFor } from './proxy.ts';

const FAMILIES: readonly Family[] = [4, 6];

/** A SID that the kernel has refused is not advertised: what is sent to it would be lost. */
type Refused = Pick<Facts, 'refusedSids'>;

/** What this router advertises of each kind, in this order. */
const DECLARED: { readonly [K in AdvertisementKind]: (intent: Intent, facts: Refused) => AdvertisementOf<K>[] } = {
  /** One a sender prefix of its proxy (PNC-5-a). */
  'sender-prefix': ({ proxy }) =>
    (proxy?.senders ?? []).map(({ prefix }) => ({
      kind: 'sender-prefix',
      prefix,
      proxy: proxyAddressFor(proxy!, prefix.address.family),
    })),
  /** Its END.CON SIDs (FCN-4.2.2-a). */
  sid: (intent, facts) => sidAdvertisements(intent).filter(({ sid }) => !facts.refusedSids?.has(formatAddress(sid))),
  /** Its loopbacks; its STAMP reflector answers at all of them. */
  'router-address': ({ router, stamp }) =>
    [router.loopback4, router.loopback6]
      .filter((address) => address !== undefined)
      .map((address) => ({ kind: 'router-address', address, answersStamp: stamp?.reflector ?? false })),
};

export const originated = (intent: Intent, facts: Refused = {}): Origination =>
  Object.values(DECLARED).flatMap((declared): Origination => declared(intent, facts));

/**
 * Whether a carrier says something of sender prefixes of a family: `lacks` means that it would, had it what it needs,
 * and that it counts them.
 */
type Carriage = 'carries' | 'lacks' | 'none';

/** RFC 9084 can carry only a proxy address of its own family. */
const inOspf =
  (own: Family) =>
  ({ proxy }: Intent, family: Family): Carriage =>
    family !== own ? 'none' : proxy && proxyAddressFor(proxy, family).family === own ? 'carries' : 'lacks';

/** What each carrier has a place for (docs/architecture.md, "What each protocol carries"). */
const CARRIAGE: Readonly<Record<CarrierName, (intent: Intent, family: Family) => Carriage>> = {
  isis: () => 'carries',
  ospfv2: inOspf(4),
  ospfv3: inOspf(6),
  // A path needs a next hop of its own family; so does the host prefix that speaks for a proxy's senders.
  bgp: ({ bgp }, family) => ((family === 4 ? bgp?.nextHop4 : bgp?.nextHop6) ? 'carries' : 'lacks'),
};

const carriersThat = (what: Carriage, intent: Intent, family: Family): CarrierName[] =>
  (Object.keys(CARRIAGE) as CarrierName[]).filter((name) => intent[name] && CARRIAGE[name](intent, family) === what);

/** The carriers that run and have a place for sender prefixes of this family. */
export const carriersOf = (intent: Intent, family: Family): CarrierName[] => carriersThat('carries', intent, family);

/** Those that run, lack what they need for sender prefixes of this family, and count these themselves. */
export const carriersLacking = (intent: Intent, family: Family): CarrierName[] => carriersThat('lacks', intent, family);

/** How many sender prefixes this carrier cannot say and another does: nobody is missing them. */
export function carriedByOthers(intent: Intent, name: CarrierName): number {
  const excused = FAMILIES.filter(
    (family) => carriersLacking(intent, family).includes(name) && carriersOf(intent, family).length > 0,
  );
  return excused.length === 0
    ? 0
    : (intent.proxy?.senders.filter(({ prefix }) => excused.includes(prefix.address.family)).length ?? 0);
}

/** The carriers that advertise one of these senders. */
export function advertisedIn(intent: Intent, senders: readonly SenderIntent[]): CarrierName[] {
  const families = new Set(senders.map(({ prefix }) => prefix.address.family));
  return [...new Set([...families].flatMap((family) => carriersOf(intent, family)))].sort();
}
