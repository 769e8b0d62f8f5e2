// ospfv2 and ospfv3: the OSPF carriers, a router of cnpd's own beside FRR with one adjacency an area (PNC §5.2, §5.3).
import { ospfArea, ospfLink, ospfRouterId } from './ospf-values.ts';
import { list, section, value } from './schema-parts.ts';
import { hmacKey, integer, interfaceName, md5Key, onOff, time } from './values.ts';

/** Algorithms as the names of the keys that they take; the words after `hmac-` are those of RFC 5709 and RFC 7166. */
export const HMACS = ['hmac-sha-1', 'hmac-sha-256', 'hmac-sha-384', 'hmac-sha-512'] as const;

const hmac = value(hmacKey, 'the shared key').optional();
const hmacs = { 'hmac-sha-1': hmac, 'hmac-sha-256': hmac, 'hmac-sha-384': hmac, 'hmac-sha-512': hmac };

const keys2 = section(
  {
    'key-id': value(integer(1, 255), 'as in FRR'),
    md5: value(md5Key, 'the shared key; what `ip ospf message-digest-key` takes').optional(),
    ...hmacs,
  },
  'a key: its ID, and one algorithm with the secret (RFC 2328 §D, RFC 5709)',
);
const keys3 = section(
  { 'key-id': value(integer(1, 65_535), 'security association ID, as in FRR'), ...hmacs },
  'a key: its ID, and one algorithm with the secret (RFC 7166)',
);

const AREA = {
  area: value(ospfArea, 'the area, as in FRR'),
  mtu: value(integer(1280, 9000), 'of the veth; default 1500').optional(),
  'ignore-mtu': value(onOff, 'on: a neighbour with a larger MTU is accepted; default off').optional(),
};

const area2 = section(
  {
    ...AREA,
    interface: value(
      interfaceName,
      'veth end on which FRR runs OSPF; cnpd creates and removes it; ' +
        'default cnpd-ospf0 for the first area, cnpd-ospf1 for the second',
    ).optional(),
    link: value(
      ospfLink,
      "addresses of the veth, FRR's end first; " +
        'default 169.254.89.0/31 for the first area, 169.254.89.2/31 for the second',
    ).optional(),
    authentication: list(
      keys2,
      'keys: packets are signed with the first and accepted with any; default: no authentication',
    ).optional(),
  },
  'an area with an adjacency of its own',
);
const area3 = section(
  {
    ...AREA,
    interface: value(
      interfaceName,
      'veth end on which FRR runs OSPFv3; cnpd creates and removes it; default cnpd-ospf6-0 for the first area',
    ).optional(),
    'instance-id': value(integer(0, 31), 'instance ID of the link (RFC 5340); default 0').optional(),
    authentication: list(
      keys3,
      'keys: packets are signed with the first and accepted with any; default: no authentication',
    ).optional(),
  },
  'an area with an adjacency of its own',
);

const ospf = {
  enabled: value(onOff, 'off: the section is checked but not run').optional(),
  'router-id': value(ospfRouterId, "cnpd's own router ID; it differs from FRR's"),
  'hello-interval': value(time('1s', '65535s'), 'as FRR has it on the veth; default 10s').optional(),
  'dead-interval': value(time('2s', '65535s'), 'as FRR has it on the veth; default 40s').optional(),
  'retransmit-interval': value(time('1s', '3600s'), 'default 5s').optional(),
  'hold-unreachable': value(
    time('0s', '24h'),
    'how long a learned proxy outlives the reachability of its originator; default 120s',
  ).optional(),
};

const AREAS =
  'areas that this router has, each with an adjacency of its own; ' +
  'between several of which one is the backbone, cnpd carries what it learns (PNC §5.2, §5.3)';

export const ospfv2 = section(
  { ...ospf, areas: list(area2, AREAS) },
  'the OSPFv2 carrier, for IPv4 senders: a stub router beside FRR',
);
export const ospfv3 = section(
  { ...ospf, areas: list(area3, AREAS) },
  'the OSPFv3 carrier, for IPv6 senders: a stub router beside FRR',
);
