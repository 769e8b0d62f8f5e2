// FRR's preconditions for cnpd's OSPF carriers: one table for the instance, one for each area's interface
// (ospf-area.ts), one row each. A row has configuration lines for src/frr/configure.ts if they affect only cnpd's own
// interface. Wider changes are reported, never made: an area, and `capability opaque`, for which ospfd takes all its
// adjacencies down and up again.
import type { FrrCheck } from '../../frr/check.ts';
import { type OspfVersionNumber, formatArea, ospfInstance, ospfInterface } from '../../frr/ospf-config.ts';
import { OSPF_DAEMON, type OspfFacts } from '../../frr/ospf-facts.ts';
import { hasEndCon, hasGroupSids, wayToEndConInOspf } from './end-con.ts';
import { type Finding, VERSION_CLAIM, checkDaemon, checkVersion } from './finding.ts';
import { AREA_ROWS } from './ospf-area.ts';
import type { OspfExpectation, Row, View } from './ospf-view.ts';

const CAPABILITY_OPAQUE =
  "vtysh -c 'configure terminal' -c 'router ospf' -c 'capability opaque' (ospfd takes its adjacencies down " +
  'and up again)';

const INSTANCE_ROWS: readonly Row<View>[] = [
  {
    id: 'capability-opaque',
    version: 2,
    claim: () => 'ospfd accepts opaque LSAs',
    check: ({ facts }) =>
      facts.process?.opaque
        ? undefined
        : {
            code: 'no-opaque',
            problem: 'ospfd does not accept opaque LSAs, which carry the flags',
            remedy: CAPABILITY_OPAQUE,
          },
  },
  {
    id: 'router-id',
    claim: () => "cnpd's router ID is not FRR's",
    check: ({ facts, want }) => {
      const ours = formatArea(want.routerId);
      return facts.process?.routerId === ours
        ? {
            code: 'router-id-taken',
            problem: `ospfv${want.version}.router-id in cnpd.yaml, ${ours}, is FRR's own`,
            remedy: `set ospfv${want.version}.router-id in cnpd.yaml to one that no other router has`,
          }
        : undefined;
    },
  },
  {
    id: 'end-con',
    version: 3,
    only: hasEndCon,
    claim: () => 'packets to END.CON arrive here',
    check: ({ want, facts, instance }) => wayToEndConInOspf(want.endCon ?? [], facts, instance),
  },
  {
    id: 'group-sids',
    version: 3,
    only: hasGroupSids,
    claim: () => 'packets of groups arrive here',
    check: ({ want, facts, instance }) => wayToEndConInOspf(want.groupSids ?? [], facts, instance, 'groups'),
  },
];

function noInstance(version: OspfVersionNumber): Finding {
  const instance = ospfInstance(version);
  return {
    code: 'no-instance',
    problem: `there is no ${instance} in FRR, or it has no router ID`,
    remedy:
      `vtysh -c 'configure terminal' -c '${instance}' -c '${version === 2 ? 'ospf' : 'ospf6'} router-id ` +
      "<router-id>'",
  };
}

/** Every precondition of one version, with its state, in the order in which to fix them. */
export function checkOspf(facts: OspfFacts, want: OspfExpectation): FrrCheck[] {
  const { version } = want;
  const daemon = OSPF_DAEMON[version];
  const has = facts.process !== undefined && facts.process !== null;
  const blocked = facts.error !== undefined;
  const result = (id: string, claim: string, finding: Finding | undefined, unknown = false): FrrCheck => ({
    id: `frr.ospfv${version}.${id}`,
    claim,
    state: unknown ? 'unknown' : finding ? 'missing' : 'ok',
    ...(unknown ? {} : finding),
  });
  const first = [
    result(daemon, `${daemon} runs and answers`, checkDaemon(daemon, facts.error, facts.enabled)),
    result('version', VERSION_CLAIM, checkVersion(facts.version), blocked),
    result('instance', `FRR runs OSPFv${version}`, has ? undefined : noInstance(version), blocked),
  ];
  const unknown = blocked || !has;
  const view: View = {
    want,
    facts,
    config: facts.config ?? new Map(),
    instance: facts.config?.get(ospfInstance(version)) ?? [],
  };
  const applies = (row: Pick<Row<never>, 'version' | 'only'>): boolean =>
    (row.version === undefined || row.version === version) && (row.only?.(want) ?? true);
  const ofInstance = INSTANCE_ROWS.filter(applies).map(({ id, claim, check }) =>
    result(id, claim(want), unknown ? undefined : check(view), unknown),
  );
  const ofAreas = want.areas.flatMap((area, n) => {
    const areaView = {
      ...view,
      area,
      where: `ospfv${version}.areas[${n}]`,
      link: ospfInterface(view.config, version, area.interface),
    };
    return AREA_ROWS.filter(applies).map(({ id, claim, check }) =>
      result(
        `${area.interface}.${id}`,
        `${area.interface}: ${claim(want)}`,
        unknown ? undefined : check(areaView),
        unknown,
      ),
    );
  });
  return [...first, ...ofInstance, ...ofAreas];
}
