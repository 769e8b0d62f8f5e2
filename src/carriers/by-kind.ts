// What a router advertises, one list a kind, for carriers that have no table of kinds yet.
import type { IpAddress } from '../model/address.ts';
import type { AdvertisementOf, Origination } from '../model/advertisement.ts';

export interface DeclaredByKind {
  readonly proxies: readonly AdvertisementOf<'sender-prefix'>[];
  readonly sids: readonly AdvertisementOf<'sid'>[];
  /** Where STAMP is answered. */
  readonly routerAddresses: readonly IpAddress[];
  /** By which this router is known, whether or not STAMP is answered there. */
  readonly identity: readonly IpAddress[];
}

export function declaredByKind(origination: Origination): DeclaredByKind {
  const addresses = origination.filter((a) => a.kind === 'router-address');
  return {
    proxies: origination.filter((a) => a.kind === 'sender-prefix'),
    sids: origination.filter((a) => a.kind === 'sid'),
    routerAddresses: addresses.filter(({ answersStamp }) => answersStamp).map(({ address }) => address),
    identity: addresses.map(({ address }) => address),
  };
}
