// Sender prefixes and their proxies: the Proxy Node Capability characteristic (PNC §5.4). With `advertise: senders` it
// is in a path for the sender prefix, with `proxy-host` in one for the proxy's own host prefix, which learners find
// through the next hop of the senders' routes.
//
// A second characteristic says which notifications the senders understand. It speaks for the prefix of its path alone,
// never for those of other paths with that next hop. Hence it needs a path for the sender prefix.
//
// Every path that is received is about its prefix, with a proxy or without (decision D5).
import { type Sink, count, warnLimited } from '../../effects.ts';
import {
  type Family,
  type IpAddress,
  compareAddresses,
  formatAddress,
  isUnicastHost,
  sameOptional,
} from '../../../model/address.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { type Prefix, hostPrefix } from '../../../model/prefix.ts';
import type { Understood } from '../../../model/understood.ts';
import { UNDERSTOOD_LENGTH } from '../../../packet/understood.ts';
import { type BgpKind, type Found, NOTHING_FOUND, type OwnPaths } from './kind.ts';

type Declared = AdvertisementOf<'sender-prefix'>;

interface ReadSenders {
  readonly kind: 'sender-prefix';
  readonly proxy?: IpAddress;
  readonly supports?: Understood;
}
/** A path has one. */
interface OwnSenders extends ReadSenders {
  readonly key: 'senders';
}

const CHARACTERISTIC_HEADER = 4;

export const SENDER_PREFIX: BgpKind<Declared, OwnSenders, ReadSenders> = {
  kind: 'sender-prefix',
  own: {
    *declare(advertisements, paths, s) {
      const entryOf = sharedEntries(paths.advertise === 'senders');
      for (const declared of advertisements) {
        declareSenders(declared, entryOf(declared), paths, s);
        yield;
      }
    },
    entries: {
      size: ({ proxy, supports }) =>
        (proxy ? CHARACTERISTIC_HEADER + (proxy.family === 4 ? 4 : 16) : 0) +
        (supports ? CHARACTERISTIC_HEADER + UNDERSTOOD_LENGTH : 0),
      /** Of two proxies for one prefix the lower address wins (decision D7). */
      preferred(a, b, s) {
        if (sameOptional(a.proxy, b.proxy)) return a.supports ? a : b;
        if (!a.proxy || !b.proxy) return a.proxy ? a : b;
        count(s, 'originate.duplicate-prefix');
        return compareAddresses(b.proxy, a.proxy) < 0 ? b : a;
      },
      encode: ({ proxy, supports }) => ({ ...(proxy && { proxy }), ...(supports && { supports }) }),
    },
  },
  received: {
    read({ proxy, supports, bad, hasSenders }, { codePoints }): Found<ReadSenders> {
      if (proxy || supports)
        return {
          ...NOTHING_FOUND,
          entries: [{ kind: 'sender-prefix', ...(proxy && { proxy }), ...(supports && { supports }) }],
          status: hasSenders ? 'used' : 'no-senders',
        };
      const isBad = bad.some(({ code }) => code === codePoints['bgp-pnc-characteristic']);
      return isBad ? { ...NOTHING_FOUND, status: 'no-proxy-address' } : NOTHING_FOUND;
    },
    learned([{ proxy, supports } = NO_ENTRY], { prefix, metric, best }) {
      const common = { kind: 'sender-prefix', prefix, metric, ...(!best && { second: true as const }) } as const;
      const learned = { ...common, ...(supports && { supports }) };
      return [proxy ? { ...learned, pnc: true, proxy } : { ...learned, pnc: false }];
    },
    shown: ([entry]) => (entry?.proxy ? { proxy: formatAddress(entry.proxy) } : {}),
  },
  viaNextHop: {
    suffices: ([own]) => own?.proxy !== undefined,
    combined([own], [host]) {
      if (!host?.proxy) return own ? [own] : [];
      return [{ ...own, kind: 'sender-prefix', proxy: host.proxy }];
    },
    same: ([a], [b]) => sameOptional(a!.proxy, b!.proxy),
  },
};

const NO_ENTRY: ReadSenders = { kind: 'sender-prefix' };

/** One entry for all prefixes about which the same is said: what is encoded of it is kept by the entry. */
function sharedEntries(withSupports: boolean): (declared: Declared) => OwnSenders {
  const known = new Map<Understood | undefined, Map<bigint, OwnSenders>[]>();
  let last: OwnSenders | undefined;
  return ({ kind, proxy, supports: declared }) => {
    const supports = withSupports ? declared : undefined;
    // Most prefixes have the proxy of the one before.
    if (last && last.supports === supports && sameOptional(last.proxy, proxy)) return last;
    const byFamily = known.get(supports) ?? [0, 1, 2].map(() => new Map<bigint, OwnSenders>());
    known.set(supports, byFamily);
    const byProxy = byFamily[proxy ? INDEX[proxy.family] : 0]!;
    const value = proxy?.value ?? 0n;
    const entry = byProxy.get(value) ?? {
      kind,
      key: 'senders',
      ...(proxy && { proxy }),
      ...(supports && { supports }),
    };
    byProxy.set(value, entry);
    return (last = entry);
  };
}
const INDEX: Readonly<Record<Family, number>> = { 4: 1, 6: 2 };

/** A prefix needs a next hop of its own family. Without one, or without a usable proxy, it is not advertised. */
function declareSenders({ prefix, supports }: Declared, entry: OwnSenders, paths: OwnPaths<OwnSenders>, s: Sink): void {
  const { proxy } = entry;
  const { family } = prefix.address;
  const nextHop = paths.nextHopOf(family);
  if (!nextHop) {
    paths.leaveOut(1);
    warnLimited(s, 'originate.no-next-hop', { family }, 'a prefix without a next hop of its family is not advertised');
  } else if (proxy && !isUnicastHost(proxy)) {
    paths.leaveOut(1);
    const fields = { proxy: formatAddress(proxy) };
    warnLimited(s, 'originate.unusable-proxy', fields, 'an address that cannot be a proxy is not advertised');
  } else if (paths.advertise === 'senders') paths.place(entry, prefix, 'at-once');
  else declareByHost({ supports, proxy, nextHop }, entry, paths, s);
}

/**
 * A proxy is found through the next hop of the sender's route, hence the next hop's host prefix too where that is
 * another address. One without a next hop of the proxy's family has only that.
 */
function declareByHost(
  {
    supports,
    proxy,
    nextHop,
  }: { supports?: Understood | undefined; proxy?: IpAddress | undefined; nextHop: IpAddress },
  entry: OwnSenders,
  paths: OwnPaths<OwnSenders>,
  s: Sink,
): void {
  if (supports) {
    if (!proxy) paths.leaveOut(1);
    const message = 'what senders understand is advertised with bgp.advertise: senders only';
    warnLimited(s, 'originate.supports-without-path', {}, message);
  }
  if (!proxy) return;
  const hosts: Prefix[] = [proxy, nextHop].map(hostPrefix);
  for (const host of hosts) paths.place(entry, host, 'at-end');
}
