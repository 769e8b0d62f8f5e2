// srv6: END.CON and tunnels (FCN §4.2); stamp: RTT probing (RFC 8762).
import { hostAddress, locatorPrefix, senderPrefix, trustedPrefix } from './address-values.ts';
import { list, section, value, wordOrSection } from './schema-parts.ts';
import { hmacKey, integer, interfaceName, oneOf, onOff, routingTable, time } from './values.ts';

const endCon = section(
  {
    sid: value(
      hostAddress(6),
      'the SID, inside its locator; notifications for senders behind this router are sent to it; ' +
        'default: allocated by the table, ::c0:TABLE in the locator',
    ).optional(),
    locator: value(locatorPrefix, 'locator of the SID, as FRR has it'),
    table: value(
      routingTable,
      'routing table in which senders are looked up after decapsulation; default main',
    ).optional(),
    interfaces: list(
      value(interfaceName, 'interface'),
      'tunnelled traffic from these interfaces carries the SID as outer source; default: from any',
    ).optional(),
    senders: list(
      value(senderPrefix, 'prefix'),
      'tunnelled traffic of these inner source prefixes carries the SID as outer source; default: of any',
    ).optional(),
  },
  'an END.CON SID of this router (FCN §4.2.2); one a routing table',
);

const dscp = wordOrSection(
  { ...oneOf('pipe', 'uniform'), allowed: 'pipe, uniform, or { pipe: DSCP }' },
  section({ pipe: value(integer(0, 63), 'DSCP of the outer header') }, 'pipe model with a DSCP of its own'),
  'RFC 2983: pipe, uniform, or { pipe: DSCP }; default pipe',
);

export const srv6 = section(
  {
    enabled: value(onOff, 'off: the section is checked but not run').optional(),
    'end-con': list(endCon, 'END.CON SIDs of this router').optional(),
    'core-ports': list(
      value(interfaceName, 'interface'),
      'interfaces towards the SRv6 domain, where tunnels leave and enter',
    ),
    ecn: value(oneOf('normal', 'compatibility'), 'RFC 6040 at encapsulation; default normal (FCN §4.2.1)').optional(),
    dscp: dscp.optional(),
  },
  'SRv6: END.CON, ECN and DSCP of tunnels (FCN §4.2)',
);

export const stamp = section(
  {
    enabled: value(onOff, 'off: the section is checked but not run').optional(),
    reflector: value(onOff, 'whether this router answers probes; default off').optional(),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose probes are answered'),
      'prefixes of routers whose probes are answered; required with reflector',
    ).optional(),
    port: value(integer(1, 65_535), 'UDP port of probes, here and at the targets; default 862').optional(),
    interval: value(time('10ms', '60s'), 'between two probes of one target; default 1s').optional(),
    targets: list(value(hostAddress(), 'address'), 'addresses that are probed; default: none').optional(),
    learn: value(onOff, 'whether the router addresses learned from the IGP are probed; default off').optional(),
    'hmac-key': value(
      hmacKey,
      'HMAC-SHA-256 key of authenticated mode, the same on all routers that probe one another; ' +
        'default: unauthenticated',
    ).optional(),
  },
  'round-trip times by STAMP (RFC 8762)',
);
