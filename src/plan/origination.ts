// What the carriers advertise, from the intent, and which carriers can.
import type { Intent, SenderIntent } from '../intent/intent.ts';
import { type Family, type IpAddress, formatAddress } from '../model/address.ts';
import type { AdvertisementKind, AdvertisementOf, CarrierName, Origination } from '../model/advertisement.ts';
import { covering, prefixKey } from '../model/prefix.ts';
import { sidAdvertisements } from './srv6.ts';
import type { Facts } from './facts.ts';
import { proxyAddressFor } from './proxy.ts';

const FAMILIES: readonly Family[] = [4, 6];

type SenderPrefix = AdvertisementOf<'sender-prefix'>;

/** What of the intent is not at work. By default all is. */
interface Known extends Pick<Facts, 'refusedSids'> {
  /** Whether notifications for hosts are taken anywhere (takesForHosts). */
  readonly takesForHosts?: boolean;
}

/** This router's advertisements of each kind, in this order. */
const DECLARED: { readonly [K in AdvertisementKind]: (intent: Intent, known: Known) => AdvertisementOf<K>[] } = {
  'sender-prefix': senderPrefixes,
  /**
   * Its END.CON SIDs (FCN-4.2.2-a), and those for groups. One that the kernel has refused is not advertised: packets to
   * it would be lost.
   */
  sid: (intent, { refusedSids }) =>
    sidAdvertisements(intent).filter(({ sid }) => !refusedSids?.has(formatAddress(sid))),
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
 * One per sender prefix of its proxy (PNC-5-a), and of its source if that advertises what senders understand: while no
 * notification is taken, none of them is said to. The longest match counts at the learner, so each says everything
 * about its senders, also what is declared for a shorter prefix.
 */
function senderPrefixes({ proxy, source }: Intent, { takesForHosts = true }: Known): SenderPrefix[] {
  const proxied = proxy?.senders ?? [];
  const claimed = source?.advertise && takesForHosts ? source.senders : [];
  const [proxyOf, claimOf] = [covering(proxied), covering(claimed)];
  const declared = new Map([...proxied, ...claimed].map(({ prefix }) => [prefixKey(prefix), prefix]));
  return [...declared.values()].flatMap((prefix): SenderPrefix[] => {
    const supports = claimOf(prefix)?.supports;
    const address = proxy && proxyOf(prefix) ? proxyAddressFor(proxy, prefix.address.family) : undefined;
    if (!address && !supports) return [];
    return [{ kind: 'sender-prefix', prefix, ...(address && { proxy: address }), ...(supports && { supports }) }];
  });
}

export const originated = (intent: Intent, known: Known = {}): Origination =>
  Object.values(DECLARED).flatMap((declared): Origination => declared(intent, known));

const sendersIn = (origination: Origination): SenderPrefix[] =>
  origination.filter((one) => one.kind === 'sender-prefix');

/** By carrier: of which families it has a form for sender prefixes (docs/explanation/architecture.md). */
const FORMS: Readonly<Record<CarrierName, readonly Family[]>> = {
  isis: [4, 6],
  ospfv2: [4],
  ospfv3: [6],
  bgp: [4, 6],
};
const NAMES = Object.keys(FORMS) as CarrierName[];

/** An RFC 9084 advertisement holds only a proxy address of its own family. */
const inOspf = (_: Intent, { prefix, proxy }: SenderPrefix): boolean =>
  !proxy || proxy.family === prefix.address.family;

/** By carrier: whether it can advertise all that is said of a sender prefix of which it has a form. */
const WHOLE: Readonly<Record<CarrierName, (intent: Intent, entry: SenderPrefix) => boolean>> = {
  isis: () => true,
  ospfv2: inOspf,
  ospfv3: inOspf,
  // A path needs a next hop of its own family; so does the host route that carries a proxy's senders. What senders
  // understand, without a proxy, needs a path for their prefix.
  bgp: ({ bgp }, { prefix, proxy }) =>
    (prefix.address.family === 4 ? bgp?.nextHop4 : bgp?.nextHop6) !== undefined &&
    (proxy !== undefined || bgp?.advertise !== 'proxy-host'),
};

const withForm = (intent: Intent, family: Family): CarrierName[] =>
  NAMES.filter((name) => intent[name] && FORMS[name].includes(family));

const carriersOf = (intent: Intent, entry: SenderPrefix): CarrierName[] =>
  withForm(intent, entry.prefix.address.family).filter((name) => WHOLE[name](intent, entry));

/** Number of sender prefixes that this carrier cannot advertise but another does. They are no problem. */
export const advertisedByOthers = (intent: Intent, origination: Origination, name: CarrierName): number =>
  sendersIn(origination).filter((entry) => {
    const lacks = FORMS[name].includes(entry.prefix.address.family) && !WHOLE[name](intent, entry);
    return lacks && carriersOf(intent, entry).length > 0;
  }).length;

/**
 * The sender prefixes for which no declared carrier has a form. Those for which one only lacks a setting are not among
 * them: it counts these itself.
 */
export function sendersWithoutForm(intent: Intent): SenderPrefix[] {
  const without = FAMILIES.filter((family) => withForm(intent, family).length === 0);
  if (without.length === 0) return [];
  return sendersIn(originated(intent)).filter(({ prefix }) => without.includes(prefix.address.family));
}

/** The carriers that advertise at least one of these senders with their proxy, sorted. */
export function advertisedIn(intent: Intent, proxy: IpAddress, senders: readonly SenderIntent[]): CarrierName[] {
  const byFamily = new Map(senders.map(({ prefix }) => [prefix.address.family, prefix]));
  const carriers = [...byFamily.values()].flatMap((prefix) =>
    carriersOf(intent, { kind: 'sender-prefix', prefix, proxy }),
  );
  return [...new Set(carriers)].sort();
}
