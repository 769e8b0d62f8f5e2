// Existing IANA assignments of the values that a code point may take, by registry, as of 2026: hosts and routers would
// mistake that value for its assigned meaning. Experimental and private-use values, which include the defaults, and
// unassigned ones are not here.
import { CODE_POINTS, type CodePointName, type CodePointValues } from './code-points.ts';

/** First and last value, and their assignment. */
type Assignment = readonly [first: number, last: number, use: string];

interface Registry {
  /** Its name at IANA, or in the draft that requests it. */
  readonly name: string;
  readonly assigned: readonly Assignment[];
}

const UDP_PORTS: Registry = {
  name: 'IANA Service Name and Transport Protocol Port Number Registry',
  // Of the user ports those that routers and RoCEv2 networks use.
  assigned: [
    [53, 53, 'DNS'],
    [67, 68, 'DHCP'],
    [123, 123, 'NTP'],
    [161, 162, 'SNMP'],
    [179, 179, 'BGP'],
    [319, 320, 'PTP'],
    [500, 500, 'IKE'],
    [514, 514, 'syslog'],
    [520, 521, 'RIP'],
    [546, 547, 'DHCPv6'],
    [646, 646, 'LDP'],
    [862, 862, 'STAMP and TWAMP'],
    [1023, 1023, 'reserved (RFC 6335)'],
    [1, 1020, 'a system port'],
    [1645, 1646, 'RADIUS'],
    [1701, 1701, 'L2TP'],
    [1812, 1813, 'RADIUS'],
    [1985, 1985, 'HSRP'],
    [2049, 2049, 'NFS'],
    [2123, 2123, 'GTP-C'],
    [2152, 2152, 'GTP-U'],
    [3503, 3503, 'MPLS ping'],
    [3544, 3544, 'Teredo'],
    [3784, 3785, 'BFD'],
    [4500, 4500, 'IPsec through NAT'],
    [4739, 4740, 'IPFIX'],
    [4754, 4755, 'GRE-in-UDP'],
    [4784, 4784, 'multihop BFD'],
    [4789, 4789, 'VXLAN'],
    [4790, 4790, 'VXLAN-GPE'],
    [4791, 4791, 'RoCEv2'],
    [5060, 5061, 'SIP'],
    [5246, 5247, 'CAPWAP'],
    [5353, 5353, 'mDNS'],
    [5355, 5355, 'LLMNR'],
    [6080, 6080, 'GUE'],
    [6081, 6081, 'Geneve'],
    [6343, 6343, 'sFlow'],
    [6635, 6636, 'MPLS-in-UDP'],
    [6784, 6784, 'BFD on LAGs'],
    [7784, 7784, 'seamless BFD'],
    [8472, 8472, 'OTV, and VXLAN of Linux'],
    [1700, 1700, 'RADIUS dynamic authorization'],
    [2029, 2029, 'HSRP over IPv6'],
    [2055, 2055, 'NetFlow'],
    [3799, 3799, 'RADIUS dynamic authorization'],
    [4011, 4011, 'PXE'],
    [9995, 9996, 'NetFlow'],
  ],
};

/** RFC 4443, and all that has been added to it. */
const ICMPV6_TYPES: Registry = {
  name: 'IANA ICMPv6 "type" Numbers',
  assigned: [
    [128, 129, 'Echo'],
    [130, 132, 'Multicast Listener Discovery'],
    [133, 133, 'Router Solicitation'],
    [134, 134, 'Router Advertisement'],
    [135, 135, 'Neighbor Solicitation'],
    [136, 136, 'Neighbor Advertisement'],
    [137, 137, 'Redirect'],
    [138, 138, 'Router Renumbering'],
    [139, 140, 'Node Information'],
    [141, 142, 'Inverse Neighbor Discovery'],
    [143, 143, 'Multicast Listener Discovery version 2'],
    [144, 147, 'Mobile IPv6'],
    [148, 149, 'Certification Path (SEND)'],
    [150, 150, 'experimental mobility protocols'],
    [151, 153, 'Multicast Router Discovery'],
    [154, 154, 'FMIPv6'],
    [155, 155, 'RPL'],
    [156, 156, 'ILNPv6'],
    [157, 158, 'Duplicate Address of 6LoWPAN'],
    [159, 159, 'MPL'],
    [160, 161, 'Extended Echo'],
    [255, 255, 'reserved for expansion'],
  ],
};

const IPV6_OPTIONS: Registry = {
  name: 'IANA Destination Options and Hop-by-Hop Options',
  assigned: [
    [0x8a, 0x8a, 'Endpoint Identification'],
    [0x8b, 0x8b, 'ILNP Nonce'],
    [0x8c, 0x8c, 'Line-Identification'],
  ],
};

const CHARACTERISTICS: Registry = {
  name: 'BGP Next Hop Dependent Characteristic Codes, draft-ietf-idr-nhc',
  assigned: [
    [1, 1, 'ELCv3'],
    [2, 2, 'NNHN'],
    [3, 3, 'BGP identifier'],
  ],
};

const ENDPOINT_BEHAVIORS: Registry = {
  name: 'IANA SRv6 Endpoint Behaviors',
  assigned: [
    [1, 36, 'End, End.X, End.T, End.DX, End.DT, End.B6 and End.BM with their flavors'],
    [37, 150, 'later endpoint behaviors'],
    [34_816, 65_534, 'reserved'],
  ],
};

/** Of those that do not change on the way. */
const SRH_TLVS: Registry = {
  name: 'IANA Segment Routing Header TLVs',
  assigned: [
    [1, 3, 'reserved'],
    [4, 4, 'PadN'],
    [5, 5, 'HMAC'],
    [6, 6, 'reserved'],
    [127, 127, 'reserved'],
  ],
};

const REGISTRIES: Readonly<Record<CodePointName, Registry>> = {
  'pnc-udp-port': UDP_PORTS,
  'arn-udp-port': UDP_PORTS,
  'isis-pnc-flag-bit': {
    name: 'IANA IS-IS Bit Values for Prefix Attribute Flags Sub-TLV',
    assigned: [
      [0, 0, 'X'],
      [1, 1, 'R'],
      [2, 2, 'N'],
      [3, 3, 'E'],
      [4, 4, 'A'],
      [5, 5, 'U, unreachable'],
      [6, 6, 'UP, unreachable and planned'],
    ],
  },
  'ospfv2-pnc-flag-bit': {
    name: 'IANA OSPFv2 Prefix Extended Flags',
    assigned: [
      [0, 0, 'U, unreachable'],
      [1, 1, 'UP, unreachable and planned'],
    ],
  },
  'ospfv3-pnc-flag-bit': {
    name: 'IANA OSPFv3 Prefix Extended Flags',
    assigned: [
      [0, 0, 'U, unreachable'],
      [1, 1, 'UP, unreachable and planned'],
    ],
  },
  'bgp-pnc-characteristic': CHARACTERISTICS,
  'bgp-private-characteristic': CHARACTERISTICS,
  'bgp-supports-characteristic': CHARACTERISTICS,
  'isis-supports-sub-tlv': {
    name: 'IANA IS-IS Sub-TLVs for TLVs Advertising Prefix Reachability',
    assigned: [
      [1, 2, 'Administrative Tag'],
      [3, 3, 'Prefix Segment Identifier'],
      [4, 4, 'Prefix Attribute Flags'],
      [5, 5, 'SRv6 End SID'],
      [6, 6, 'Flexible Algorithm Prefix Metric'],
      [11, 12, 'Source Router ID'],
      [32, 32, 'BIER Information'],
    ],
  },
  // The file allows only types for experiments.
  'ospfv2-supports-sub-tlv': { name: 'IANA OSPFv2 Extended Prefix TLV Sub-TLVs', assigned: [] },
  'ospfv3-supports-sub-tlv': { name: 'IANA OSPFv3 Extended-LSA Sub-TLVs', assigned: [] },
  // The file allows only private-use types.
  'ospfv2-private-opaque-type': { name: 'IANA OSPF Opaque Link-State Advertisements Option Types', assigned: [] },
  'ospfv3-private-function': { name: 'IANA OSPFv3 LSA Function Codes', assigned: [[8191, 8191, 'reserved']] },
  'fast-cnp-option': IPV6_OPTIONS,
  'fast-cnp-ioam-option': IPV6_OPTIONS,
  'long-haul-icmpv6-type': ICMPV6_TYPES,
  'long-haul-object-class': {
    name: 'IANA ICMP Extension Object Classes and Class Sub-types',
    assigned: [
      [1, 1, 'MPLS Label Stack'],
      [2, 2, 'Interface Information'],
      [3, 3, 'Interface Identification'],
      [4, 4, 'Extended Information'],
      [5, 5, 'Node Identification'],
    ],
  },
  'end-con-behavior': ENDPOINT_BEHAVIORS,
  'end-mt-behavior': ENDPOINT_BEHAVIORS,
  'replication-behavior': ENDPOINT_BEHAVIORS,
  'isis-group-application': {
    name: 'IANA IS-IS Generic Information TLV Application Identifiers',
    assigned: [[1, 1, 'TRILL']],
  },
  'srh-end-mt-tlv': SRH_TLVS,
  'srh-tree-tlv': SRH_TLVS,
};

/** The port of STAMP, as the other user of each port that is a code point. */
export const besideStamp = (port: number): { like: CodePointName; value: number; use: string }[] =>
  CODE_POINTS.filter(({ name }) => REGISTRIES[name] === UDP_PORTS).map(({ name }) => ({
    ...{ like: name, value: port, use: 'stamp.port' },
  }));

/** The consequence of a value with another meaning: for messages that are sent, and for advertisements. */
const DROPPED: ReadonlySet<CodePointName> = new Set([
  'pnc-udp-port',
  'arn-udp-port',
  'fast-cnp-option',
  'fast-cnp-ioam-option',
  'long-haul-icmpv6-type',
]);
export function consequenceOf(name: CodePointName): string {
  if (DROPPED.has(name)) return "other systems mistake cnpd's messages for that, and border ports drop that as cnpd's";
  if (name === 'srh-end-mt-tlv' || name === 'srh-tree-tlv')
    return "other routers mistake the TLVs in cnpd's packets for that, and cnpd mistakes theirs for its own";
  if (name === 'long-haul-object-class') return "other systems mistake the objects in cnpd's messages for that";
  return "other routers mistake cnpd's advertisements for that, and cnpd mistakes theirs for its own";
}

/** STAMP's own port is not a conflict. */
export const STAMP_PORT = 862;

/** The assignment of the port that STAMP was given, with the registry; undefined: none, or STAMP. */
export function collisionOfStamp(port: number): string | undefined {
  if (port === STAMP_PORT) return undefined;
  const assigned = assignmentOf(UDP_PORTS, port);
  return assigned && `${assigned[2]} (${UDP_PORTS.name})`;
}
export const STAMP_CONSEQUENCE =
  "other systems receive cnpd's probes there, and cnpd's reflector receives their packets";

const assignmentOf = (registry: Registry, value: number): Assignment | undefined =>
  registry.assigned.find(([first, last]) => value >= first && value <= last);

/** These two share a value by default: their options differ in length. */
const MAY_BE_EQUAL: ReadonlySet<CodePointName> = new Set(['fast-cnp-option', 'fast-cnp-ioam-option']);

interface Collision {
  readonly name: CodePointName;
  readonly value: number;
  /** `value` is …: its assignment, with the registry. */
  readonly with: string;
}

/**
 * The values that are assigned already.
 * @param others numbers of the same registries that are declared elsewhere, with their use
 */
export function collisions(
  values: Readonly<Partial<CodePointValues>>,
  others: readonly { readonly like: CodePointName; readonly value: number; readonly use: string }[] = [],
): Collision[] {
  const found: Collision[] = [];
  for (const { name } of CODE_POINTS) {
    const value = values[name];
    if (value === undefined) continue;
    const registry = REGISTRIES[name];
    const assigned = assignmentOf(registry, value);
    if (assigned) found.push({ name, value, with: `${assigned[2]} (${registry.name})` });
    for (const other of CODE_POINTS) {
      if (other.name === name) break;
      const equal =
        REGISTRIES[other.name] === registry &&
        values[other.name] === value &&
        !(MAY_BE_EQUAL.has(name) && MAY_BE_EQUAL.has(other.name));
      if (equal) found.push({ name, value, with: `code-points.${other.name} already (${registry.name})` });
    }
    for (const other of others)
      if (other.like === name && other.value === value)
        found.push({ name, value, with: `${other.use} already (${registry.name})` });
  }
  return found;
}
