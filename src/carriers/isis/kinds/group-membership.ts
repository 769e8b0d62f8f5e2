// Members of End.MT groups, in GENINFO TLVs (RFC 6823). The application's information is one octet of flags, then the
// private container (packet/sid-container.ts). Flag 0x80 marks copies that a router leaked from the other level; down
// copies have GENINFO's flag D too. GENINFO belongs into an instance of its own (RFC 6823 §4); a router has no second
// one, and members are few compared with prefixes.
import { warnLimited } from '../../effects.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { type GroupMember, isUsableMember, memberKey, sameMember } from '../../../model/group.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import type { GenInfo, IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { concat } from '../../../packet/bytes.ts';
import {
  containedMember,
  containerTlvSize,
  decodeSidContainer,
  encodeSidContainer,
} from '../../../packet/sid-container.ts';
import { type IsisKind, NOTHING_FOUND } from './kind.ts';

interface ReadMember extends GroupMember {
  readonly kind: 'group-membership';
  /** Leaked from the other level. */
  readonly copy: boolean;
  /** Leaked from level 2 to level 1. */
  readonly down: boolean;
  /** Of GENINFO, by the code points. */
  readonly applicationId: number;
}

interface OwnMember extends ReadMember {
  readonly key: string;
}

const GENINFO_TYPE = 251;
const COPY = 0x80;
/** Octets of a TLV before the members: type, length, GENINFO's header, flags, the container's header. */
const OVERHEAD = 2 + 3 + 1 + 4;
const CAPACITY = 255 - (OVERHEAD - 2);

/** One for originals, and one for copies of each direction: their flags are those of the TLV. */
const PACKINGS = ['original', 'up', 'down'].map(() => ({ capacity: CAPACITY, overhead: OVERHEAD }));
const packingOf = ({ copy, down }: ReadMember): number => (down ? 2 : copy ? 1 : 0);

const sizeOf = (member: GroupMember): number => containerTlvSize(containedMember(member));
const keyOf = (member: GroupMember): string => `group:${memberKey(member)}`;

export const GROUP_MEMBERSHIP: IsisKind<AdvertisementOf<'group-membership'>, OwnMember, ReadMember> = {
  kind: 'group-membership',
  own: {
    addressOf: ({ node }) => node,
    desired(advertisements, s) {
      const desired = new Map<string, OwnMember>();
      const applicationId = s.config.codePoints['isis-group-application'];
      for (const member of advertisements) {
        const key = keyOf(member);
        if (isUsableMember(member)) desired.set(key, { ...member, key, applicationId, copy: false, down: false });
        else warnLimited(s, 'originate.unusable-group-member', {}, 'group member not advertised: it cannot be reached');
      }
      return { entries: [...desired.values()], fragment0: [] };
    },
    entries: {
      packings: PACKINGS,
      packingOf,
      size: sizeOf,
      same: (a, b) => a.copy === b.copy && a.down === b.down && a.applicationId === b.applicationId && sameMember(a, b),
      encode: genInfoTlvs,
    },
  },
  received: {
    walked: [],
    reader(_lsp, { codePoints }) {
      const found = new Map<string, ReadMember>();
      return {
        tlv(tlv, report) {
          if (tlv.kind === 'geninfo' && tlv.applicationId === codePoints['isis-group-application'])
            readMembers(tlv, found, report);
        },
        end(_node, keepLeakable) {
          if (found.size === 0) return NOTHING_FOUND;
          const entries = [...found.values()];
          return { ...NOTHING_FOUND, entries, leakable: keepLeakable ? entries : [], cost: entries.length };
        },
      };
    },
    learned: (entries) => entries.map(({ copy: _, down: __, applicationId: ___, ...learned }) => learned),
  },
  leaking: {
    keyOf,
    isCopy: ({ copy }) => copy,
    mayLeak: ({ down }, from) => from === 2 || !down,
    compare: (a, b) => Number(a.entry.copy) - Number(b.entry.copy),
    copy: ({ entry }, to) => ({ ...entry, key: keyOf(entry), copy: true, down: to === 1 }),
  },
};

/** Of several entries with one key the first counts. */
function readMembers(
  { applicationId, info, down }: GenInfo,
  into: Map<string, ReadMember>,
  report: SubTlvReport,
): void {
  if (info.length === 0)
    return report(GENINFO_TYPE, { code: 'truncated', offset: 0, detail: 'GENINFO without the flags of a container' });
  const decoded = decodeSidContainer(info.subarray(1));
  if (!decoded.ok) return report(GENINFO_TYPE, decoded.error);
  const copy = down || (info[0]! & COPY) !== 0;
  for (const one of decoded.value) {
    if (one.tlv !== 'group') continue;
    const key = keyOf(one.member);
    if (!isUsableMember(one.member))
      report(GENINFO_TYPE, {
        code: 'group-member-unusable',
        offset: 0,
        detail: 'a group member that no packet can reach',
      });
    else if (!into.has(key)) into.set(key, { kind: 'group-membership', ...one.member, copy, down, applicationId });
  }
}

/** In their order, as many in a TLV as fit. */
function genInfoTlvs(entries: readonly OwnMember[]): IsisTlv[] {
  const tlvs: IsisTlv[] = [];
  for (const packing of PACKINGS.keys()) {
    let [open, size]: [OwnMember[], number] = [[], 0];
    for (const entry of entries) {
      if (packingOf(entry) !== packing) continue;
      if (size + sizeOf(entry) > CAPACITY) {
        tlvs.push(genInfoOf(open));
        [open, size] = [[], 0];
      }
      open.push(entry);
      size += sizeOf(entry);
    }
    if (open.length > 0) tlvs.push(genInfoOf(open));
  }
  return tlvs;
}

/** Flag S of GENINFO: it is for the whole domain. */
const genInfoOf = (members: readonly OwnMember[]): GenInfo => ({
  kind: 'geninfo',
  applicationId: members[0]!.applicationId,
  domainWide: true,
  down: members[0]!.down,
  otherFlags: 0,
  info: concat(Uint8Array.of(members[0]!.copy ? COPY : 0), encodeSidContainer(members.map(containedMember))),
});
