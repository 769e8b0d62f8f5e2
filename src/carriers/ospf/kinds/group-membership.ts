// Members of End.MT groups, in cnpd's private LSA: an opaque LSA in OSPFv2, and in OSPFv3 an LSA of a function for
// private use, both with area scope. Groups are of IPv6; OSPFv2 carries them as it carries SIDs.
import { warnLimited } from '../../effects.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { type GroupMember, compareClaims, isUsableMember, memberKey, sameMember } from '../../../model/group.ts';
import type { PrivateLsa } from '../../../packet/ospf/lsa/types.ts';
import { TYPE_V2, U_BIT, opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import type { RawLsa } from '../../../packet/ospf/types.ts';
import {
  containedMember,
  containerTlvSize,
  decodeSidContainer,
  encodeSidContainer,
} from '../../../packet/sid-container.ts';
import { CONTAINER_HEADER, CONTAINER_IDS, OPAQUE_IDS, routeOfContainer } from './container.ts';
import type { EntryEncoding, EntryLsa, KindOptions, OspfKind, Warn } from './kind.ts';
import { type RouteKind, compareRoutes, isCopy, mayLeak } from './route.ts';

interface MemberEntry extends GroupMember {
  readonly kind: 'group-membership';
  readonly route: RouteKind;
}

const AREA_SCOPE = 0x2000;
const IDS = CONTAINER_IDS['group-membership'];

const inContainer: Omit<EntryLsa<MemberEntry>, 'type' | 'firstId'> = {
  lsas: OPAQUE_IDS,
  entries: Infinity,
  overhead: CONTAINER_HEADER,
  size: (entry) => containerTlvSize(containedMember(entry)),
  body: (entries) => ({ kind: 'private', container: encodeSidContainer(entries.map(containedMember)) }),
};

const opaqueLsa = (firstId: number): EntryLsa<MemberEntry> => ({
  ...inContainer,
  type: () => TYPE_V2.opaqueArea,
  firstId: ({ opaqueType }) => opaqueLsId(opaqueType, firstId),
});

const privateLsa = (firstId: number): EntryLsa<MemberEntry> => ({
  ...inContainer,
  type: ({ functionCode }) => U_BIT | AREA_SCOPE | functionCode,
  firstId: () => firstId,
});

const encoding = (lsa: (firstId: number) => EntryLsa<MemberEntry>): EntryEncoding<MemberEntry> => ({
  lsas: [lsa(IDS.original), lsa(IDS.copy)],
  lsaOf: (entry) => (isCopy(entry) ? 1 : 0),
});

export const GROUP_MEMBERSHIP: OspfKind<AdvertisementOf<'group-membership'>, MemberEntry> = {
  kind: 'group-membership',
  own: {
    others: () => [],
    entries: {
      *desired(advertisements, s) {
        for (const member of advertisements.toSorted(compareClaims)) {
          const usable = isUsableMember(member);
          if (!usable) {
            s.unencodable++;
            warnLimited(s, 'originate.unusable-group-member', {}, 'group member not advertised: it cannot be reached');
          }
          yield usable ? { ...member, route: 'intra-area' } : undefined;
        }
      },
      keyOf: (entry) => `group:${memberKey(entry)}`,
      same: sameMember,
      encoding: { 2: encoding(opaqueLsa), 3: encoding(privateLsa) },
    },
  },
  received: {
    reading: {
      2: { walk: 'none', bodies: { private: readMembers } },
      3: { walk: 'none', bodies: { private: readMembers } },
    },
    repeated: 'all-count',
    needsAddress: () => false,
    learned: (entries) => entries.map(({ route: _, ...learned }) => learned),
  },
  leaking: {
    isLeakable: () => true,
    isCopy,
    mayLeak,
    compare: (a, b) => compareRoutes(a.entry, b.entry),
    copy: ({ entry }) => ({ ...entry, route: 'inter-area' }),
  },
  proxyPrefixes: () => 0,
};

/** The row of SIDs reports a malformed container of OSPFv2, which has no other kind of LSA for them. */
function readMembers(
  { container }: PrivateLsa,
  lsa: RawLsa,
  { version }: KindOptions,
  warn: Warn,
): readonly MemberEntry[] {
  const decoded = decodeSidContainer(container);
  if (!decoded.ok) {
    if (version === 3) warn('bad-container');
    return [];
  }
  const route = routeOfContainer(lsa);
  const members = decoded.value.flatMap((one) => (one.tlv === 'group' ? [one.member] : []));
  const usable = members.filter(isUsableMember);
  if (usable.length < members.length) warn('unusable-group-member');
  return usable.map((member) => ({ kind: 'group-membership', ...member, route }));
}
