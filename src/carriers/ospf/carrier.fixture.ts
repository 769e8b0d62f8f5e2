// For tests: what a carrier is configured with, and the bytes of one LSA in its database.
import { address } from '../../model/address.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import type { OspfCarrier, OspfCarrierOptions } from './carrier.ts';
import type { OspfRunner } from './runner.edge.ts';

export const AREA_OPTIONS: OspfCarrierOptions['areas'][number] = {
  areaId: 0,
  interface: 'cnpd-ospf0',
  mtu: 1500,
  ignoreMtu: false,
  instanceId: 0,
  link: { router: address('169.254.89.0'), own: address('169.254.89.1'), length: 31 },
  keys: [],
};
/** OSPFv2 in one area. */
export const OPTIONS: OspfCarrierOptions = {
  version: 2,
  routerId: 0xc00002c9,
  areas: [AREA_OPTIONS],
  helloSeconds: 10,
  deadSeconds: 40,
  retransmitMs: 5000,
  holdUnreachableMs: 120_000,
};

/** As received or issued; its age is that of its arrival. */
export function rawLsa(carrier: OspfCarrier, areaId: number, key: LsaKey): Uint8Array | undefined {
  const { runner } = carrier as unknown as { readonly runner: OspfRunner };
  return runner.speaker.areas.get(areaId)?.lsdb.byKey.get(lsaKeyText(key))?.raw.slice();
}
