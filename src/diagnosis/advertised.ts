// Whether declared prefixes are advertised, and whether any router receives them.
import type { Intent } from '../intent/intent.ts';
import type { Family } from '../model/address.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import type { BgpSessionState, IsisNeighborState, OspfNeighborState } from '../model/carrier-state.ts';
import type { Problem } from '../model/problem.ts';
import { advertisedByOthers, sendersWithoutForm } from '../plan/origination.ts';

/** The capacity of each carrier, and what increases it. */
const ROOM: Readonly<Record<CarrierName, readonly [reason: string, remedy: string]>> = {
  isis: ['the 255 IS-IS fragments of one system hold about 10,000', 'declare fewer, shorter prefixes'],
  ospfv2: [
    'OSPFv2 cannot advertise an IPv4 sender whose proxy has only an IPv6 address, or its LSAs are full',
    'give proxy.address an address of each family in cnpd.yaml; declare fewer, shorter prefixes',
  ],
  ospfv3: [
    'OSPFv3 cannot advertise an IPv6 sender whose proxy has only an IPv4 address, or its LSAs are full',
    'give proxy.address an address of each family in cnpd.yaml; declare fewer, shorter prefixes',
  ],
  bgp: [
    'a path in BGP needs a next hop of its own family, and has room for about 40 members of groups; ' +
      'what senders without a proxy understand needs a path for their prefix',
    'give router.loopback, or bgp.next-hop, an address of both families; set bgp.advertise: senders; ' +
      'declare members at more routers',
  ],
};

/**
 * Declared prefixes that are not advertised. If a carrier has no form for a prefix, it counts only when no other
 * carrier advertises it: the operator did not ask for it in every carrier.
 * @param origination of which the carrier has counted prefixes without a form, and prefixes that do not fit
 */
export function placementProblems(
  intent: Intent,
  origination: Origination,
  feature: CarrierName,
  counted: number,
): Problem[] {
  const unplaced = counted === 0 ? 0 : counted - advertisedByOthers(intent, origination, feature);
  if (unplaced <= 0) return [];
  const [reason, remedy] = ROOM[feature];
  const what = unplaced === 1 ? 'prefix or member of a group is' : 'prefixes or members of groups are';
  const problem = `${unplaced} ${what} not advertised: ${reason}`;
  return [{ code: 'carrier.prefixes-left-out', feature, problem, remedy }];
}

/**
 * Senders of a family that no carrier can advertise: no router will ever learn their proxy, or what they understand.
 * Having no carrier is intended and no problem. A carrier that lacks only a next hop or a proxy address of the family
 * counts such prefixes itself (placementProblems).
 */
export function carriageProblems(intent: Intent): Problem[] {
  const { isis, ospfv2, ospfv3, bgp } = intent;
  if (!isis && !ospfv2 && !ospfv3 && !bgp) return [];
  const features = new Map<Family, 'proxy' | 'source'>();
  for (const { prefix, proxy } of sendersWithoutForm(intent)) {
    const { family } = prefix.address;
    if (proxy || !features.has(family)) features.set(family, proxy ? 'proxy' : 'source');
  }
  return [...features].map(([family, feature]) => ({
    code: 'carrier.family-not-carried',
    feature,
    problem:
      `the IPv${family} senders under ${feature} are not advertised: OSPFv2 carries IPv4 senders, ` +
      'OSPFv3 IPv6 senders',
    remedy: `add ${family === 4 ? 'ospfv2' : 'ospfv3'} or isis to cnpd.yaml`,
  }));
}

/** A carrier, and whether it has a neighbor or peer if it reports that; undefined: it does not run. */
interface Hearers {
  readonly isis: { neighbors(): Pick<IsisNeighborState, 'state'>[] };
  readonly ospfv2: { neighbors(): Pick<OspfNeighborState, 'state' | 'takesOpaque'>[] };
  readonly ospfv3: Hearers['ospfv2'];
  readonly bgp: { session(): Pick<BgpSessionState, 'state'> };
}

type Slots = { readonly [N in CarrierName]: { readonly carrier: Hearers[N] | undefined } };

const lists = (carrier: Hearers['ospfv2']): boolean =>
  carrier.neighbors().some(({ state, takesOpaque }) => state === 'full' && takesOpaque !== false);

const HEARD: { readonly [N in CarrierName]: (carrier: Hearers[N]) => boolean } = {
  isis: (carrier) => carrier.neighbors().some(({ state }) => state === 'up'),
  ospfv2: lists,
  ospfv3: lists,
  bgp: (carrier) => carrier.session().state === 'ready',
};

/** Whether a neighbor or peer receives the carrier's advertisements. */
export function isHeard<N extends CarrierName>(slots: Slots, name: N): boolean {
  const carrier: Hearers[N] | undefined = slots[name].carrier;
  return carrier !== undefined && HEARD[name](carrier);
}
