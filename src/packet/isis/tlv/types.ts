// TLVs of IS-IS as values (ISO/IEC 10589; RFC 5305, 5308, 5120, 5303, 5304, 6232, 6823, 7794, 7981, 9352). The files
// beside this one encode and decode them. Times are seconds, metrics as on the wire, byte strings network order.
import type { IpAddress } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { LspId } from '../lsp-id.ts';

interface UnknownTlv {
  readonly kind: 'unknown';
  readonly type: number;
  readonly value: Uint8Array;
}

/** TLV 1: area addresses, each 1..20 bytes. */
export interface AreaAddresses {
  readonly kind: 'area-addresses';
  readonly areas: readonly Uint8Array[];
}

/** TLV 8, sent as zeros. */
export interface Padding {
  readonly kind: 'padding';
  readonly length: number;
}

export interface LspEntry {
  readonly remainingLifetime: number;
  readonly lspId: LspId;
  readonly sequence: number;
  readonly checksum: number;
}

/** TLV 9: the entries of a CSNP or PSNP; at most 15 per TLV. */
export interface LspEntries {
  readonly kind: 'lsp-entries';
  readonly entries: readonly LspEntry[];
}

/** TLV 10. Types: 1 cleartext, 54 HMAC-MD5, 3 RFC 5310. Signing and verifying are auth.ts. */
export interface Authentication {
  readonly kind: 'authentication';
  readonly authType: number;
  readonly value: Uint8Array;
}

/** TLV 13 (RFC 6232): who purged, and from whom it had received the LSP. */
export interface PurgeOriginator {
  readonly kind: 'purge-originator';
  readonly originator: Uint8Array;
  readonly receivedFrom?: Uint8Array;
}

export interface IsNeighbor {
  readonly systemId: Uint8Array;
  readonly pseudonode: number;
  readonly metric: number;
  /** Kept as bytes: nothing here needs the traffic-engineering sub-TLVs. */
  readonly subTlvs: Uint8Array;
}

/** TLV 22. */
export interface ExtendedIsReachability {
  readonly kind: 'extended-is-reachability';
  readonly neighbors: readonly IsNeighbor[];
}

/** TLV 222: TLV 22 in a topology of its own. */
export interface MtIsReachability {
  readonly kind: 'mt-is-reachability';
  readonly mtId: number;
  readonly neighbors: readonly IsNeighbor[];
}

export interface Locator {
  readonly prefix: Prefix;
  readonly metric: number;
  /** 0x80: the up/down bit D. */
  readonly flags: number;
  readonly algorithm: number;
  readonly subTlvs: readonly PrefixSubTlv[];
}

/** TLV 27 (RFC 9352 §7.1). */
export interface Srv6Locator {
  readonly kind: 'srv6-locator';
  readonly mtId: number;
  readonly locators: readonly Locator[];
}

/** TLV 129: NLPIDs, 0xCC for IPv4, 0x8E for IPv6. */
export interface ProtocolsSupported {
  readonly kind: 'protocols-supported';
  readonly nlpids: readonly number[];
}

/** TLVs 132 and 232; of IPv6, only link-local addresses in hellos. */
export interface InterfaceAddresses {
  readonly kind: 'ipv4-interface-addresses' | 'ipv6-interface-addresses';
  readonly addresses: readonly IpAddress[];
}

/** TLVs 134 and 140. */
export interface TeRouterId {
  readonly kind: 'ipv4-te-router-id' | 'ipv6-te-router-id';
  readonly address: IpAddress;
}

export interface PrefixReachability {
  readonly prefix: Prefix;
  readonly metric: number;
  /** The up/down bit: leaked from level 2 down into level 1. */
  readonly down: boolean;
  /** The X bit of TLVs 236/237; always false in 135/235, which have none. */
  readonly external: boolean;
  readonly subTlvs: readonly PrefixSubTlv[];
}

/** TLVs 135 and 236. */
export interface IpReachability {
  readonly kind: 'ipv4-reachability' | 'ipv6-reachability';
  readonly prefixes: readonly PrefixReachability[];
}

/** TLVs 235 and 237. A receiver MUST ignore them when mtId is 0 (RFC 5120 §7.4). */
export interface MtIpReachability {
  readonly kind: 'mt-ipv4-reachability' | 'mt-ipv6-reachability';
  readonly mtId: number;
  readonly prefixes: readonly PrefixReachability[];
}

/** TLV 137: printable ASCII; anything else is a bad TLV, because names end up in logs and tables. */
export interface Hostname {
  readonly kind: 'hostname';
  readonly name: string;
}

interface Topology {
  readonly id: number;
  readonly overload: boolean;
  readonly attached: boolean;
}

/** TLV 229. */
export interface MultiTopology {
  readonly kind: 'multi-topology';
  readonly topologies: readonly Topology[];
}

export type ThreeWayState = 'up' | 'initializing' | 'down';

/** TLV 240 (RFC 5303). FRR accepts it only with a circuit ID and with both neighbor fields or none. */
export interface ThreeWayAdjacency {
  readonly kind: 'three-way-adjacency';
  readonly state: ThreeWayState;
  readonly circuitId?: number;
  readonly neighborSystemId?: Uint8Array;
  readonly neighborCircuitId?: number;
}

/** TLV 242 (RFC 7981), its sub-TLVs kept as bytes. */
export interface RouterCapability {
  readonly kind: 'router-capability';
  readonly routerId: IpAddress;
  /** 0x01 S (flood in the whole domain), 0x02 D (leaked down). */
  readonly flags: number;
  readonly subTlvs: Uint8Array;
}

/** TLV 251 (RFC 6823): information of an application, which the routing protocol only carries. */
export interface GenInfo {
  readonly kind: 'geninfo';
  readonly applicationId: number;
  /** S: belongs to the whole domain, so that it is leaked between levels. */
  readonly domainWide: boolean;
  /** D: leaked from level 2 to level 1, from where it must not return. */
  readonly down: boolean;
  /** Flags whose meaning is not known, as received. */
  readonly otherFlags: number;
  readonly ipv4?: IpAddress;
  readonly ipv6?: IpAddress;
  readonly info: Uint8Array;
}

export type IsisTlv =
  | UnknownTlv
  | AreaAddresses
  | Padding
  | LspEntries
  | Authentication
  | PurgeOriginator
  | ExtendedIsReachability
  | MtIsReachability
  | Srv6Locator
  | ProtocolsSupported
  | InterfaceAddresses
  | TeRouterId
  | IpReachability
  | MtIpReachability
  | Hostname
  | MultiTopology
  | ThreeWayAdjacency
  | RouterCapability
  | GenInfo;

/**
 * Sub-TLV 4 (RFC 7794): a bit string of any length, bit 0 the most significant bit of the first byte. See
 * attribute-flags.ts.
 */
export interface PrefixAttributeFlags {
  readonly kind: 'prefix-attribute-flags';
  readonly flags: Uint8Array;
}

/** Sub-TLVs 11 and 12. */
export interface SourceRouterId {
  readonly kind: 'ipv4-source-router-id' | 'ipv6-source-router-id';
  readonly address: IpAddress;
}

interface UnknownSubTlv {
  readonly kind: 'unknown';
  readonly type: number;
  readonly value: Uint8Array;
}

/** Sub-TLV 5, only in TLV 27 (RFC 9352 §7.2). */
export interface Srv6EndSid {
  readonly kind: 'srv6-end-sid';
  readonly flags: number;
  /** SRv6 Endpoint Behavior (RFC 8986 §10.2). */
  readonly behavior: number;
  readonly sid: IpAddress;
  /**
   * Sub-sub-TLVs, of which 1 is the SID Structure (RFC 9352 §9): checked, and kept as bytes, for nothing here needs
   * them.
   */
  readonly subSubTlvs: Uint8Array;
}

export type PrefixSubTlv = PrefixAttributeFlags | SourceRouterId | Srv6EndSid | UnknownSubTlv;
