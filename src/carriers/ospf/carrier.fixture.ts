// For tests: the bytes of one LSA in a carrier's database.
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import type { OspfCarrier } from './carrier.ts';
import type { OspfRunner } from './runner.edge.ts';

/** As received or issued; its age is that of its arrival. */
export function rawLsa(carrier: OspfCarrier, areaId: number, key: LsaKey): Uint8Array | undefined {
  const { runner } = carrier as unknown as { readonly runner: OspfRunner };
  return runner.speaker.areas.get(areaId)?.lsdb.byKey.get(lsaKeyText(key))?.raw.slice();
}
