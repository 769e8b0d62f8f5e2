// Bodies of LSAs as values (RFC 2328 §A.4, RFC 5340 §A.4, RFC 7684, 7770, 8362, 9084, 9513, 9792). This file has only
// types; the files beside it encode and decode them. Metrics and flags are as on the wire; parts without a type remain
// bytes.
import type { IpAddress } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';

export interface UnknownTlv {
  readonly kind: 'unknown';
  readonly type: number;
  readonly value: Uint8Array;
}

// --- Topology --------------------------------------------------------------------------------------------------------

/**
 * The far end of an OSPFv2 router's link: 1 another router, 2 a transit network, 3 a stub network, 4 a virtual link.
 */
export interface RouterLinkV2 {
  readonly type: number;
  /** Neighbor's router ID, address of the designated router, or network, by type. */
  readonly linkId: number;
  /** Our interface's address or number, or the network's mask, by type. */
  readonly linkData: number;
  readonly metric: number;
  /** Metrics per type of service (RFC 2328 §12.4), 4 bytes each; cnpd does not read them. */
  readonly tosMetrics: Uint8Array;
}

/** OSPFv2 type 1. */
export interface RouterLsaV2 {
  readonly kind: 'router-v2';
  readonly flags: number;
  readonly links: readonly RouterLinkV2[];
}

/** OSPFv2 type 2. */
export interface NetworkLsaV2 {
  readonly kind: 'network-v2';
  readonly mask: number;
  readonly attachedRouters: readonly number[];
}

/** Types as in OSPFv2 except stub networks: prefixes have separate LSAs. */
export interface RouterLinkV3 {
  readonly type: number;
  readonly metric: number;
  readonly interfaceId: number;
  readonly neighborInterfaceId: number;
  readonly neighborRouterId: number;
}

/** OSPFv3 function 1. */
export interface RouterLsaV3 {
  readonly kind: 'router-v3';
  readonly flags: number;
  readonly options: number;
  readonly links: readonly RouterLinkV3[];
}

/** OSPFv3 function 2. */
export interface NetworkLsaV3 {
  readonly kind: 'network-v3';
  readonly options: number;
  readonly attachedRouters: readonly number[];
}

/** OSPFv3 TLV 1 (RFC 8362 §3.2). */
export interface ExtendedRouterLink extends RouterLinkV3 {
  readonly kind: 'router-link-tlv';
  /** Sub-TLVs, kept as bytes. */
  readonly subTlvs: Uint8Array;
}

/** OSPFv3 function 33: a Router-LSA with TLVs (RFC 8362 §4.1). FRR has none. */
export interface ERouterLsa {
  readonly kind: 'e-router';
  readonly flags: number;
  readonly options: number;
  readonly tlvs: readonly (ExtendedRouterLink | UnknownTlv)[];
}

/** OSPFv3 TLV 2 (RFC 8362 §3.3). */
export interface AttachedRouters {
  readonly kind: 'attached-routers-tlv';
  readonly routers: readonly number[];
}

/** OSPFv3 function 34: a Network-LSA with TLVs (RFC 8362 §4.2). FRR has none. */
export interface ENetworkLsa {
  readonly kind: 'e-network';
  readonly options: number;
  readonly tlvs: readonly (AttachedRouters | UnknownTlv)[];
}

/** OSPFv3 function 8, link scope: our link-local address, without which neighbors have no next hop. */
export interface LinkLsa {
  readonly kind: 'link';
  readonly priority: number;
  readonly options: number;
  readonly linkLocalAddress: IpAddress;
  readonly prefixes: readonly { readonly prefix: Prefix; readonly options: number }[];
}

/** OSPFv3 function 9. */
export interface IntraAreaPrefixLsa {
  readonly kind: 'intra-area-prefix';
  readonly referenced: Referenced;
  readonly prefixes: readonly { readonly prefix: Prefix; readonly options: number; readonly metric: number }[];
}

/** The Router- or Network-LSA that prefixes belong to. */
export interface Referenced {
  readonly type: number;
  readonly lsId: number;
  readonly advertisingRouter: number;
}

// --- Prefixes with sub-TLVs ------------------------------------------------------------------------------------------

/** A bit string of whole 32-bit words, bit 0 the most significant (RFC 9792). See packet/bit-string.ts. */
export interface PrefixExtendedFlags {
  readonly kind: 'prefix-extended-flags';
  readonly flags: Uint8Array;
}

/** RFC 9084 §2.1. */
export interface SourceRouterId {
  readonly kind: 'source-router-id';
  readonly routerId: number;
}

/** RFC 9084 §2.2: IPv4 in OSPFv2, IPv6 in OSPFv3. */
export interface SourceRouterAddress {
  readonly kind: 'source-router-address';
  readonly address: IpAddress;
}

export type PrefixSubTlv = PrefixExtendedFlags | SourceRouterId | SourceRouterAddress | UnknownTlv;

/** OSPFv2 Extended Prefix TLV (RFC 7684 §2.1). */
export interface ExtendedPrefix {
  readonly kind: 'extended-prefix';
  readonly routeType: number;
  readonly flags: number;
  readonly prefix: Prefix;
  readonly subTlvs: readonly PrefixSubTlv[];
}

/** OSPFv2 opaque type 7. */
export interface ExtendedPrefixLsa {
  readonly kind: 'extended-prefix-lsa';
  readonly tlvs: readonly (ExtendedPrefix | UnknownTlv)[];
}

/** OSPFv3 TLVs 3, 5 and 6 (RFC 8362 §3.4, §3.6, §3.7). */
export interface ExtendedLsaPrefix {
  readonly kind: 'inter-area-prefix-tlv' | 'external-prefix-tlv' | 'intra-area-prefix-tlv';
  /** First byte: the E-bit 0x04 of an external prefix, else 0. */
  readonly flags: number;
  /** 24 bits. */
  readonly metric: number;
  readonly prefixOptions: number;
  readonly prefix: Prefix;
  readonly subTlvs: readonly PrefixSubTlv[];
}

/** OSPFv3 function 35. */
export interface EInterAreaPrefixLsa {
  readonly kind: 'e-inter-area-prefix';
  readonly tlvs: readonly (ExtendedLsaPrefix | UnknownTlv)[];
}

/** OSPFv3 function 37. */
export interface EAsExternalLsa {
  readonly kind: 'e-as-external';
  readonly tlvs: readonly (ExtendedLsaPrefix | UnknownTlv)[];
}

/** OSPFv3 function 41. */
export interface EIntraAreaPrefixLsa {
  readonly kind: 'e-intra-area-prefix';
  readonly referenced: Referenced;
  readonly tlvs: readonly (ExtendedLsaPrefix | UnknownTlv)[];
}

// --- SRv6 (RFC 9513) -------------------------------------------------------------------------------------------------

/** Lengths in bits of the parts of a SID. */
export interface SidStructure {
  readonly kind: 'sid-structure';
  readonly locatorBlock: number;
  readonly locatorNode: number;
  readonly function: number;
  readonly argument: number;
}

export interface EndSid {
  readonly kind: 'end-sid';
  readonly flags: number;
  /** SRv6 Endpoint Behavior, 16 bits (RFC 8986 §10.2). */
  readonly behavior: number;
  readonly sid: IpAddress;
  readonly subTlvs: readonly (SidStructure | UnknownTlv)[];
}

export interface Srv6Locator {
  readonly kind: 'srv6-locator';
  readonly routeType: number;
  readonly algorithm: number;
  readonly prefixOptions: number;
  /** 32 bits. */
  readonly metric: number;
  readonly locator: Prefix;
  readonly subTlvs: readonly (EndSid | UnknownTlv)[];
}

/** OSPFv3 function 42. */
export interface Srv6LocatorLsa {
  readonly kind: 'srv6-locator-lsa';
  readonly tlvs: readonly (Srv6Locator | UnknownTlv)[];
}

// --- Of the router ---------------------------------------------------------------------------------------------------

/** RFC 7770 §2.4: a bit string of whole words. */
export interface InformationalCapabilities {
  readonly kind: 'informational-capabilities';
  readonly flags: Uint8Array;
}

/** RFC 5642. Printable ASCII only, because names are shown in logs and tables. */
export interface Hostname {
  readonly kind: 'hostname';
  readonly name: string;
}

/** RFC 9513 §2. Sub-TLVs are kept as bytes. */
export interface Srv6Capabilities {
  readonly kind: 'srv6-capabilities';
  readonly flags: number;
  readonly subTlvs: Uint8Array;
}

export type RouterInformationTlv = InformationalCapabilities | Hostname | Srv6Capabilities | UnknownTlv;

/** OSPFv2 opaque type 4, OSPFv3 function 12 (RFC 7770). */
export interface RouterInformationLsa {
  readonly kind: 'router-information';
  readonly tlvs: readonly RouterInformationTlv[];
}

/** A stable address of the router (RFC 3630 §2.4.1; RFC 5329 §3). */
export interface TeRouterAddress {
  readonly kind: 'te-router-address';
  readonly address: IpAddress;
}

/** OSPFv2 opaque type 1, OSPFv3 function 10. Links are kept as unknown TLVs. */
export interface TrafficEngineeringLsa {
  readonly kind: 'traffic-engineering-v2' | 'traffic-engineering-v3';
  readonly tlvs: readonly (TeRouterAddress | UnknownTlv)[];
}

/** OSPFv2 opaque type 240, OSPFv3 function 8184, by default: cnpd's own LSA. */
export interface PrivateLsa {
  readonly kind: 'private';
  /** As encoded by packet/sid-container.ts. */
  readonly container: Uint8Array;
}

/** An LSA of a type without a codec. */
interface UnknownBody {
  readonly kind: 'unknown';
  readonly content: Uint8Array;
}

export type LsaBody =
  | RouterLsaV2
  | NetworkLsaV2
  | RouterLsaV3
  | NetworkLsaV3
  | ERouterLsa
  | ENetworkLsa
  | LinkLsa
  | IntraAreaPrefixLsa
  | ExtendedPrefixLsa
  | EInterAreaPrefixLsa
  | EAsExternalLsa
  | EIntraAreaPrefixLsa
  | Srv6LocatorLsa
  | RouterInformationLsa
  | TrafficEngineeringLsa
  | PrivateLsa
  | UnknownBody;
