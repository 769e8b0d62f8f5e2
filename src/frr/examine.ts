// FRR as a whole: the preconditions of every carrier that cnpd.yaml declares.
import { type FrrLocation, gatherFrrFacts } from './facts.ts';
import type { FrrCheck } from './finding.ts';
import { gatherOspfFacts } from './ospf-facts.ts';
import { type OspfExpectation, checkOspf } from './ospf-preconditions.ts';
import { type FrrExpectation, checkFrr } from './preconditions.ts';

/** What the carriers expect; absent: the carrier is not declared, and FRR is not asked about it. */
export interface FrrExpectations {
  readonly isis?: FrrExpectation;
  readonly ospfv2?: OspfExpectation;
  readonly ospfv3?: OspfExpectation;
}

/** Never rejects: what cannot be asked is among the checks. */
export async function examineFrr(
  location: FrrLocation,
  { isis, ospfv2, ospfv3 }: FrrExpectations,
): Promise<FrrCheck[]> {
  const ospf = async (want: OspfExpectation): Promise<FrrCheck[]> =>
    checkOspf(
      await gatherOspfFacts(
        location,
        want.version,
        want.areas.map((area) => area.interface),
      ),
      want,
    );
  const checks = await Promise.all([
    isis ? gatherFrrFacts(location, isis.interface).then((facts) => checkFrr(facts, isis)) : [],
    ospfv2 ? ospf(ospfv2) : [],
    ospfv3 ? ospf(ospfv3) : [],
  ]);
  return checks.flat();
}

/** Checks that say that a routing daemon cannot be asked at all. */
export const DAEMON_CHECKS: ReadonlySet<string> = new Set(['frr.isisd', 'frr.ospfv2.ospfd', 'frr.ospfv3.ospf6d']);
