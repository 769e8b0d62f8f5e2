// bgp: the BGP carrier, which puts paths into the gobgpd beside it and learns from those that it has (PNC §5.4).
import { hostAddress } from './address-values.ts';
import { asNumber, community, gobgpTarget, largeCommunity, pemFile, serverName } from './bgp-values.ts';
import { list, section, value } from './schema-parts.ts';
import { oneOf, onOff, size, time } from './values.ts';

const tls = section(
  {
    ca: value(pemFile, "PEM file of the authority that signed gobgpd's certificate"),
    certificate: value(
      pemFile,
      "PEM file of cnpd's own certificate, where gobgpd asks for one (--tls-client-ca-file)",
    ).optional(),
    key: value(pemFile, 'PEM file of its private key').optional(),
    'server-name': value(serverName, "the name in gobgpd's certificate; default: the host in target").optional(),
  },
  'TLS to gobgpd',
);

const gobgp = section(
  {
    target: value(
      gobgpTarget,
      "gobgpd's gRPC interface (--api-hosts): HOST:PORT or unix:/PATH; default 127.0.0.1:50051",
    ).optional(),
    tls: tls.optional(),
    plaintext: value(
      onOff,
      'on: no TLS to a gobgpd on another machine, over a network in which everybody may change its routes; default off',
    ).optional(),
    'max-message': value(size('64kB', '1GB'), 'largest message that is taken from gobgpd; default 4MiB').optional(),
  },
  'the gobgpd beside cnpd',
);

export const bgp = section(
  {
    enabled: value(onOff, 'off: the section is checked but not run').optional(),
    gobgp: gobgp.optional(),
    'next-hop': list(
      value(hostAddress(), 'address'),
      "next hops of cnpd's paths, one a family at most; a prefix needs one of its own family; default: router.loopback",
    ).optional(),
    advertise: value(
      oneOf('senders', 'proxy-host'),
      "senders: a path for each sender prefix; proxy-host: one for the proxy's own address (PNC §5.4); default senders",
    ).optional(),
    communities: list(
      value(community, 'community'),
      "communities of cnpd's paths (RFC 1997); default: none",
    ).optional(),
    'large-communities': list(
      value(largeCommunity, 'large community'),
      "large communities of cnpd's paths (RFC 8092); default: none",
    ).optional(),
    domain: list(
      value(asNumber, 'AS number'),
      "other AS numbers of this domain; default: none, and cnpd's paths have NO_EXPORT",
    ).optional(),
    confederation: list(
      value(asNumber, 'AS number'),
      "member ASes of gobgpd's confederation (RFC 5065), which its API does not tell; " +
        'default: those that have sent it a path as members do',
    ).optional(),
    policy: value(
      onOff,
      "off: cnpd keeps no policies in gobgpd, and gobgpd sends cnpd's paths to every neighbour, " +
        'NO_EXPORT or not, unless the operator keeps it from that; default on',
    ).optional(),
    learn: value(
      oneOf('best', 'all'),
      'from the best path of a prefix alone, or from all that gobgpd has; default best',
    ).optional(),
    'via-next-hop': value(
      onOff,
      'on: a path that names no proxy has the one that the host prefix of its next hop names (advertise: ' +
        'proxy-host); default off',
    ).optional(),
    'hold-unreachable': value(
      time('0s', '24h'),
      'how long what was learned outlives the connection to gobgpd; default 120s',
    ).optional(),
  },
  'the BGP carrier, by a GoBGP beside cnpd',
);
