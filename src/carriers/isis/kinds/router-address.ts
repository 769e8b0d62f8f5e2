// The addresses of a router: TLVs 134 and 140 of fragment 0, one address per family. They are reachable from the level
// where they are advertised, and are not leaked.
import { warnLimited } from '../../effects.ts';
import { type Family, type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { type IsisKind, NOTHING_FOUND } from './kind.ts';

interface ReadAddress {
  readonly kind: 'router-address';
  readonly address: IpAddress;
}

const TLV_OF = { 4: 'ipv4-te-router-id', 6: 'ipv6-te-router-id' } as const;

export const ROUTER_ADDRESS: IsisKind<AdvertisementOf<'router-address'>, never, ReadAddress> = {
  kind: 'router-address',
  own: {
    addressOf: ({ address }) => address,
    /** Others probe these addresses, so only those that answer STAMP are advertised: the first of each family. */
    desired(advertisements, s) {
      const answering = advertisements.filter(({ answersStamp }) => answersStamp);
      const usable = answering.map(({ address }) => address).filter(isUnicastHost);
      const first = ([4, 6] as const).flatMap((family) => usable.find((a) => a.family === family) ?? []);
      const dropped = answering.length - first.length;
      if (dropped > 0)
        warnLimited(
          s,
          'originate.router-address-left-out',
          { dropped },
          'IS-IS advertises one router address per family: the others are not advertised',
        );
      return { entries: [], fragment0: first.map(tlvOf) };
    },
    entries: 'none',
  },
  received: {
    walked: [],
    // content.ts reads these TLVs: prefixes without a proxy of their own need them too (decision D6).
    reader: () => ({
      tlv: () => {},
      end({ routerIds: { v4, v6 } }) {
        if (!v4 && !v6) return NOTHING_FOUND;
        const entries = [v4, v6].filter((address) => address !== undefined);
        return { ...NOTHING_FOUND, entries: entries.map((address) => ({ kind: 'router-address', address })) };
      },
    }),
    learned: (entries) => entries,
  },
  leaking: 'never',
};

const tlvOf = (address: IpAddress): IsisTlv => ({ kind: TLV_OF[address.family satisfies Family], address });
