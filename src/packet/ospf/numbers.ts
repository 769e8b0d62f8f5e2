// Numbers from the OSPF registries. Types of LSAs, TLVs and sub-TLVs are in the rows of their codecs (lsa.ts, lsa/,
// prefix-sub-tlvs.ts).

/** The two protocols: OSPFv2 routes IPv4 (RFC 2328), OSPFv3 IPv6 (RFC 5340). */
export type Version = 2 | 3;

/** IP protocol of both. */
export const OSPF_PROTOCOL = 89;

/** Options of OSPFv2 hellos, Database Descriptions and LSA headers (RFC 2328 §A.2; O: RFC 5250; L: RFC 5613). */
export const OPTION_V2 = {
  external: 0x02,
  multicast: 0x04,
  nssa: 0x08,
  lls: 0x10,
  demandCircuits: 0x20,
  opaque: 0x40,
} as const;

/**
 * Options of OSPFv3, 24 bits (RFC 5340 §A.2; AF: RFC 5838; L: RFC 5613; AT: RFC 7166). A clear R-bit means no transit
 * through this router.
 */
export const OPTION_V3 = {
  v6: 0x000001,
  external: 0x000002,
  nssa: 0x000008,
  router: 0x000010,
  demandCircuits: 0x000020,
  addressFamilies: 0x000100,
  lls: 0x000200,
  authenticationTrailer: 0x000400,
} as const;

/** Metric of links that must not be used for transit (RFC 6987). */
export const MAX_LINK_METRIC = 0xffff;

/** Types of the links of a Router-LSA (RFC 2328 §A.4.2; RFC 5340 §A.4.3, which has no stubs). */
export const LINK_TYPE = { pointToPoint: 1, transit: 2, stub: 3, virtual: 4 } as const;

/** Flags of an Extended Prefix TLV (RFC 7684 §2.1). */
export const EXTENDED_PREFIX_FLAG = { attach: 0x80, node: 0x40 } as const;

/** Route types of RFC 7684 §2.1 and RFC 9513 §7.1. */
export const ROUTE_TYPE = { unspecified: 0, intraArea: 1, interArea: 3, asExternal: 5, nssaExternal: 7 } as const;

/** PrefixOptions (RFC 5340 §A.4.1.1; N: RFC 8362 §3.1). */
export const PREFIX_OPTION = { noUnicast: 0x01, localAddress: 0x02, propagate: 0x08, down: 0x10, node: 0x20 } as const;

/** LS sequence numbers are signed: from −0x7fffffff (0x80000001) up. −0x80000000 is reserved (RFC 2328 §12.1.6). */
export const INITIAL_SEQUENCE = -0x7fffffff;
export const MAX_SEQUENCE = 0x7fffffff;

/** Seconds. An LSA of this age is being flushed (RFC 2328 §14). */
export const MAX_AGE = 3600;

/** Set in an age that does not increase (RFC 1793 §2.2). */
export const DO_NOT_AGE = 0x8000;
