// For tests: the options of a carrier whose section of cnpd.yaml says nothing, as the intent has them.
import { load } from '../../intent/files.fixture.ts';
import type { BgpCarrierOptions } from './carrier.ts';

/** @param loopback of the router, as the file has it */
export const bgpOptions = (loopback: string, rest: Partial<BgpCarrierOptions> = {}): BgpCarrierOptions => ({
  ...load(`router: { name: r1, loopback: { ${loopback} } }\nbgp: {}\n`).bgp!,
  ...rest,
});
