// Whether anybody hears what a carrier advertises.
import type { CarrierName } from '../model/advertisement.ts';
import type { Carriers } from './carriers.ts';

const tells = ({ carrier }: Pick<Carriers['ospfv2'], 'carrier'>): boolean =>
  carrier?.neighbors().some(({ state, takesOpaque }) => state === 'full' && takesOpaque !== false) ?? false;

const HEARD: { readonly [N in CarrierName]: (slot: Pick<Carriers[N], 'carrier'>) => boolean } = {
  isis: ({ carrier }) => carrier?.neighbors().some(({ state }) => state === 'up') ?? false,
  ospfv2: tells,
  ospfv3: tells,
  bgp: ({ carrier }) => carrier?.session().state === 'ready',
};

/** Whether there is somebody who hears what the carrier advertises. */
export const isHeard = (carriers: Pick<Carriers, CarrierName>, name: CarrierName): boolean =>
  (HEARD[name] as (slot: Carriers[CarrierName]) => boolean)(carriers[name]);
