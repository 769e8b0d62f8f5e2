// The section `bgp`: the BGP carrier, which puts paths into the gobgpd beside it and learns from those that it has
// (PNC §5.4).
import type * as z from 'zod';
import type { Family, IpAddress } from '../model/address.ts';
import { hostAddress } from './address-values.ts';
import { asNumber, community, grpcTarget, isLocalTarget, largeCommunity, pemFile, serverName } from './bgp-values.ts';
import type { Loopback } from './router.ts';
import { defaulted, enabled, filled, holdUnreachable, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, oneAFamily, orDefaults, unique } from './seen.ts';
import { oneOf, onOff, size } from './values.ts';

/** Where gobgpd's gRPC interface is. */
interface GobgpIntent {
  /** `HOST:PORT`, or `unix:/PATH`. */
  readonly target: string;
  /** Paths of PEM files. Absent: no TLS, which is for the loopback and for UNIX sockets. */
  readonly tls?: {
    readonly ca: string;
    readonly certificate?: string;
    readonly key?: string;
    readonly serverName?: string;
  };
  /** Largest message that is taken from gobgpd, bytes. */
  readonly maxMessageBytes: number;
}

/** What is advertised in BGP: one path per sender prefix, or one for the proxy's own host prefix (PNC-5.4-b). */
type BgpAdvertise = 'senders' | 'proxy-host';

export interface BgpIntent {
  readonly gobgp: GobgpIntent;
  /**
   * Next hops of the paths that cnpd originates, by family of the next hop; a prefix is advertised only with one of its
   * own family.
   */
  readonly nextHop4?: IpAddress;
  readonly nextHop6?: IpAddress;
  readonly advertise: BgpAdvertise;
  /** RFC 1997, 32 bits each. */
  readonly communities: readonly number[];
  /** RFC 8092: global administrator and two local data parts, 32 bits each. */
  readonly largeCommunities: readonly (readonly [number, number, number])[];
  /**
   * AS numbers of the domain beside gobgpd's own: characteristics of paths through any other AS are not used (decision
   * D9), and with none of them no path of cnpd's leaves the AS (NO_EXPORT).
   */
  readonly domain: readonly number[];
  /**
   * Member ASes of gobgpd's confederation (RFC 5065) beside its own: their neighbors are of the domain, as those are
   * that have sent a path as members do.
   */
  readonly confederation: readonly number[];
  /** Whether cnpd keeps its own policies in gobgpd: its paths stay in the domain, and paths from outside are marked. */
  readonly policy: boolean;
  /** `best`: only the best path of a prefix; `all`: every path that gobgpd has. */
  readonly learn: 'best' | 'all';
  /**
   * Whether a path without the characteristic has the proxy that its next hop's host prefix names (for `advertise:
   * proxy-host` at the other end).
   */
  readonly viaNextHop: boolean;
  /** How long entries outlive the connection to gobgpd. */
  readonly holdUnreachableMs: number;
}

const tls = section(
  {
    ca: value(pemFile, "PEM file of the authority that signed gobgpd's certificate"),
    certificate: value(
      pemFile,
      "PEM file of cnpd's own certificate, if gobgpd requires one (--tls-client-ca-file)",
    ).optional(),
    key: value(pemFile, 'PEM file of its private key').optional(),
    'server-name': value(serverName, "the name in gobgpd's certificate; default: the host in target").optional(),
  },
  'TLS to gobgpd',
);

const gobgp = section(
  {
    target: defaulted(grpcTarget, '127.0.0.1:50051', "gobgpd's gRPC interface (--api-hosts): HOST:PORT or unix:/PATH"),
    tls: tls.optional(),
    plaintext: defaulted(
      onOff,
      'off',
      'on: allow a gobgpd on another machine without TLS; everybody on the path may then change its routes',
    ),
    'max-message': defaulted(size('64kB', '1GB'), '4MiB', 'largest message accepted from gobgpd'),
  },
  'the gobgpd beside cnpd',
);

export const schema = section(
  {
    enabled: enabled(),
    gobgp: gobgp.optional(),
    'next-hop': list(
      value(hostAddress(), 'address'),
      "next hops of cnpd's paths, at most one per family; a prefix needs one of its own family; default: router.loopback",
    ).optional(),
    advertise: defaulted(
      oneOf<BgpAdvertise>('senders', 'proxy-host'),
      'senders',
      "senders: a path for each sender prefix; proxy-host: one for the proxy's own address (PNC §5.4)",
    ),
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
      "member ASes of gobgpd's confederation (RFC 5065), " +
        'which its API does not reveal; default: those that have sent a path with an AS_CONFED segment',
    ).optional(),
    policy: defaulted(
      onOff,
      'on',
      "off: cnpd keeps no policies in gobgpd, and gobgpd sends cnpd's paths to every neighbor, " +
        'NO_EXPORT or not, unless the operator prevents it',
    ),
    learn: defaulted(oneOf('best', 'all'), 'best', 'from the best path of a prefix only, or from all paths in gobgpd'),
    'via-next-hop': defaulted(
      onOff,
      'off',
      'on: a path that names no proxy uses the proxy that the host prefix of its next hop names (advertise: proxy-host)',
    ),
    'hold-unreachable': holdUnreachable('how long learned entries outlive the connection to gobgpd'),
  },
  'the BGP carrier, through a GoBGP beside cnpd',
);

interface Sections {
  readonly bgp?: Seen<typeof schema> | undefined;
}

function nextHops({ bgp }: Sections, report: Report): void {
  const path = ['bgp', 'next-hop'] as const;
  if (bgp?.['next-hop']?.length === 0)
    report(
      path,
      'one address, or one of each family',
      'an empty list names no next hop: leave it out to use the loopbacks',
    );
  oneAFamily(bgp?.['next-hop'], path, 'next hop', report);
}

function uniqueEntries({ bgp }: Sections, report: Report): void {
  const text = (of: unknown): string => String(of);
  unique(bgp?.domain, (i) => ['bgp', 'domain', i], text, 'AS number', report);
  unique(bgp?.confederation, (i) => ['bgp', 'confederation', i], text, 'AS number', report);
  unique(
    bgp?.['large-communities'],
    (i) => ['bgp', 'large-communities', i],
    (c) => c.join(':'),
    'large community',
    report,
  );
  unique(
    bgp?.communities,
    (i) => ['bgp', 'communities', i],
    (c) => `${Math.floor(c / 65_536)}:${c % 65_536}`,
    'community',
    report,
  );
}

/** Whoever reaches gobgpd can change every route of this router, and gobgpd authenticates no client. */
function transport({ bgp }: Sections, report: Report): void {
  if (!bgp?.gobgp) return;
  const { target, plaintext } = orDefaults(gobgp, bgp.gobgp);
  const path = ['bgp', 'gobgp'] as const;
  const secured = 'tls' in bgp.gobgp;
  if (secured && plaintext === true)
    report([...path, 'plaintext'], 'tls, or plaintext: on', 'with tls nothing is sent in plain text');
  if (target === undefined) return;
  if (secured && target.startsWith('unix:'))
    report([...path, 'tls'], 'tls only with HOST:PORT', 'gobgpd has no TLS on a UNIX socket, and needs none there');
  // A plaintext that could not be read may have been meant to be on.
  if (secured || plaintext !== false || isLocalTarget(target)) return;
  const reason = `${target} is another machine: without tls any machine on the path can change the routes of this network`;
  report([...path, 'target'], 'a target on this machine; else tls, or plaintext: on', reason);
}

function ownCertificate({ bgp }: Sections, report: Report): void {
  const tls = bgp?.gobgp?.tls;
  if (!tls || 'certificate' in tls === 'key' in tls) return;
  const [there, missing] = 'key' in tls ? ['key', 'certificate'] : ['certificate', 'key'];
  report(
    ['bgp', 'gobgp', 'tls', there],
    'certificate and key, or neither',
    `${there} without ${missing}: both are needed to prove who cnpd is`,
  );
}

export const rules: readonly Rule<Sections>[] = [nextHops, uniqueEntries, transport, ownCertificate];

/** Without `next-hop` the router's loopbacks are the next hops: that of each family, where there is one. */
export function build(declared: z.output<typeof schema>, loopback: Loopback | undefined): BgpIntent {
  const bgp = filled(schema, declared);
  const listed = bgp['next-hop'];
  const own = (family: Family): IpAddress | undefined =>
    listed ? listed.find((a) => a.family === family) : loopback?.[`ipv${family}`];
  const [nextHop4, nextHop6] = [own(4), own(6)];
  return {
    gobgp: buildGobgp(bgp.gobgp),
    ...(nextHop4 && { nextHop4 }),
    ...(nextHop6 && { nextHop6 }),
    advertise: bgp.advertise,
    communities: bgp.communities ?? [],
    largeCommunities: bgp['large-communities'] ?? [],
    domain: bgp.domain ?? [],
    confederation: bgp.confederation ?? [],
    policy: bgp.policy,
    learn: bgp.learn,
    viaNextHop: bgp['via-next-hop'],
    holdUnreachableMs: bgp['hold-unreachable'],
  };
}

function buildGobgp(declared: z.output<typeof gobgp> | undefined): GobgpIntent {
  const { target, tls, 'max-message': maxMessageBytes } = filled(gobgp, declared);
  return {
    target,
    ...(tls && {
      tls: {
        ca: tls.ca,
        ...(tls.certificate !== undefined && { certificate: tls.certificate }),
        ...(tls.key !== undefined && { key: tls.key }),
        ...(tls['server-name'] !== undefined && { serverName: tls['server-name'] }),
      },
    }),
    maxMessageBytes,
  };
}
