// A thousand groups: what a plan costs when nothing has changed, when one claim has, and when a link has. Beside it the
// digests of the members of all groups alone, which a plan from nothing has to compute at least. Processor time of
// the whole process, garbage collection included: a plan waits for nothing.
import { loadIntent } from '../../intent/load.ts';
import { type IpAddress, address } from '../../model/address.ts';
import type { GroupMember } from '../../model/group.ts';
import type { TopologyReport } from '../../model/topology.ts';
import { membersDigest } from '../../groups/digests.ts';
import { membersInForce } from '../../groups/membership.ts';
import type { SidEntry } from '../../learned/routers.ts';
import type { Facts } from '../../plan/facts.ts';
import type { LearnedAboutGroups } from '../../plan/group-view.ts';
import { planGroups } from '../../plan/groups.ts';
import type { Figure } from '../support/bench.ts';
import type { Row } from '../support/report.ts';
import { inTurns, summary } from '../support/statistics.ts';

const [GROUPS, RECEIVERS, ROUTERS, ROUNDS] = [1000, 16, 60, 7];
const SELF = 0;

const hex = (n: number): string => n.toString(16);
const edge = (n: number): IpAddress => address(`2001:db8:e:${hex(n)}::1`);
const replication = (n: number): IpAddress => address(`2001:db8:f:${hex(n)}::1`);
const proxy = (g: number): IpAddress => address(`2001:db8:aa::${hex(g + 1)}`);

/** This router is the root of every tenth group, and an edge of about a quarter. */
const rootOf = (g: number): number => (g % 10 === 0 ? SELF : 1 + (g % (ROUTERS - 1)));
const receiver = (g: number, i: number, qpn: number): GroupMember => ({
  ...{ group: proxy(g), role: 'receiver', address: address(`2001:db8:b:${hex(g)}::${hex(i + 1)}`), qpn },
  ...{ node: edge((g * 7 + i * 11) % ROUTERS), psnDelta: 0 },
});
const source = (g: number): GroupMember => ({
  ...{ group: proxy(g), role: 'source', address: address(`2001:db8:a::${hex(g + 1)}`), qpn: 4096 },
  ...{ node: replication(rootOf(g)), psnDelta: 0 },
});

/** In the order of the learned table. @param qpn of the first receiver of the first group */
const members = (qpn: number): GroupMember[] =>
  Array.from({ length: GROUPS }, (_, g) => [
    ...(rootOf(g) === SELF ? [] : [source(g)]),
    ...Array.from({ length: RECEIVERS }, (__, i) => receiver(g, i, g === 0 && i === 0 ? qpn : 1000 + i)),
  ]).flat();

const sids = (): SidEntry[] =>
  Array.from({ length: ROUTERS }, (_, n): SidEntry[] =>
    n === SELF
      ? []
      : [
          { sid: edge(n), behavior: 0x8001, carrier: 'isis', originator: `c${n}` },
          { sid: replication(n), behavior: 0x8003, carrier: 'isis', originator: `c${n}` },
        ],
  ).flat();

/** Routers in a ring with chords, the cnpd of each beside it. @param cost of one link */
function topology(cost: number): TopologyReport {
  const links: [string, string, number][] = [];
  for (let n = 0; n < ROUTERS; n++) {
    links.push([`r${n}`, `c${n}`, 10], [`r${n}`, `r${(n + 1) % ROUTERS}`, n === 5 ? cost : 10]);
    links.push([`r${n}`, `r${(n * 7 + 3) % ROUTERS}`, 25]);
  }
  const nodes = new Map<string, { originator: string; isTransit: boolean; links: { to: string; cost: number }[] }>();
  for (const [a, b, metric] of links)
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const node = nodes.get(from) ?? { originator: from, isTransit: from.startsWith('r'), links: [] };
      node.links.push({ to, cost: metric });
      nodes.set(from, node);
    }
  return { carrier: 'isis', areas: [{ area: 'L2', self: `c${SELF}`, nodes }] };
}

function intentOfRoot() {
  const own = Array.from({ length: GROUPS }, (_, g) => g).filter((g) => rootOf(g) === SELF);
  const text =
    'router: { name: r0, loopback: { ipv6: 2001:db8:ffff::1 } }\n' +
    'srv6: { core-ports: [eth1], end-mt: { sid: 2001:db8:e:0::1, locator: 2001:db8:e:0::/64 }, ' +
    'replication: { sid: 2001:db8:f:0::1, locator: 2001:db8:f:0::/64 } }\ngroups:\n' +
    own
      .map(
        (g) =>
          `  - { name: g${g}, proxy-address: '2001:db8:aa::${hex(g + 1)}', designated-qpn: 4096, ` +
          `source: { address: '2001:db8:a::${hex(g + 1)}', qpn: 77 } }\n`,
      )
      .join('');
  const loaded = loadIntent(text, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(loaded.error.map((one) => `${one.path}: ${one.message}`).join('\n'));
  return loaded.value;
}

const FACTS: Facts = {
  links: [{ name: 'eth1', ifindex: 2, up: true, kind: undefined, etherLike: true, mtu: 9000 }],
  qdiscs: [],
  features: [],
};

export const groupPlans: Figure = {
  name: 'group-plans',
  title: `${GROUPS} groups of ${RECEIVERS} receivers, ${ROUTERS} routers: a plan after changes`,
  async measure() {
    const intent = intentOfRoot();
    let [known, all, report] = [sids(), members(1), topology(10)];
    const learned: LearnedAboutGroups = {
      members: () => all,
      sids: () => known,
      topologies: () => [report],
      originatorOf: () => undefined,
    };
    const timed = (work: () => unknown): number => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    const plan = (): number => timed(() => planGroups(intent, learned, FACTS));
    let version = 1;
    const first = plan();
    const found = planGroups(intent, learned, FACTS);
    if (found.multicast?.headEnds.length !== GROUPS / 10) throw new Error(`no plan: ${JSON.stringify(found.problems)}`);
    const measured = await inTurns(ROUNDS, {
      hashing: () => {
        const groups = [...membersInForce(all).groups.values()];
        return timed(() => groups.map((group) => membersDigest(group)));
      },
      unchanged: plan,
      claim: () => {
        all = members(100 + ++version);
        return plan();
      },
      link: () => {
        report = topology(100 + ++version);
        return plan();
      },
      sids: () => {
        known = sids();
        return plan();
      },
    });
    const reference = summary(measured.hashing);
    const row = (what: string, samples: readonly number[], limitMs: number): Row => {
      const spread = summary(samples);
      return {
        ...{ figure: this.name, what, unit: 'ms CPU', measured: spread.median, spread },
        ...{ reference: 'digests of all members alone', referenceValue: reference.median, referenceSpread: reference },
        ...{ ratio: spread.median / reference.median, target: `≤ ${limitMs} ms`, met: spread.median <= limitMs },
      };
    };
    return [
      { ...row('a plan, nothing changed', measured.unchanged, 10), note: `the first plan: ${first.toFixed(0)} ms` },
      row('a plan, one claim changed, all reported again', measured.claim, 30),
      row('a plan, the cost of a link changed', measured.link, 100),
      row('a plan, the SIDs reported again', measured.sids, 100),
    ];
  },
};
