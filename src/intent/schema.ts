// The shape of cnpd.yaml: every key, its kind, its default and its meaning, once. The loader, the JSON Schema for
// editors and the test of docs/cnpd.yaml all read this table. Rules that concern several keys are in rules.ts. The
// newer sections are in files of their own.
import * as z from 'zod';
import { CODE_POINTS, type CodePointName } from '../model/code-points.ts';
import { hostAddress, senderPrefix, trustedPrefix } from './address-values.ts';
import { bgp } from './schema-bgp.ts';
import { notifications } from './schema-notifications.ts';
import { list, section, value, wordOrList } from './schema-parts.ts';
import { ospfv2, ospfv3 } from './schema-ospf.ts';
import { ports } from './schema-ports.ts';
import { srv6, stamp } from './schema-srv6.ts';
import {
  areaAddress,
  groupName,
  hmacKey,
  hostname,
  integer,
  interfaceName,
  oneOf,
  onOff,
  rate,
  socketPath,
  systemId,
  time,
} from './values.ts';

const router = section(
  {
    name: value(hostname, 'name of this router in logs and in its IS-IS hostname'),
    loopback: section(
      {
        ipv4: value(hostAddress(4), 'source of notifications that go by IPv4').optional(),
        ipv6: value(hostAddress(6), 'source of notifications that go by IPv6').optional(),
      },
      'addresses of this router that never go down; required as soon as a port has k-max or stamp is there',
    ).optional(),
    'reverse-path-check': value(
      onOff,
      'on: notifications, STAMP probes and what teaches Queue Pairs count only from a port to which the route ' +
        'back to their source leads; default on',
    ).optional(),
    'core-ports': list(
      value(interfaceName, 'interface'),
      'interfaces to other routers of the domain, for that check; default: those with a route through a gateway',
    ).optional(),
  },
  'who this router is',
);

const hmac = (description: string) =>
  section({ 'hmac-md5': value(hmacKey, 'the shared key (RFC 5304)') }, description).optional();

const isis = section(
  {
    enabled: value(onOff, 'off: the section is checked but not run').optional(),
    'system-id': value(systemId, "cnpd's own system ID; it differs from FRR's"),
    area: value(areaAddress, 'area address of the NET that FRR is configured with'),
    level: value(oneOf('1', '2', '1-2'), 'levels of the adjacency with FRR; default 2').optional(),
    interface: value(
      interfaceName,
      'veth end on which FRR runs IS-IS; cnpd creates and removes it; default cnpd-isis',
    ).optional(),
    mtu: value(integer(1280, 9000), 'of the veth; default 1500, which is what FRR can always use').optional(),
    'hello-interval': value(time('1s', '600s'), 'default 3s').optional(),
    'hold-multiplier': value(integer(2, 100), 'hellos that may be lost before the adjacency is; default 10').optional(),
    lifetime: value(time('120s', '65535s'), 'of our LSPs (ISO 10589 maxAge); default 1200s').optional(),
    refresh: value(time('30s', '65000s'), 'how often our LSPs are sent anew; default 900s').optional(),
    'hold-unreachable': value(
      time('0s', '24h'),
      'how long a learned proxy outlives the reachability of its originator; default 120s',
    ).optional(),
    authentication: section(
      { interface: hmac('hellos'), area: hmac('LSPs and SNPs of level 1'), domain: hmac('LSPs and SNPs of level 2') },
      'HMAC-MD5 keys (RFC 5304)',
    ).optional(),
  },
  'the IS-IS carrier: a stub system beside FRR',
);

const sender = section(
  {
    prefix: value(senderPrefix, 'source prefix of the senders'),
    format: value(
      oneOf('standard-cnp', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'),
      'the notification that these senders understand (PNC §1); from router.loopback, but for standard-cnp',
    ),
  },
  'senders behind this proxy',
);

const proxy = section(
  {
    enabled: value(onOff, 'off: the section is checked but not run').optional(),
    address: wordOrList(
      hostAddress(),
      hostAddress(),
      'address of this router to which notices are sent; ' +
        'or a list of one of each family, and each sender prefix is advertised with that of its own',
    ),
    senders: list(sender, 'the prefixes whose proxy this router is, with what their senders understand'),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose notices are obeyed'),
      'prefixes of routers whose notices are obeyed; there is no default',
    ),
    interfaces: list(
      value(interfaceName, 'interface'),
      'where notices arrive and RoCEv2 is observed; default: all Ethernet-like interfaces but border-ports',
    ).optional(),
    'per-flow-interval': value(time('1us', '60s'), 'least time between two CNPs for one flow; default 50us').optional(),
    rate: value(rate('1/s', '10M/s'), 'notices obeyed a second, all flows together; default 10000/s').optional(),
  },
  'this router is the congestion notification proxy of senders (PNC §5)',
);

const queuePairs = section(
  {
    ageing: value(
      time('10s', '24h'),
      'a connection of which no packet came for this time is forgotten; default 5min',
    ).optional(),
  },
  'what is known about connections, by the proxy and for Long-haul CNPs',
);

const borderAllow = section(
  {
    inbound: list(
      value(trustedPrefix, 'prefix'),
      'source prefixes outside from which notifications are let in',
    ).optional(),
    outbound: list(
      value(trustedPrefix, 'prefix'),
      'destination prefixes outside to which notifications are let out',
    ).optional(),
  },
  'notifications that may pass the border ports all the same; default: none',
);

const codePointValues = Object.fromEntries(
  CODE_POINTS.map((c) => [
    c.name,
    value(integer(c.min, c.max), `${c.description}; default ${c.default} (${c.source})`).optional(),
  ]),
) as Record<CodePointName, z.ZodOptional<ReturnType<typeof value<number>>>>;

const codePoints = section(
  {
    ...codePointValues,
    'allow-assigned': value(
      onOff,
      'on: takes values that mean something else already, or are equal; default off',
    ).optional(),
  },
  'values that the drafts leave unassigned',
);

export const cnpdSchema = section(
  {
    router,
    isis: isis.optional(),
    ospfv2: ospfv2.optional(),
    ospfv3: ospfv3.optional(),
    bgp: bgp.optional(),
    proxy: proxy.optional(),
    'queue-pairs': queuePairs.optional(),
    ports: ports.optional(),
    'border-ports': list(
      value(interfaceName, 'interface'),
      'interfaces to outside the domain; notifications are dropped there in both directions',
    ).optional(),
    'border-allow': borderAllow.optional(),
    notifications: notifications.optional(),
    srv6: srv6.optional(),
    stamp: stamp.optional(),
    'code-points': codePoints.optional(),
    gnmi: section(
      {
        socket: value(socketPath, 'unix socket of the gNMI service; default /run/cnpd/gnmi.sock').optional(),
        'socket-group': value(
          groupName,
          'who is in this group may connect to the socket, as root may; default: root alone, or the group cnpd runs in',
        ).optional(),
      },
      'northbound',
    ).optional(),
    log: section(
      { level: value(oneOf('debug', 'info', 'warn', 'error'), 'default info').optional() },
      'logging',
    ).optional(),
  },
  'configuration of cnpd',
);

/** cnpd.yaml as declared: every value read, no default applied yet. */
export type Declared = z.output<typeof cnpdSchema>;
