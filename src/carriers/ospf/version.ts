// The differences between OSPFv2 and OSPFv3 in the shared core: options, which LSAs may be offered to which neighbor,
// authentication, and the LSAs that describe this router's place in the topology. Everything else in this folder serves
// both versions.
import { type IpAddress, address } from '../../model/address.ts';
import type { LsaBody } from '../../packet/ospf/lsa/types.ts';
import { TYPE_V2, TYPE_V3, isOpaque, lsaScope } from '../../packet/ospf/lsa-type.ts';
import { MAX_LINK_METRIC, OPTION_V2, OPTION_V3, type Version } from '../../packet/ospf/numbers.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';

/** An LSA of this router: its key and body. The core adds sequence number and age. */
export interface OwnLsa {
  readonly type: number;
  readonly lsId: number;
  readonly body: LsaBody;
}

/** This router's end of the link of one area, and the Full neighbor, if any. */
export interface Place {
  readonly routerId: number;
  readonly address: IpAddress;
  readonly interfaceId: number;
  readonly neighbor: { readonly routerId: number; readonly interfaceId: number } | undefined;
}

export interface OspfVersion {
  readonly version: Version;
  /** Prefix of counters, and the carrier's name. */
  readonly name: 'ospfv2' | 'ospfv3';
  /** AllSPFRouters: the destination of all packets on a point-to-point link (RFC 2328 §8.1). */
  readonly destination: IpAddress;
  /** Bytes of the IP header before a packet. */
  readonly ipHeader: number;
  /** Options of hellos. @param authenticated whether packets have a trailer, which hellos announce */
  helloOptions(authenticated: boolean): number;
  /** Options of Database Descriptions. */
  exchangeOptions(authenticated: boolean): number;
  /** Bits in which the hellos of both ends must agree (RFC 2328 §10.5). */
  readonly agreedOptions: number;
  /** Options in the header of our own LSAs. */
  readonly lsaOptions: number;
  /** Whether a neighbor whose Database Descriptions have these options accepts LSAs of this type. */
  offers(type: number, neighborOptions: number): boolean;
  /** Whether a neighbor with these options accepts the LSAs that cnpd advertises. */
  takesOurs(neighborOptions: number): boolean;
  /** Whether an LSA of this type has a known scope; others are discarded (RFC 2328 §13 step 2). */
  knows(type: number): boolean;
  /**
   * The LSAs that describe this router's place in the topology. It is a stub router without transit traffic (RFC 6987;
   * RFC 5340 §2.7, R-bit clear).
   */
  topology(place: Place): OwnLsa[];
}

/**
 * Opaque LSAs are sent only to neighbors that set the O-bit in their Database Descriptions. An ospfd without
 * `capability opaque` restarts the exchange at each of them, without end.
 */
const takesOpaque = (options: number): boolean => (options & OPTION_V2.opaque) !== 0;

export const OSPFV2: OspfVersion = {
  version: 2,
  name: 'ospfv2',
  destination: address('224.0.0.5'),
  ipHeader: 20,
  helloOptions: () => OPTION_V2.external,
  exchangeOptions: () => OPTION_V2.external | OPTION_V2.opaque,
  agreedOptions: OPTION_V2.external | OPTION_V2.nssa,
  lsaOptions: OPTION_V2.external | OPTION_V2.opaque,
  offers: (type, options) => !isOpaque(type) || takesOpaque(options),
  takesOurs: takesOpaque,
  knows: (type) => lsaScope(2, type) !== 'unknown',
  topology: ({ routerId, address: own, neighbor }) => {
    const link = neighbor && {
      type: 1,
      linkId: neighbor.routerId,
      linkData: Number(own.value),
      metric: MAX_LINK_METRIC,
      tosMetrics: new Uint8Array(),
    };
    return [{ type: TYPE_V2.router, lsId: routerId, body: { kind: 'router-v2', flags: 0, links: link ? [link] : [] } }];
  },
};

const STUB_OPTIONS_V3 = OPTION_V3.v6 | OPTION_V3.external;

export const OSPFV3: OspfVersion = {
  version: 3,
  name: 'ospfv3',
  destination: address('ff02::5'),
  ipHeader: 40,
  helloOptions: (authenticated) => STUB_OPTIONS_V3 | (authenticated ? OPTION_V3.authenticationTrailer : 0),
  exchangeOptions: (authenticated) => STUB_OPTIONS_V3 | (authenticated ? OPTION_V3.authenticationTrailer : 0),
  agreedOptions: OPTION_V3.external | OPTION_V3.nssa,
  lsaOptions: 0,
  offers: () => true,
  takesOurs: () => true,
  knows: (type) => lsaScope(3, type) !== 'unknown',
  topology: ({ address: own, interfaceId, neighbor }) => {
    const link = neighbor && {
      type: 1,
      metric: MAX_LINK_METRIC,
      interfaceId,
      neighborInterfaceId: neighbor.interfaceId,
      neighborRouterId: neighbor.routerId,
    };
    return [
      {
        type: TYPE_V3.router,
        lsId: 0,
        body: { kind: 'router-v3', flags: 0, options: STUB_OPTIONS_V3, links: link ? [link] : [] },
      },
      {
        type: TYPE_V3.link,
        lsId: interfaceId,
        body: { kind: 'link', priority: 0, options: STUB_OPTIONS_V3, linkLocalAddress: own, prefixes: [] },
      },
    ];
  },
};

/** Whether this router originated the LSA. */
export const isOwn = (routerId: number, { advertisingRouter }: LsaKey): boolean => advertisingRouter === routerId;
