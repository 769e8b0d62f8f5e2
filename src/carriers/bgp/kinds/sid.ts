// SRv6 SIDs of a router: in the private characteristic of its host routes, because BGP has no place for a SID that is
// no service's.
import { warnLimited } from '../../effects.ts';
import { type IpAddress, formatAddress } from '../../../model/address.ts';
import type { AdvertisementKinds, AdvertisementOf } from '../../../model/advertisement.ts';
import { sidBehaviors } from '../../../model/code-points.ts';
import { EncodeError } from '../../../packet/encode-error.ts';
import { type ContainerTlv, containerTlvSize } from '../../../packet/sid-container.ts';
import { placeInHostRoutes } from './host-routes.ts';
import { type BgpKind, NOTHING_FOUND } from './kind.ts';

interface ReadSid {
  readonly kind: 'sid';
  readonly sid: IpAddress;
  readonly behavior: number;
}
interface OwnSid extends AdvertisementOf<'sid'> {
  readonly key: string;
}

const contained = ({ sid, locator, behavior }: AdvertisementKinds['sid']): ContainerTlv => ({
  tlv: 'sid',
  sid,
  locator,
  behavior,
});

export const SID: BgpKind<AdvertisementOf<'sid'>, OwnSid, ReadSid> = {
  kind: 'sid',
  own: {
    declare(advertisements, paths, s) {
      const usable = advertisements.filter(isEncodable);
      const unusable = advertisements.length - usable.length;
      if (unusable > 0) {
        paths.leaveOut(unusable);
        const message = 'a SID that is not in its locator is not advertised';
        warnLimited(s, 'originate.unusable-sid', {}, message, unusable);
      }
      const entries = usable.map((one) => ({ ...one, key: formatAddress(one.sid) }));
      placeInHostRoutes(entries, paths, s, 'SIDs');
      return [];
    },
    entries: {
      size: (entry) => containerTlvSize(contained(entry)),
      preferred: (a) => a,
      encode: (entry) => ({ container: [contained(entry)] }),
    },
  },
  received: {
    read({ container = [], isOwn }, { codePoints }) {
      const sids = container.filter((one) => one.tlv === 'sid');
      const behaviors = sidBehaviors(codePoints);
      const known = sids.filter(({ behavior }) => isOwn || behaviors.has(behavior));
      if (known.length === 0) return NOTHING_FOUND;
      const entries = known.map(({ sid, behavior }) => ({ kind: 'sid', sid, behavior }) as const);
      return { ...NOTHING_FOUND, entries, status: 'used' };
    },
    learned: (entries) => entries,
    shown: (entries) => ({ sids: entries.map(({ sid }) => formatAddress(sid)) }),
  },
  viaNextHop: 'never',
};

function isEncodable(sid: AdvertisementKinds['sid']): boolean {
  try {
    return containerTlvSize(contained(sid)) > 0;
  } catch (error) {
    if (error instanceof EncodeError) return false;
    throw error;
  }
}
