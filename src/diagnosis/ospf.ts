// Problems of OSPF: an area has no neighbor, or one that cannot learn; or nothing is advertised between areas.
import type { Intent, OspfIntent } from '../intent/intent.ts';
import type { OspfNeighborState } from '../model/carrier-state.ts';
import type { Problem, ProblemCode } from '../model/problem.ts';
import { suiteNameOf, titleOf } from '../model/router-suite.ts';
import { formatId } from '../packet/ospf/router-id.ts';
import { ADJACENCY_PATIENCE_MS } from './patience.ts';

/** Times are milliseconds since 1970. */
export function ospfProblems(
  intent: OspfIntent | undefined,
  carrier: { neighbors(): OspfNeighborState[] } | undefined,
  startedAt: number,
  now: number,
  router: Intent['router'],
): Problem[] {
  if (!intent || !carrier) return [];
  return carrier.neighbors().flatMap((neighbor) => {
    // Not the time in its state: an exchange that restarts again and again is never in one for long.
    const since = Math.max(startedAt, Date.parse(neighbor.notFullSince ?? neighbor.since));
    const late = now - since >= ADJACENCY_PATIENCE_MS + intent.helloSeconds * 1000;
    return [...standing(intent, neighbor, router), ...adjacency(intent, neighbor, late, router)].slice(0, 1);
  });
}

const ospf = (
  { version }: Pick<OspfIntent, 'version'>,
  code: ProblemCode,
  problem: string,
  remedy: string,
): Problem[] => [{ code, feature: `ospfv${version}`, problem, remedy }];

/** Whether or not the neighbor is full. */
function standing(intent: OspfIntent, neighbor: OspfNeighborState, router: Intent['router']): Problem[] {
  const { version } = intent;
  const { area } = neighbor;
  if (neighbor.takesOpaque === false) {
    const suite = titleOf(router);
    const problem = `${suite} accepts no opaque LSAs on ${neighbor.interface} (area ${area}): nothing is advertised there`;
    const remedy =
      suiteNameOf(router) === 'frr'
        ? "vtysh -c 'configure terminal' -c 'router ospf' -c 'capability opaque'"
        : `have ${suite} accept opaque LSAs (RFC 5250)`;
    return ospf(intent, 'ospf.no-opaque', problem, remedy);
  }
  if (neighbor.routerIdContested) {
    const problem =
      `another router in area ${area} has the router ID ${formatId(intent.routerId)}: ` +
      "each undoes the other's advertisements";
    const remedy = `give one of the two another ospfv${version}.router-id in cnpd.yaml, and \`cnpctl reload\``;
    return ospf(intent, 'ospf.router-id-contested', problem, remedy);
  }
  if (neighbor.databaseFull) {
    const problem =
      `the OSPFv${version} database of area ${area} is full: LSAs were refused, ` +
      'and their contents are not learned';
    const remedy = `look in \`cnpctl show ospfv${version} database\` for routers with many or long LSAs`;
    return ospf(intent, 'ospf.database-full', problem, remedy);
  }
  return [];
}

/** @param late whether an adjacency should be up by now */
function adjacency(
  intent: OspfIntent,
  neighbor: OspfNeighborState,
  late: boolean,
  router: Intent['router'],
): Problem[] {
  const { version } = intent;
  const suite = titleOf(router);
  const { area, state, mtu } = neighbor;
  if (state === 'full') return [];
  const declared = intent.areas.find((a) => a.interface === neighbor.interface);
  // The side with the smaller MTU refuses. If that is the daemon, the only sign is an exchange without progress.
  if (
    declared &&
    mtu !== null &&
    ((mtu > declared.mtu && !declared.ignoreMtu) || (mtu < declared.mtu && late && state === 'ex-start'))
  ) {
    const problem =
      `the MTU of ${neighbor.interface} (area ${area}) is ${mtu} in ${suite} and ${declared.mtu} in cnpd: ` +
      'the databases cannot be exchanged';
    const ifMtu = version === 3 && suiteNameOf(router) === 'frr' ? ', or remove `ifmtu` from FRR' : '';
    const remedy =
      `ip link set ${neighbor.interface} mtu ${declared.mtu}${ifMtu}, ` +
      `or set ospfv${version}.areas mtu to ${mtu} in cnpd.yaml`;
    return ospf(intent, 'ospf.mtu', problem, remedy);
  }
  if (!late) return [];
  const problem =
    `no OSPFv${version} neighbor is full on ${neighbor.interface} (area ${area}) ` +
    `but ${state} (${neighbor.reason}): nothing is advertised there, ` +
    'and learned entries are held for a while and then dropped';
  return ospf(intent, 'ospf.no-neighbor', problem, `fix what \`cnpctl doctor\` finds in ${suite}`);
}

/**
 * Several areas, but no backbone among them: then no router is a border router (RFC 2328 §3.3), and nothing is
 * advertised between them.
 */
export const borderProblems = (intent: Intent): Problem[] =>
  [intent.ospfv2, intent.ospfv3]
    .filter((section) => section !== undefined)
    .filter(({ areas }) => areas.length > 1 && !areas.some(({ areaId }) => areaId === 0))
    .flatMap(({ version }) =>
      ospf(
        { version },
        'ospf.no-backbone',
        `nothing is advertised between the areas of ospfv${version}: none of them is the backbone, area 0.0.0.0`,
        `add the backbone to ospfv${version}.areas if this router is in it; if not, ` +
          'a router in both must advertise between them',
      ),
    );
