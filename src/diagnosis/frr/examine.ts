// FRR as a whole: the preconditions of every carrier that cnpd.yaml declares.
import type { FrrCheck } from '../../frr/check.ts';
import { type FrrLocation, gatherFrrFacts } from '../../frr/frr-facts.ts';
import { gatherOspfFacts } from '../../frr/ospf-facts.ts';
import type { Intent } from '../../intent/intent.ts';
import { checkFrr } from './isis.ts';
import type { FrrExpectation } from './isis-view.ts';
import { checkOspf } from './ospf.ts';
import type { OspfExpectation } from './ospf-view.ts';

/** The carriers' requirements. Absent: the carrier is not declared, and FRR is not examined for it. */
export interface FrrExpectations {
  readonly isis?: FrrExpectation;
  readonly ospfv2?: OspfExpectation;
  readonly ospfv3?: OspfExpectation;
}

/** What each declared carrier requires of FRR. */
export const frrExpectations = ({ isis, ospfv2, ospfv3, srv6 }: Intent): FrrExpectations => ({
  ...(isis && { isis: { ...isis, ...sidsOf(srv6) } }),
  ...(ospfv2 && { ospfv2 }),
  ...(ospfv3 && { ospfv3: { ...ospfv3, ...sidsOf(srv6) } }),
});

const sidsOf = (srv6: Intent['srv6']) => ({
  endCon: srv6?.endCon ?? [],
  groupSids: [srv6?.endMt, srv6?.replication].filter((sid) => sid !== undefined),
});

/** Never rejects: a failed query is one of the checks. */
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
