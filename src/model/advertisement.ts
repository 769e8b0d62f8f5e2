// The kinds of advertisement, whatever the protocol (docs/explanation/architecture.md, "What each protocol carries"),
// and the carriers' reports. A new kind is a line in each of the two interfaces. The tables of kinds in the components
// then do not compile until they have its row (CONTRIBUTING.md).
import type { IpAddress } from './address.ts';
import type { GroupMember } from './group.ts';
import type { Prefix } from './prefix.ts';
import type { Understood } from './understood.ts';

export type CarrierName = 'isis' | 'ospfv2' | 'ospfv3' | 'bgp';

/** What a carrier is asked to advertise, by kind. */
export interface AdvertisementKinds {
  /**
   * "`proxy` is the congestion notification proxy for the senders in `prefix`" (PNC §5), and which notifications these
   * senders understand, or the router in front of them. At least one of the two.
   */
  'sender-prefix': {
    readonly prefix: Prefix;
    readonly proxy?: IpAddress | undefined;
    readonly supports?: Understood | undefined;
  };
  /**
   * An SRv6 SID of this router: END.CON (FCN §4.2.2), End.MT (RMC §6) or a replication SID. Carriers advertise the
   * locator that it belongs to; the routing daemon makes the locator reachable (docs/explanation/decisions.md).
   * `behavior` is an SRv6 Endpoint Behavior, 16 bits (RFC 8986 §10.2).
   */
  sid: { readonly sid: IpAddress; readonly locator: Prefix; readonly behavior: number };
  /** A loopback of this router, and whether its STAMP reflector answers there. */
  'router-address': { readonly address: IpAddress; readonly answersStamp: boolean };
  /** A receiver or the source of an End.MT group, behind this router (RMC §5.1). */
  'group-membership': GroupMember;
}

/** What a carrier reports for each kind. */
interface LearnedKinds {
  /** Flagged or not: an unflagged longest match means "no proxy" (decision D5). */
  'sender-prefix': {
    readonly prefix: Prefix;
    /** The Proxy Node Capability flag of this advertisement. */
    readonly pnc: boolean;
    /** Destination of the notice (decision D6). Absent if the flag is clear, or if no usable address was advertised. */
    readonly proxy?: IpAddress | undefined;
    readonly metric: number;
    /**
     * The routing protocol prefers another path of this prefix. This one is used only if the preferred path has no
     * proxy.
     */
    readonly second?: boolean;
    /** What it says that the senders understand. */
    readonly supports?: Understood | undefined;
  };
  sid: { readonly sid: IpAddress; readonly behavior: number };
  /**
   * The originator's router address (IS-IS TLVs 134 and 140, OSPF router addresses), a possible target of RTT probes.
   */
  'router-address': { readonly address: IpAddress };
  'group-membership': GroupMember;
}

export type AdvertisementKind = keyof AdvertisementKinds;

export type AdvertisementOf<K extends AdvertisementKind> = { readonly kind: K } & AdvertisementKinds[K];
export type Advertisement = { [K in AdvertisementKind]: AdvertisementOf<K> }[AdvertisementKind];

export type LearnedOf<K extends AdvertisementKind> = { readonly kind: K } & LearnedKinds[K];
export type LearnedAdvertisement = { [K in AdvertisementKind]: LearnedOf<K> }[AdvertisementKind];

/** Everything that this router advertises through a carrier. */
export type Origination = readonly Advertisement[];

/**
 * All advertisements of one source (an LSP fragment, an LSA, a BGP path). They replace the source's previous report; an
 * empty list withdraws it.
 */
export interface LearnedReport {
  readonly carrier: CarrierName;
  /** Unique in the carrier, e.g. `L2 0000.0000.0001.00-03`. */
  readonly source: string;
  /** The originating router, e.g. `L2 0000.0000.0001`. The entries are in force while it is reachable. */
  readonly originator: string;
  readonly advertisements: readonly LearnedAdvertisement[];
}

/**
 * The originators that the carrier can reach at present. Entries of others are held for the hold time, then dropped.
 */
export interface ReachabilityReport {
  readonly carrier: CarrierName;
  readonly reachable: ReadonlySet<string>;
}
