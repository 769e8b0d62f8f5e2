// The section `bgp` with its defaults applied.
import type { Family, IpAddress } from '../model/address.ts';
import type { BgpIntent, GobgpIntent } from './intent.ts';
import type { Declared } from './schema.ts';

type Bgp = NonNullable<Declared['bgp']>;

/** gobgpd's own default port; what gRPC takes by default; milliseconds. */
export const BGP_DEFAULTS = {
  target: '127.0.0.1:50051',
  maxMessageBytes: 4 * 1024 * 1024,
  advertise: 'senders',
  learn: 'best',
  holdUnreachableMs: 120_000,
} as const;

/** Without `next-hop` the router's loopbacks are the next hops: that of each family, where there is one. */
export function buildBgp(declared: Bgp, loopback: Declared['router']['loopback']): BgpIntent {
  const listed = declared['next-hop'];
  const own = (family: Family): IpAddress | undefined =>
    listed ? listed.find((a) => a.family === family) : family === 4 ? loopback?.ipv4 : loopback?.ipv6;
  const [nextHop4, nextHop6] = [own(4), own(6)];
  return {
    gobgp: buildGobgp(declared.gobgp),
    ...(nextHop4 && { nextHop4 }),
    ...(nextHop6 && { nextHop6 }),
    advertise: declared.advertise ?? BGP_DEFAULTS.advertise,
    communities: declared.communities ?? [],
    largeCommunities: declared['large-communities'] ?? [],
    domain: declared.domain ?? [],
    confederation: declared.confederation ?? [],
    policy: declared.policy ?? true,
    learn: declared.learn ?? BGP_DEFAULTS.learn,
    viaNextHop: declared['via-next-hop'] ?? false,
    holdUnreachableMs: declared['hold-unreachable'] ?? BGP_DEFAULTS.holdUnreachableMs,
  };
}

function buildGobgp(declared: Bgp['gobgp']): GobgpIntent {
  const { tls } = declared ?? {};
  return {
    target: declared?.target ?? BGP_DEFAULTS.target,
    ...(tls && {
      tls: {
        ca: tls.ca,
        ...(tls.certificate !== undefined && { certificate: tls.certificate }),
        ...(tls.key !== undefined && { key: tls.key }),
        ...(tls['server-name'] !== undefined && { serverName: tls['server-name'] }),
      },
    }),
    maxMessageBytes: declared?.['max-message'] ?? BGP_DEFAULTS.maxMessageBytes,
  };
}
