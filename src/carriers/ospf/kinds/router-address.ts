// The address of a router for traffic engineering (RFC 3630 §2.4.1, RFC 5329 §3), one per version. It is not copied
// into other areas.
import { warnLimited } from '../../effects.ts';
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import type { TrafficEngineeringLsa } from '../../../packet/ospf/lsa/types.ts';
import { TYPE_V2, opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import { FAMILY } from '../constants.ts';
import type { OwnLsa } from '../version.ts';
import type { OspfKind, PerVersion } from './kind.ts';

interface AddressEntry {
  readonly kind: 'router-address';
  readonly address: IpAddress;
}

const TRAFFIC_ENGINEERING_OPAQUE = 1;
const AREA_SCOPED_TE = 0xa00a;

const LSA: PerVersion<(address: IpAddress) => OwnLsa> = {
  2: (address) => ({
    type: TYPE_V2.opaqueArea,
    lsId: opaqueLsId(TRAFFIC_ENGINEERING_OPAQUE, 0),
    body: { kind: 'traffic-engineering-v2', tlvs: [{ kind: 'te-router-address', address }] },
  }),
  3: (address) => ({
    type: AREA_SCOPED_TE,
    lsId: 0,
    body: { kind: 'traffic-engineering-v3', tlvs: [{ kind: 'te-router-address', address }] },
  }),
};

export const ROUTER_ADDRESS: OspfKind<AdvertisementOf<'router-address'>, AddressEntry> = {
  kind: 'router-address',
  own: {
    /**
     * Other routers send probes to this address, so it must be one that answers STAMP. Of the version's family the
     * first is used.
     */
    others(advertisements, s) {
      const { version } = s.config;
      const [first, ...more] = advertisements.filter(
        ({ address, answersStamp }) => answersStamp && address.family === FAMILY[version] && isUnicastHost(address),
      );
      if (more.length > 0)
        warnLimited(
          s,
          'originate.router-address-left-out',
          { left: more.length },
          'OSPF advertises only one router address: the others are not advertised',
        );
      return first ? [LSA[version](first.address)] : [];
    },
    entries: 'none',
  },
  received: {
    reading: {
      2: { walk: 'none', bodies: { 'traffic-engineering-v2': read } },
      3: { walk: 'none', bodies: { 'traffic-engineering-v3': read } },
    },
    repeated: 'all-count',
    needsAddress: () => false,
    learned: (entries) => entries,
  },
  leaking: 'never',
  proxyPrefixes: () => 0,
};

/** The first unicast host address. */
export function routerAddressIn({ tlvs }: TrafficEngineeringLsa): IpAddress | undefined {
  for (const tlv of tlvs) if (tlv.kind === 'te-router-address' && isUnicastHost(tlv.address)) return tlv.address;
  return undefined;
}

function read(body: TrafficEngineeringLsa): readonly AddressEntry[] {
  const address = routerAddressIn(body);
  return address ? [{ kind: 'router-address', address }] : [];
}
