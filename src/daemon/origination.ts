// What the carriers are asked to advertise, out of the intent, and which of them can.
import type { Intent } from '../intent/intent.ts';
import { type Family, formatAddress } from '../model/address.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import { sidAdvertisements } from '../plan/end-con.ts';
import type { Carriers } from './carriers.ts';

/**
 * What this router advertises: one entry a sender prefix of its proxy (PNC-5-a), its END.CON SIDs (FCN-4.2.2-a), where its STAMP reflector answers. A SID that the kernel
 * has refused is not advertised: what is sent to it would be lost. @param refused SIDs as text
 */
export function originated(intent: Intent, refused: ReadonlySet<string> = new Set()): Origination {
  const { proxy, stamp, router } = intent;
  const loopbacks = [router.loopback4, router.loopback6].filter((a) => a !== undefined);
  return {
    proxies: proxy ? proxy.senders.map(({ prefix }) => ({ prefix, proxy: proxy.address })) : [],
    sids: sidAdvertisements(intent).filter(({ sid }) => !refused.has(formatAddress(sid))),
    routerAddresses: stamp?.reflector ? loopbacks : [],
    identity: loopbacks,
  };
}

const FAMILIES: readonly Family[] = [4, 6];

/** The families of the sender prefixes that each carrier has a place for (docs/architecture.md, "What each protocol carries"). */
const CARRIES: Readonly<Record<CarrierName, (intent: Intent) => readonly Family[]>> = {
  isis: () => FAMILIES,
  ospfv2: () => [4],
  ospfv3: () => [6],
  // A path needs a next hop of its own family; so does the host prefix that speaks for a proxy's senders.
  bgp: ({ bgp }) => FAMILIES.filter((family) => (family === 4 ? bgp?.nextHop4 : bgp?.nextHop6) !== undefined),
};

/** The carriers that run and have a place for sender prefixes of this family. */
export const carriersOf = (intent: Intent, family: Family): CarrierName[] =>
  (Object.keys(CARRIES) as CarrierName[]).filter((name) => intent[name] && CARRIES[name](intent).includes(family));

/** Those that advertise some of the declared senders. */
export function advertisedIn(intent: Intent): CarrierName[] {
  const families = new Set(intent.proxy?.senders.map(({ prefix }) => prefix.address.family));
  return [...new Set([...families].flatMap((family) => carriersOf(intent, family)))].sort();
}

const tells = ({ carrier }: Pick<Carriers['ospfv2'], 'carrier'>): boolean => carrier?.neighbors().some(({ state, takesOpaque }) => state === 'full' && takesOpaque !== false) ?? false;

const HEARD: { readonly [N in CarrierName]: (slot: Pick<Carriers[N], 'carrier'>) => boolean } = {
  isis: ({ carrier }) => carrier?.neighbors().some(({ state }) => state === 'up') ?? false,
  ospfv2: tells,
  ospfv3: tells,
  bgp: ({ carrier }) => carrier?.session().state === 'ready',
};

/** Whether there is somebody who hears what the carrier advertises. */
export const isHeard = (carriers: Pick<Carriers, CarrierName>, name: CarrierName): boolean => (HEARD[name] as (slot: Carriers[CarrierName]) => boolean)(carriers[name]);
