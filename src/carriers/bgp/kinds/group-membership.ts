// Members of End.MT groups: in the private characteristic of this router's host routes, like its SIDs.
import { warnLimited } from '../../effects.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { isUsableMember, memberKey } from '../../../model/group.ts';
import { containedMember, containerTlvSize } from '../../../packet/sid-container.ts';
import { placeInHostRoutes } from './host-routes.ts';
import { type BgpKind, NOTHING_FOUND } from './kind.ts';

type ReadMember = AdvertisementOf<'group-membership'>;
interface OwnMember extends ReadMember {
  readonly key: string;
}

export const GROUP_MEMBERSHIP: BgpKind<ReadMember, OwnMember, ReadMember> = {
  kind: 'group-membership',
  own: {
    declare(advertisements, paths, s) {
      const usable = advertisements.filter(isUsableMember);
      const unusable = advertisements.length - usable.length;
      if (unusable > 0) {
        paths.leaveOut(unusable);
        const message = 'a group member that cannot be reached is not advertised';
        warnLimited(s, 'originate.unusable-group-member', {}, message, unusable);
      }
      const entries = usable.map((one) => ({ ...one, key: memberKey(one) }));
      placeInHostRoutes(entries, paths, s, 'group members');
      return [];
    },
    entries: {
      size: (entry) => containerTlvSize(containedMember(entry)),
      preferred: (a) => a,
      encode: (entry) => ({ container: [containedMember(entry)] }),
    },
  },
  received: {
    read({ container = [] }) {
      const members = container.flatMap((one) => (one.tlv === 'group' ? [one.member] : []));
      if (members.length === 0) return NOTHING_FOUND;
      const usable = members.filter(isUsableMember);
      const entries = usable.map((member) => ({ kind: 'group-membership', ...member }) as const);
      const warnings = Array.from(
        { length: members.length - usable.length },
        () => 'characteristic.unusable-group-member',
      );
      return { ...NOTHING_FOUND, entries, status: entries.length > 0 ? 'used' : 'nothing', warnings };
    },
    learned: (entries) => entries,
    shown: () => ({}),
  },
  viaNextHop: 'never',
};
