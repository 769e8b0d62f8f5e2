// Every code point that the drafts leave unassigned, with cnpd's default and its reason. Each can be overridden under
// `code-points:` in cnpd.yaml and is shown by `cnpctl show codepoints`. Defaults are from the experimental ranges that
// RFC 4727 and others reserve.

interface CodePoint {
  readonly name: CodePointName;
  readonly description: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** The origin of the default and why it is safe. */
  readonly source: string;
}

export type CodePointName =
  | 'pnc-udp-port'
  | 'arn-udp-port'
  | 'isis-pnc-flag-bit'
  | 'ospfv2-pnc-flag-bit'
  | 'ospfv3-pnc-flag-bit'
  | 'bgp-pnc-characteristic'
  | 'bgp-private-characteristic'
  | 'isis-supports-sub-tlv'
  | 'ospfv2-supports-sub-tlv'
  | 'ospfv3-supports-sub-tlv'
  | 'bgp-supports-characteristic'
  | 'ospfv2-private-opaque-type'
  | 'ospfv3-private-function'
  | 'fast-cnp-option'
  | 'fast-cnp-ioam-option'
  | 'long-haul-icmpv6-type'
  | 'long-haul-object-class'
  | 'end-con-behavior'
  | 'end-mt-behavior'
  | 'replication-behavior'
  | 'isis-group-application'
  | 'srh-end-mt-tlv'
  | 'srh-tree-tlv';

export const CODE_POINTS: readonly CodePoint[] = [
  {
    name: 'pnc-udp-port',
    description: 'UDP destination port of the Congestion Notification to Proxy message',
    default: 1021,
    min: 1,
    max: 65535,
    source: 'PNC §4 and §7 TBD1; 1021 is exp1 of RFC 4727',
  },
  {
    name: 'arn-udp-port',
    description: 'UDP destination port of the Adaptive Routing Notification',
    default: 1022,
    min: 1,
    max: 65535,
    source: 'FCN §4.1.1 names no transport; 1022 is exp2 of RFC 4727',
  },
  {
    name: 'isis-pnc-flag-bit',
    description: 'bit of the IS-IS Prefix Attribute Flags sub-TLV that is the P-flag, bit 0 being the most significant',
    default: 7,
    min: 0,
    max: 63,
    source: 'PNC §5.1, suggested value',
  },
  {
    name: 'ospfv2-pnc-flag-bit',
    description:
      'bit of the OSPFv2 Prefix Attribute Flags sub-TLV that is the P-flag, bit 0 being the most significant',
    default: 2,
    min: 0,
    max: 63,
    source: 'PNC §5.2, suggested value',
  },
  {
    name: 'ospfv3-pnc-flag-bit',
    description:
      'bit of the OSPFv3 Prefix Attribute Flags sub-TLV that is the P-flag, bit 0 being the most significant',
    default: 2,
    min: 0,
    max: 63,
    source: 'PNC §5.3, suggested value',
  },
  {
    name: 'bgp-pnc-characteristic',
    description: 'code of the PNC characteristic in the BGP Next Hop Dependent Characteristics attribute',
    default: 65500,
    min: 1,
    max: 65535,
    source:
      'PNC §5.4 TBD2; ' +
      '65500 is assumed to be in the experimental range of the registry that draft-ietf-idr-nhc asks for',
  },
  {
    name: 'bgp-private-characteristic',
    description:
      "code of the characteristic that holds the container of SIDs and group memberships, on the node's host route",
    default: 65501,
    min: 1,
    max: 65535,
    source: 'cnpd; as bgp-pnc-characteristic',
  },
  {
    name: 'isis-supports-sub-tlv',
    description: 'IS-IS sub-TLV of a prefix that says which notifications its senders understand',
    default: 250,
    min: 1,
    max: 254,
    source: 'cnpd; the registry of sub-TLVs for prefix reachability has no range for experiments',
  },
  {
    name: 'ospfv2-supports-sub-tlv',
    description: 'sub-TLV of the OSPFv2 Extended Prefix TLV that says which notifications its senders understand',
    default: 33000,
    min: 32768,
    max: 33023,
    source: 'cnpd; 32768-33023 are for experiments (RFC 7684 §7.2)',
  },
  {
    name: 'ospfv3-supports-sub-tlv',
    description: 'sub-TLV of OSPFv3 prefix TLVs that says which notifications its senders understand',
    default: 33000,
    min: 32768,
    max: 33023,
    source: 'cnpd; 32768-33023 are for experiments (RFC 8362 §7.2)',
  },
  {
    name: 'bgp-supports-characteristic',
    description: 'code of the characteristic that says which notifications the senders of a prefix understand',
    default: 65502,
    min: 1,
    max: 65535,
    source: 'cnpd; as bgp-pnc-characteristic',
  },
  {
    name: 'ospfv2-private-opaque-type',
    description: 'opaque type of the area-scope opaque LSA that holds the container of SIDs and group memberships',
    default: 240,
    min: 128,
    max: 255,
    source: 'cnpd; 128-255 are for private use (RFC 5250 §9)',
  },
  {
    name: 'ospfv3-private-function',
    description: 'LSA function code of the area-scope OSPFv3 LSA that holds the container of group memberships',
    default: 8184,
    min: 8176,
    max: 8191,
    source: 'cnpd; 8184-8191 are for private use, 8176-8183 for experiments (RFC 5340 §A.4.2.1)',
  },
  {
    name: 'fast-cnp-option',
    description: 'IPv6 destination option type of Fast CNP option 1',
    default: 0x9e,
    min: 0x80,
    max: 0x9f,
    source:
      'FCNP §6 TBD1; act 10 and chg 0 are required, 0x9E is the only experimental value of RFC 4727 that has them',
  },
  {
    name: 'fast-cnp-ioam-option',
    description: 'IPv6 destination option type of Fast CNP option 2, with IOAM trace data',
    default: 0x9e,
    min: 0x80,
    max: 0x9f,
    source: 'FCNP §6 TBD2; the same experimental value, distinguished from option 1 by its length',
  },
  {
    name: 'long-haul-icmpv6-type',
    description: 'ICMPv6 type of the Long-haul CNP message',
    default: 200,
    min: 128,
    max: 255,
    source: 'LHCNP §10.1 TBD1; 200 is for private experimentation (RFC 4443 §2.1)',
  },
  {
    name: 'long-haul-object-class',
    description: 'Class-Num of the Long-haul CNP extension objects',
    default: 247,
    min: 1,
    max: 255,
    source: 'LHCNP §10.3 TBD2; 247-255 are for private use (RFC 4884 §9)',
  },
  {
    name: 'end-con-behavior',
    description: 'SRv6 Endpoint Behavior of END.CON',
    default: 0x8002,
    min: 1,
    max: 65534,
    source: 'FCN §4.2.2 has none; 32768-34815 are for private use (RFC 8986 §10.2)',
  },
  {
    name: 'end-mt-behavior',
    description: 'SRv6 Endpoint Behavior of End.MT',
    default: 0x8001,
    min: 1,
    max: 65534,
    source: 'RMC §10 TBD1; 32768-34815 are for private use (RFC 8986 §10.2)',
  },
  {
    name: 'replication-behavior',
    description: 'SRv6 Endpoint Behavior of the SIDs at which cnpd replicates the packets of End.MT groups',
    default: 0x8003,
    min: 1,
    max: 65534,
    source: 'cnpd; as end-mt-behavior: End.Replicate (RFC 9524) promises state that cnpd does not have',
  },
  {
    name: 'isis-group-application',
    description: 'application ID of the IS-IS GENINFO TLV that holds the container of group memberships',
    default: 65501,
    min: 1,
    max: 65535,
    source: 'cnpd; the registry of RFC 6823 has no range for experiments',
  },
  {
    name: 'srh-end-mt-tlv',
    description: 'Segment Routing Header TLV with the receivers of an edge',
    default: 124,
    min: 1,
    max: 127,
    source: 'RMC §10 TBD2; 124-126 are for experiments, and do not change on the way (RFC 8754 §8.2)',
  },
  {
    name: 'srh-tree-tlv',
    description: 'Segment Routing Header TLV that names the tree of a packet',
    default: 125,
    min: 1,
    max: 127,
    source: 'cnpd; as srh-end-mt-tlv',
  },
];

/** Which bit of an ARN's Para-Type is bit 0: the most significant one, as the drafts count in figures, or the least. */
export const ARN_BIT_ORDERS = ['msb-first', 'lsb-first'] as const;
export type ArnBitOrder = (typeof ARN_BIT_ORDERS)[number];

export type CodePointValues = Readonly<Record<CodePointName, number>>;

/** Behaviors of the SIDs that cnpd originates, and learns from others. */
export const sidBehaviors = (values: CodePointValues): ReadonlySet<number> =>
  new Set([values['end-con-behavior'], values['end-mt-behavior'], values['replication-behavior']]);

export const DEFAULT_CODE_POINTS: CodePointValues = Object.fromEntries(
  CODE_POINTS.map((c) => [c.name, c.default]),
) as CodePointValues;
