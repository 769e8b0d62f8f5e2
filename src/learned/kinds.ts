// Which store of the learned table keeps which kind of advertisement.
import type { IpAddress } from '../model/address.ts';
import { type GroupMember, memberKey } from '../model/group.ts';
import type { AdvertisementKind, LearnedAdvertisement, LearnedOf } from '../model/advertisement.ts';

/** A kind that is about the router itself, not about senders: routers.ts keeps it. */
export interface RouterKind<K extends AdvertisementKind> {
  /** Its counters are `<counter>.unusable` and `<counter>.table-full`. */
  readonly counter: string;
  /** Used only if it is a unicast address of a host. */
  addressOf(learned: LearnedOf<K>): IpAddress;
  /** The most entries. Those beyond are counted, and kept only when their source reports again. */
  readonly most: number;
  /** Those of one originator. */
  readonly mostOfOriginator: number;
  /** The whole content: when it changes, a new plan is due. */
  text(learned: LearnedOf<K>): string;
}

/** Sender prefixes, of which there may be a million, are in the trie of table.ts. */
type SenderKind = 'sender-prefix';
type Stores = { readonly [K in AdvertisementKind]: K extends SenderKind ? 'trie' : RouterKind<K> };

const STORES: Stores = {
  'sender-prefix': 'trie',
  sid: {
    counter: 'learned.sid',
    most: 16_384,
    mostOfOriginator: Infinity,
    addressOf: ({ sid }) => sid,
    text: ({ sid, behavior }) => `${sid.value} ${behavior}`,
  },
  'router-address': {
    counter: 'learned.router-address',
    most: 16_384,
    mostOfOriginator: Infinity,
    addressOf: ({ address }) => address,
    text: ({ address }) => `${address.family} ${address.value}`,
  },
  'group-membership': {
    counter: 'learned.group-member',
    // Those of a whole domain, from four routers that pass them on between areas or levels.
    most: 4 * 10_240,
    mostOfOriginator: 10_240,
    addressOf: ({ address }) => address,
    text: (member) => `${memberKey(member)} ${member.node.value} ${JSON.stringify(changesOf(member))}`,
  },
};

const changesOf = ({ qpn, psnDelta, write }: GroupMember): unknown => [
  qpn,
  psnDelta,
  write && [`${write.vaDelta}`, write.rKey],
];

export type SenderAdvertisement = LearnedOf<SenderKind>;
export type RouterAdvertisement = Exclude<LearnedAdvertisement, SenderAdvertisement>;
export type RouterKindName = RouterAdvertisement['kind'];

export const isSender = (learned: LearnedAdvertisement): learned is SenderAdvertisement =>
  learned.kind === 'sender-prefix';

const isRouterKind = (kind: AdvertisementKind): kind is RouterKindName =>
  STORES[kind] !== undefined && STORES[kind] !== 'trie';

export const ROUTER_KINDS = (Object.keys(STORES) as AdvertisementKind[]).filter(isRouterKind);

export const routerKind = (kind: RouterKindName): RouterKind<RouterKindName> => STORES[kind];

/** The advertisements that routers.ts keeps. @param unknown called for each of a kind that has no store */
export function routersIn(advertisements: readonly LearnedAdvertisement[], unknown: () => void): RouterAdvertisement[] {
  const found: RouterAdvertisement[] = [];
  for (const learned of advertisements) {
    if (isSender(learned)) continue;
    if (isRouterKind(learned.kind)) found.push(learned);
    else unknown();
  }
  return found;
}
