// Sender prefixes and their proxies: the Proxy Node Capability characteristic (PNC §5.4). With `advertise: senders` it
// is in a path for the sender prefix, with `proxy-host` in one for the proxy's own host prefix, which learners find
// through the next hop of the senders' routes.
//
// Every path that is received is about its prefix, with a proxy or without (decision D5).
import { type Sink, count, warnLimited } from '../../effects.ts';
import { type IpAddress, compareAddresses, formatAddress, isUnicastHost, sameAddress } from '../../../model/address.ts';
import type { AdvertisementKinds, AdvertisementOf } from '../../../model/advertisement.ts';
import { hostPrefix } from '../../../model/prefix.ts';
import { type BgpKind, type Found, NOTHING_FOUND, type OwnPaths } from './kind.ts';

interface ReadProxy {
  readonly kind: 'sender-prefix';
  readonly proxy: IpAddress;
}
/** A path has one. */
interface OwnProxy extends ReadProxy {
  readonly key: 'proxy';
}

const CHARACTERISTIC_HEADER = 4;

export const SENDER_PREFIX: BgpKind<AdvertisementOf<'sender-prefix'>, OwnProxy, ReadProxy> = {
  kind: 'sender-prefix',
  own: {
    *declare(advertisements, paths, s) {
      // One a proxy: what is encoded of it is kept by the entry.
      const entries = { 4: new Map<bigint, OwnProxy>(), 6: new Map<bigint, OwnProxy>() } as const;
      let last: OwnProxy | undefined;
      for (const { kind, prefix, proxy } of advertisements) {
        // Most prefixes have the proxy of the one before.
        if (last === undefined || !sameAddress(last.proxy, proxy)) {
          const ofFamily = entries[proxy.family];
          last = ofFamily.get(proxy.value) ?? { kind, key: 'proxy', proxy };
          ofFamily.set(proxy.value, last);
        }
        declareProxy(prefix, last, paths, s);
        yield;
      }
    },
    entries: {
      size: ({ proxy }) => CHARACTERISTIC_HEADER + (proxy.family === 4 ? 4 : 16),
      /** Of two proxies for one prefix the lower address wins (decision D7). */
      preferred(a, b, s) {
        if (sameAddress(a.proxy, b.proxy)) return a;
        count(s, 'originate.duplicate-prefix');
        return compareAddresses(b.proxy, a.proxy) < 0 ? b : a;
      },
      encode: ({ proxy }) => ({ proxy }),
    },
  },
  received: {
    read({ proxy, bad, hasSenders }, { codePoints }): Found<ReadProxy> {
      if (proxy)
        return {
          ...NOTHING_FOUND,
          entries: [{ kind: 'sender-prefix', proxy }],
          status: hasSenders ? 'used' : 'no-senders',
        };
      const isBad = bad.some(({ code }) => code === codePoints['bgp-pnc-characteristic']);
      return isBad ? { ...NOTHING_FOUND, status: 'no-proxy-address' } : NOTHING_FOUND;
    },
    learned([entry], { prefix, metric, best }) {
      const common = { kind: 'sender-prefix', prefix, metric, ...(!best && { second: true as const }) } as const;
      return [entry ? { ...common, pnc: true, proxy: entry.proxy } : { ...common, pnc: false }];
    },
    shown: ([entry]) => (entry ? { proxy: formatAddress(entry.proxy) } : {}),
  },
  viaNextHop: { same: ([a], [b]) => sameAddress(a!.proxy, b!.proxy) },
};

/** A prefix needs a next hop of its own family. Without one, or without a usable proxy, it is not advertised. */
function declareProxy(
  prefix: AdvertisementKinds['sender-prefix']['prefix'],
  entry: OwnProxy,
  paths: OwnPaths<OwnProxy>,
  s: Sink,
): void {
  const { proxy } = entry;
  const { family } = prefix.address;
  const nextHop = paths.nextHopOf(family);
  if (!nextHop) {
    paths.leaveOut(1);
    warnLimited(s, 'originate.no-next-hop', { family }, 'a prefix without a next hop of its family is not advertised');
  } else if (!isUnicastHost(proxy)) {
    paths.leaveOut(1);
    const fields = { proxy: formatAddress(proxy) };
    warnLimited(s, 'originate.unusable-proxy', fields, 'an address that cannot be a proxy is not advertised');
  } else if (paths.advertise === 'senders') paths.place(entry, prefix, 'at-once');
  // Found through the next hop of the sender's route, hence the next hop's host prefix too where that is another
  // address. One without a next hop of the proxy's family has only that.
  else for (const host of [proxy, nextHop]) paths.place(entry, hostPrefix(host), 'at-end');
}
