// For tests: what a router advertises and what a carrier reports, as one list a kind.
import type { IpAddress } from './address.ts';
import type {
  AdvertisementKinds,
  AdvertisementOf,
  LearnedAdvertisement,
  LearnedOf,
  Origination,
} from './advertisement.ts';

type Untagged<T> = Omit<T, 'kind'>;

export interface Declared {
  readonly proxies?: readonly AdvertisementKinds['sender-prefix'][];
  readonly sids?: readonly AdvertisementKinds['sid'][];
  /** Those where STAMP is answered. */
  readonly routerAddresses?: readonly IpAddress[];
  /** Those where it is not. */
  readonly identity?: readonly IpAddress[];
}

export const origination = ({
  proxies = [],
  sids = [],
  routerAddresses = [],
  identity = [],
}: Declared): Origination => [
  ...proxies.map((fields) => ({ kind: 'sender-prefix', ...fields }) as const),
  ...sids.map((fields) => ({ kind: 'sid', ...fields }) as const),
  ...identity.map((address) => ({ kind: 'router-address', address, answersStamp: false }) as const),
  ...routerAddresses.map((address) => ({ kind: 'router-address', address, answersStamp: true }) as const),
];

/** Those of sender prefixes. */
export const sendersOf = (declared: Origination): AdvertisementOf<'sender-prefix'>[] =>
  declared.filter((a) => a.kind === 'sender-prefix');

export const senderPrefix = (fields: Untagged<LearnedOf<'sender-prefix'>>): LearnedOf<'sender-prefix'> => ({
  kind: 'sender-prefix',
  ...fields,
});

export interface Reported {
  readonly prefixes?: readonly Untagged<LearnedOf<'sender-prefix'>>[];
  readonly sids?: readonly Untagged<LearnedOf<'sid'>>[];
  readonly routerAddresses?: readonly IpAddress[];
}

/** What a report holds. */
export const reported = ({ prefixes = [], sids = [], routerAddresses = [] }: Reported): LearnedAdvertisement[] => [
  ...prefixes.map(senderPrefix),
  ...sids.map((fields) => ({ kind: 'sid', ...fields }) as const),
  ...routerAddresses.map((address) => ({ kind: 'router-address', address }) as const),
];

export interface ByKind {
  readonly prefixes: readonly LearnedOf<'sender-prefix'>[];
  readonly sids: readonly LearnedOf<'sid'>[];
  readonly routerAddresses: readonly IpAddress[];
}

export const byKind = (advertisements: readonly LearnedAdvertisement[]): ByKind => ({
  prefixes: advertisements.filter((a) => a.kind === 'sender-prefix'),
  sids: advertisements.filter((a) => a.kind === 'sid'),
  routerAddresses: advertisements.filter((a) => a.kind === 'router-address').map(({ address }) => address),
});
