// What the network carries for cnpd, whatever the protocol (docs/architecture.md, "What each protocol carries"), by
// kind, and what a carrier reports of it. A new kind is a line in each of the two interfaces; the tables of kinds, one
// in each component that knows them, then do not compile until they have its row (CONTRIBUTING.md).
import type { IpAddress } from './address.ts';
import type { Prefix } from './prefix.ts';

export type CarrierName = 'isis' | 'ospfv2' | 'ospfv3' | 'bgp';

/** What we ask a carrier to advertise. */
export interface AdvertisementKinds {
  /** "`proxy` is the congestion notification proxy for the senders in `prefix`" (PNC §5). */
  'sender-prefix': { readonly prefix: Prefix; readonly proxy: IpAddress };
  /**
   * An SRv6 SID of this router: END.CON (FCN §4.2.2). Carriers say which locator it belongs to; that packets get there
   * is for the routing daemon beside (docs/decisions.md). The behaviour is an SRv6 Endpoint Behavior, 16 bits (RFC 8986
   * §10.2).
   */
  sid: { readonly sid: IpAddress; readonly locator: Prefix; readonly behavior: number };
  /** A loopback of this router, and whether its STAMP reflector answers there. */
  'router-address': { readonly address: IpAddress; readonly answersStamp: boolean };
}

/** What a carrier learns of each kind. */
interface LearnedKinds {
  /** Flagged or not: an unflagged longest match means "no proxy" (decision D5). */
  'sender-prefix': {
    readonly prefix: Prefix;
    /** The Proxy Node Capability flag of this advertisement. */
    readonly pnc: boolean;
    /**
     * Where the notice goes (decision D6). Absent when the flag is clear, or set but no usable address was advertised.
     */
    readonly proxy?: IpAddress | undefined;
    readonly metric: number;
    /** The routing protocol prefers another path of this prefix: it counts only where that one names no proxy. */
    readonly second?: boolean;
  };
  sid: { readonly sid: IpAddress; readonly behavior: number };
  /** By which the originator is known (IS-IS TLVs 134 and 140, OSPF router addresses): where RTT probes may go. */
  'router-address': { readonly address: IpAddress };
}

export type AdvertisementKind = keyof AdvertisementKinds;

export type AdvertisementOf<K extends AdvertisementKind> = { readonly kind: K } & AdvertisementKinds[K];
export type Advertisement = { [K in AdvertisementKind]: AdvertisementOf<K> }[AdvertisementKind];

export type LearnedOf<K extends AdvertisementKind> = { readonly kind: K } & LearnedKinds[K];
export type LearnedAdvertisement = { [K in AdvertisementKind]: LearnedOf<K> }[AdvertisementKind];

/** Everything that this router advertises through a carrier. */
export type Origination = readonly Advertisement[];

/**
 * All that one source (an LSP fragment, an LSA, a BGP path) advertises now. It replaces what the same source advertised
 * before, and an empty list withdraws it.
 */
export interface LearnedReport {
  readonly carrier: CarrierName;
  /** Unique in the carrier, e.g. `L2 0000.0000.0001.00-03`. */
  readonly source: string;
  /** The router that vouches for it, e.g. `L2 0000.0000.0001`; its reachability decides whether the entries count. */
  readonly originator: string;
  readonly advertisements: readonly LearnedAdvertisement[];
}

/** Which originators the carrier can reach at present. Those absent are held for the hold time, then dropped. */
export interface ReachabilityReport {
  readonly carrier: CarrierName;
  readonly reachable: ReadonlySet<string>;
}
