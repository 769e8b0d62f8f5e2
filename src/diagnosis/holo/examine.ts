// Holo as a whole: the preconditions of every carrier that cnpd.yaml declares.
import type { HoloCheck } from '../../holo/check.ts';
import { type Asked, type HoloFacts, gatherHoloFacts } from '../../holo/facts.ts';
import type { HoloNorthbound } from '../../holo/northbound.ts';
import type { Intent } from '../../intent/intent.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { type CheckedRow, VERSION_CLAIM, checkAnswer, checkVersion } from './finding.ts';
import { checkIsis } from './isis.ts';
import { checkOspf } from './ospf.ts';

/** The interfaces of the carriers that need Holo; none: nothing is asked. */
export const askedOf = ({ isis, ospfv2, ospfv3 }: Intent): Asked[] => [
  ...(isis ? [{ protocol: 'isis' as const, interface: isis.interface }] : []),
  ...[ospfv2, ospfv3].flatMap((section) =>
    (section?.areas ?? []).map(({ areaId, interface: name }) => ({
      protocol: `ospfv${section!.version}` as const,
      interface: name,
      area: formatId(areaId),
    })),
  ),
];

/** Never rejects: a failed query is one of the checks. */
export async function examineHolo(
  intent: Intent,
  target: string,
  northbound: Pick<HoloNorthbound, 'version' | 'config' | 'interfaceState'>,
): Promise<HoloCheck[]> {
  return checkHolo(intent, target, await gatherHoloFacts(northbound, askedOf(intent)));
}

/** Every precondition with its state, in the order in which to fix them. */
export function checkHolo({ isis, ospfv2, ospfv3, srv6 }: Intent, target: string, facts: HoloFacts): HoloCheck[] {
  const silent = facts.error !== undefined;
  return [
    checkOf('holo.northbound', 'Holo answers', checkAnswer(facts, target)),
    checkOf('holo.version', VERSION_CLAIM, silent ? 'unknown' : checkVersion(facts)),
    ...(isis ? under('isis', checkIsis(facts, { ...isis, ...(srv6 && { srv6 }) })) : []),
    ...(ospfv2 ? under('ospfv2', checkOspf(facts, ospfv2)) : []),
    ...(ospfv3 ? under('ospfv3', checkOspf(facts, ospfv3)) : []),
  ];
}

const under = (protocol: string, rows: readonly CheckedRow[]): HoloCheck[] =>
  rows.map(({ id, claim, finding }) => checkOf(`holo.${protocol}.${id}`, claim, finding));

function checkOf(id: string, claim: string, finding: CheckedRow['finding']): HoloCheck {
  if (finding === undefined) return { id, claim, state: 'ok' };
  if (finding === 'unknown') return { id, claim, state: 'unknown' };
  const { warning, ...rest } = finding;
  return { id, claim, state: warning ? 'warning' : 'missing', ...rest };
}
