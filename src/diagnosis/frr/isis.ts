// FRR's preconditions for cnpd's IS-IS carrier, one row of the table each. A row names the problem and the line that
// fixes it. If the line affects only cnpd's own interface, or does not affect routing, src/frr/configure.ts may apply
// it.
// Operator decisions (NET, is-type, keys of the domain) are reported, never changed.
import type { FrrCheck, FrrLine } from '../../frr/check.ts';
import type { FrrFacts } from '../../frr/frr-facts.ts';
import {
  type CircuitType,
  FRR_DEFAULTS,
  type IsisInstanceConfig,
  type IsisInterfaceConfig,
  isisInstances,
  isisInterface,
  splitNet,
} from '../../frr/running-config.ts';
import { formatArea } from '../../model/isis-area.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';
import { hasEndCon, hasGroupSids, wayToEndCon } from './end-con.ts';
import { type Finding, VERSION_CLAIM, checkDaemon, checkLink, checkVersion, mend } from './finding.ts';
import { checkHelloKey, checkLevelKey } from './isis-authentication.ts';
import type { FrrExpectation, Row, View } from './isis-view.ts';

/** Seconds. With FRR's 30 the adjacency is advertised half a minute late. */
const SLOWEST_LSP_GENERATION = 5;
const LLC_BYTES = 3;

const levelsOf = (levels: FrrExpectation['levels']): (1 | 2)[] =>
  levels === '1-2' ? [1, 2] : [Number(levels) as 1 | 2];
const covers = (type: CircuitType, level: 1 | 2): boolean =>
  type === 'level-1-2' || type === (level === 1 ? 'level-1' : 'level-2-only');

const onInterface = (view: View, line: string, undo: string): FrrLine => ({
  context: `interface ${view.want.interface}`,
  line,
  undo,
});

const FIRST_ROWS = [
  {
    id: 'isisd',
    claim: 'isisd runs and answers',
    check: ({ isisdError, isisdEnabled }: FrrFacts): Finding | undefined =>
      checkDaemon('isisd', isisdError, isisdEnabled),
  },
  {
    id: 'version',
    claim: VERSION_CLAIM,
    check: ({ version }: FrrFacts): Finding | undefined => checkVersion(version),
  },
  {
    id: 'instance',
    claim: 'FRR runs IS-IS with a NET',
    check: ({ config }: FrrFacts): Finding | undefined => {
      const instances = isisInstances(config!);
      const remedy =
        "choose this router's NET: vtysh -c 'configure terminal' -c 'router isis core' -c 'lsp-gen-interval 1' " +
        "-c 'net <area>.<system-id>.00'";
      if (instances.length === 0) return { code: 'no-instance', problem: 'there is no router isis in FRR', remedy };
      return instances.every((instance) => instance.nets.length === 0)
        ? { code: 'no-net', problem: `router isis ${instances[0]!.tag} has no net`, remedy }
        : undefined;
    },
  },
] as const;

const ROWS: readonly Row[] = [
  {
    id: 'interface',
    claim: 'the interface exists',
    check: ({ facts, want }) => checkLink(want.interface, facts.link, facts.zebraError),
  },
  {
    id: 'enabled',
    claim: 'IS-IS for IPv6 is enabled on the interface',
    check: (view) => {
      const { link, instance, want } = view;
      if (link.tag6 === instance.tag) return undefined;
      if (link.tag6 !== undefined) {
        return {
          code: 'another-instance',
          problem: `${want.interface} is in router isis ${link.tag6}, which does not exist`,
          remedy: `vtysh -c 'configure terminal' -c 'interface ${want.interface}' -c 'no ipv6 router isis ${link.tag6}'`,
        };
      }
      return mend('not-enabled', `IS-IS is not enabled on ${want.interface}`, [
        onInterface(view, `ipv6 router isis ${instance.tag}`, `no ipv6 router isis ${instance.tag}`),
      ]);
    },
  },
  {
    id: 'point-to-point',
    claim: 'the interface is point-to-point',
    check: (view) =>
      view.link.pointToPoint
        ? undefined
        : mend('broadcast', `${view.want.interface} is a broadcast circuit to FRR`, [
            onInterface(view, 'isis network point-to-point', 'no isis network point-to-point'),
          ]),
  },
  {
    id: 'active',
    claim: 'the interface is not passive',
    check: (view) =>
      view.link.passive
        ? mend('passive', `${view.want.interface} is passive, so FRR sends no hello`, [
            onInterface(view, 'no isis passive', 'isis passive'),
          ])
        : undefined,
  },
  {
    id: 'three-way',
    claim: 'the three-way handshake is on',
    check: (view) =>
      view.link.threeWay
        ? undefined
        : mend('no-three-way', `the three-way handshake (RFC 5303) is off on ${view.want.interface}`, [
            onInterface(view, 'isis three-way-handshake', 'no isis three-way-handshake'),
          ]),
  },
  { id: 'level', claim: 'FRR runs the level of cnpd.yaml', check: checkLevel },
  { id: 'area', level: 1, claim: 'level 1 is in the same area', check: checkArea },
  { id: 'system-id', claim: "cnpd's system ID is not FRR's", check: checkSystemId },
  {
    id: 'lsp-gen-interval',
    claim: `FRR lists the adjacency within ${SLOWEST_LSP_GENERATION} s`,
    check: checkGeneration,
  },
  { id: 'mtu', claim: 'LSPs fit the interface', check: checkMtu },
  {
    id: 'end-con',
    only: hasEndCon,
    claim: 'packets to END.CON arrive here',
    check: ({ want, facts, instance }) => wayToEndCon(want.endCon ?? [], facts, instance, levelsOf(want.levels)),
  },
  {
    id: 'group-sids',
    only: hasGroupSids,
    claim: 'packets of groups arrive here',
    check: ({ want, facts, instance }) =>
      wayToEndCon(want.groupSids ?? [], facts, instance, levelsOf(want.levels), 'groups'),
  },
  { id: 'authentication-interface', claim: 'hello authentication agrees', check: checkHelloKey },
  {
    id: 'authentication-area',
    level: 1,
    claim: 'level-1 authentication agrees',
    check: (view) => checkLevelKey(view, 1),
  },
  {
    id: 'authentication-domain',
    level: 2,
    claim: 'level-2 authentication agrees',
    check: (view) => checkLevelKey(view, 2),
  },
];

function checkLevel(view: View): Finding | undefined {
  const { instance, link, want } = view;
  for (const level of levelsOf(want.levels)) {
    if (!covers(instance.isType, level)) {
      return {
        code: 'level-differs',
        problem: `router isis ${instance.tag} is ${instance.isType}, but isis.level in cnpd.yaml is ${want.levels}`,
        remedy: `set isis.level in cnpd.yaml to ${instance.isType === 'level-1' ? 1 : 2}`,
      };
    }
    if (link.circuitType !== undefined && !covers(link.circuitType, level)) {
      const type = instance.isType;
      return mend(
        'circuit-type',
        `${want.interface} is ${link.circuitType}, but isis.level in cnpd.yaml is ${want.levels}`,
        [onInterface(view, `isis circuit-type ${type}`, `isis circuit-type ${link.circuitType}`)],
      );
    }
  }
  return undefined;
}

function checkArea({ instance, want }: View): Finding | undefined {
  const areas = instance.nets.map((net) => splitNet(net).area);
  const ours = formatArea(want.area);
  return areas.includes(ours)
    ? undefined
    : {
        code: 'area-differs',
        problem: `cnpd is in area ${ours}, FRR in ${areas.join(', ')}`,
        remedy: `set isis.area in cnpd.yaml to ${areas[0]}`,
      };
}

function checkSystemId({ instance, want }: View): Finding | undefined {
  const ours = formatSystemId(want.systemId);
  const same = instance.nets.some((net) => splitNet(net).systemId === ours);
  return same
    ? {
        code: 'system-id-taken',
        problem: `isis.system-id in cnpd.yaml, ${ours}, is FRR's own`,
        remedy: 'set isis.system-id in cnpd.yaml to one that no other router has',
      }
    : undefined;
}

function checkGeneration({ instance, want }: View): Finding | undefined {
  const slow = levelsOf(want.levels).filter((level) => instance.lspGenInterval[level] > SLOWEST_LSP_GENERATION);
  if (slow.length === 0) return undefined;
  const lines = slow.map((level) => ({
    context: `router isis ${instance.tag}`,
    line: `lsp-gen-interval level-${level} 1`,
    undo:
      instance.lspGenInterval[level] === FRR_DEFAULTS.lspGenInterval
        ? `no lsp-gen-interval level-${level}`
        : `lsp-gen-interval level-${level} ${instance.lspGenInterval[level]}`,
  }));
  return mend(
    'lsp-generation-slow',
    `lsp-gen-interval is ${instance.lspGenInterval[slow[0]!]} s: ` +
      "for that long after a change FRR's LSP does not list cnpd",
    lines,
  );
}

function checkMtu({ facts, instance, want }: View): Finding | undefined {
  const need = instance.lspMtu + LLC_BYTES;
  if (!facts.link || facts.link.mtu >= Math.max(need, want.mtu)) return undefined;
  // cnpd created the interface with isis.mtu; something else has changed it since.
  if (want.mtu >= need) {
    return {
      code: 'mtu-changed',
      problem: `${want.interface} has MTU ${facts.link.mtu}, LSPs need ${need} and isis.mtu in cnpd.yaml is ${want.mtu}`,
      remedy: `ip link set ${want.interface} mtu ${want.mtu}`,
    };
  }
  return {
    code: 'mtu-small',
    problem: `${want.interface} has MTU ${facts.link.mtu}, LSPs of ${instance.lspMtu} bytes need ${need}`,
    remedy: `set isis.mtu in cnpd.yaml to at least ${need}`,
  };
}

/** The instance that the interface is in, or else the first one that runs the level. */
function chooseInstance(
  instances: readonly IsisInstanceConfig[],
  link: IsisInterfaceConfig,
  want: FrrExpectation,
): IsisInstanceConfig {
  return (
    instances.find((instance) => instance.tag === link.tag6) ??
    instances.find((instance) => levelsOf(want.levels).every((level) => covers(instance.isType, level))) ??
    instances[0]!
  );
}

/** Every precondition of the configured levels, with its state, in the order in which to fix them. */
export function checkFrr(facts: FrrFacts, want: FrrExpectation): FrrCheck[] {
  const checks: FrrCheck[] = [];
  let blocker: string | undefined;
  for (const { id, claim, check } of FIRST_ROWS) {
    const finding = blocker === undefined ? check(facts) : undefined;
    checks.push({
      id: `frr.${id}`,
      claim,
      state: blocker !== undefined ? 'unknown' : finding ? 'missing' : 'ok',
      ...finding,
    });
    // An old version does not stop the other checks.
    if (finding && id !== 'version') blocker = id;
  }
  const instances =
    blocker === undefined ? isisInstances(facts.config!).filter((instance) => instance.nets.length > 0) : [];
  for (const { id, claim, check } of ROWS.filter(
    ({ level, only }) => (level === undefined || levelsOf(want.levels).includes(level)) && (only?.(want) ?? true),
  )) {
    if (instances.length === 0) {
      checks.push({ id: `frr.${id}`, claim, state: 'unknown' });
      continue;
    }
    const link = isisInterface(facts.config!, want.interface);
    const finding = check({ want, facts, instance: chooseInstance(instances, link, want), link });
    checks.push({ id: `frr.${id}`, claim, state: finding ? 'missing' : 'ok', ...finding });
  }
  return checks;
}
