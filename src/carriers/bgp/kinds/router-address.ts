// The address of a router: whoever has a private characteristic in the host route of its next hop answers STAMP at that
// next hop. An empty container means nothing else.
import { warnLimited } from '../../effects.ts';
import { type IpAddress, sameAddress } from '../../../model/address.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { hostRoutes } from './host-routes.ts';
import { type BgpKind, NOTHING_FOUND, type OwnEntry } from './kind.ts';

interface ReadAddress {
  readonly kind: 'router-address';
  readonly address: IpAddress;
}

const ANSWERS: OwnEntry = { kind: 'router-address', key: 'answers' };

export const ROUTER_ADDRESS: BgpKind<AdvertisementOf<'router-address'>, OwnEntry, ReadAddress> = {
  kind: 'router-address',
  own: {
    /** Others probe what they find here, so it is only what answers STAMP. */
    declare(advertisements, paths, s) {
      const answering = advertisements.filter(({ answersStamp }) => answersStamp);
      const hosts = hostRoutes(paths);
      const isOf = ({ address }: { readonly address: IpAddress }, one: { readonly address: IpAddress }): boolean =>
        sameAddress(address, one.address);
      for (const host of hosts) if (answering.some((one) => isOf(one, host))) paths.place(ANSWERS, host, 'at-end');
      const left = answering.filter((one) => !hosts.some((host) => isOf(one, host))).length;
      if (left > 0)
        warnLimited(
          s,
          'originate.router-address-left-out',
          { left },
          'a STAMP reflector that answers at another address than the next hop is not advertised',
          left,
        );
      return [];
    },
    entries: { size: () => 0, preferred: (a) => a, encode: () => ({ container: [] }) },
  },
  received: {
    read: ({ container, nextHop }) =>
      container
        ? { ...NOTHING_FOUND, entries: [{ kind: 'router-address', address: nextHop }], status: 'used' }
        : NOTHING_FOUND,
    learned: (entries) => entries,
    shown: () => ({}),
  },
  viaNextHop: 'never',
};
