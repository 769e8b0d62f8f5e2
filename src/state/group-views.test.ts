import { describe, expect, test } from 'vitest';
import { load } from '../intent/files.fixture.ts';
import { NO_GROUPS, changedGroups } from '../intent/run-time-groups.ts';
import { address } from '../model/address.ts';
import type { GroupChange } from '../model/group-change.ts';
import type { BranchView, GroupRoleView } from '../model/group-view.ts';
import type { GroupMember } from '../model/group.ts';
import { groupTrees } from '../plan/group-view.ts';
import { E3, E4, LEARNED, OWN_EDGE, OWN_REPLICATION, R2, ROOTED, receiver } from '../plan/groups.fixture.ts';
import { OTHERS, groupSummaries } from './group-summaries.ts';
import { type GroupSources, groupsState } from './group-views.ts';

const GROUP = '2001:db8:aa::1';
const BOOT = Date.parse('2026-11-24T11:59:58.000Z');

function sources(more: Partial<GroupSources> = {}, text = ROOTED, members = LEARNED.members()): GroupSources {
  const intent = load(text);
  const learned = { ...LEARNED, members: () => members };
  return {
    file: { intent },
    intent,
    members: { declared: NO_GROUPS, whyAside: () => undefined },
    routers: {
      groupMembers: () => members.map((member) => ({ member, carrier: 'isis', originator: 'c3' })),
      sids: LEARNED.sids,
    },
    trees: groupTrees(intent, learned),
    roles: [],
    hostnameOf: (originator) => (originator === 'c2' ? 'n2-cnpd' : undefined),
    timeOfDay: (ns) => new Date(BOOT + Number(ns) / 1e6).toISOString(),
    ...more,
  };
}
const branch = (change: Partial<BranchView> = {}): BranchView => ({
  ...{ kind: 'child', address: address(R2), qpn: null, nextPsn: 100, msn: 7, nak: null, isWaiting: false },
  ...{ cnps: 2n, copies: 9n, heardNs: 500_000_000n, stalledMs: null, isExcluded: false },
  ...change,
});
const role = (branches: readonly BranchView[], change: Partial<GroupRoleView> = {}): GroupRoleView => ({
  ...{ group: GROUP, role: 'branching', isRoot: true, branches, packets: 9n, answers: 3n, dataAgeMs: 5 },
  ...{ nextDataPsn: 103, confirmedPsn: 90, pathMtu: null },
  current: { epoch: 4, list: 'tree', digest: '00', parent: null },
  ...change,
});
const group = (more: Partial<GroupSources> = {}, text = ROOTED, members = LEARNED.members()) =>
  groupsState(sources(more, text, members)).group[0]!;

test('nothing without groups', () => {
  const text = ROOTED.slice(0, ROOTED.indexOf('groups:'));
  expect(groupsState(sources({}, text, []))).toEqual({ group: [], members: [], branches: [], tree: [] });
});

describe('a group', () => {
  test('is shown with this router’s roles, its source and how many members it has', () => {
    expect(group()).toMatchObject({
      ...{ proxyAddress: GROUP, name: 'g', designatedQpn: 4096, roles: ['root', 'edge'], source: '2001:db8:1::1' },
      ...{ receivers: 3, edges: 3, tree: 'shortest-paths', epoch: null, status: 'declared' },
    });
    expect(group({ trees: new Map() }).tree).toBeNull();
    expect(group({ trees: groupTrees(load(ROOTED), { ...LEARNED, topologies: () => [] }) }).tree).toBe('flat');
  });

  test('of other routers alone has no name, and no role here', () => {
    const other = { group: address('2001:db8:a::1') };
    const text = ROOTED.slice(0, ROOTED.indexOf('groups:'));
    const found = group({}, text, [receiver('2001:db8:3::1', E3, other)]);
    expect(found).toMatchObject({ proxyAddress: '2001:db8:a::1', name: null, designatedQpn: null, roles: [] });
    expect(found).toMatchObject({ receivers: 1, edges: 1, status: 'no source', member: [] });
  });

  test.each<[string, readonly GroupRoleView[], string]>([
    ['nothing in the kernel', [], 'declared'],
    ['no data', [role([branch()], { current: null })], 'ready: no data yet'],
    ['data', [role([branch()])], 'in use'],
    ['a branch that stalls', [role([branch(), branch({ stalledMs: 9 })]), role([])], 'stalled: 1 of 2 branches'],
    [
      'branches that are behind when the source has ended',
      [role([branch({ nextPsn: 103 }), branch(), branch({ nextPsn: null })], { dataAgeMs: 1000 })],
      'behind: 2 of 3 branches',
    ],
  ])('with %s', (_, roles, status) => {
    expect(group({ roles }).status).toBe(status);
  });

  test('does not count its source among the receivers, in no view', () => {
    const members = [...LEARNED.members(), receiver('2001:db8:1::1', E3)];
    const { group: groups, members: shown } = groupsState(sources({}, ROOTED, members));
    expect(groups[0]).toMatchObject({ receivers: 3 });
    expect(shown.filter(({ address: host }) => host === '2001:db8:1::1')).toMatchObject([
      { role: 'source', status: 'in force' },
      { role: 'receiver', status: 'not in force: it is the source of the group' },
    ]);
  });

  test('with a source and no receivers is not in use', () => {
    expect(group({}, ROOTED.replace(/, receivers: \[[^\]]*\]/, ''), []).status).toBe('no receivers');
  });

  test('has the epoch of the role that has seen data', () => {
    expect(group({ roles: [role([], { current: null }), role([branch()])] }).epoch).toBe(4);
  });
});

describe('what this router declares', () => {
  const change = (leaf: string, host: string, value: unknown): GroupChange => ({
    ...{ operation: 'replace', group: GROUP, member: { role: leaf, address: host }, value },
  });
  const added = (...changes: readonly GroupChange[]): GroupSources['members']['declared'] => {
    const changed = changedGroups(NO_GROUPS, changes);
    if (!changed.ok) throw new Error(changed.error.errors.join('; '));
    return changed.value;
  };

  test('in the file, with defaults filled in; an edge that it does not name is not shown', () => {
    const nothing = { vaDelta: null, rKey: null, persistent: true, origin: 'file', status: 'declared' };
    expect(group().member).toEqual([
      { role: 'source', address: '2001:db8:1::1', qpn: 77, startPsn: null, edge: null, psnDelta: null, ...nothing },
      { role: 'receiver', address: '2001:db8:2::1', qpn: 201, startPsn: null, edge: null, psnDelta: 0, ...nothing },
    ]);
  });

  test('at run time, as it was given; one that does not count with the reason', () => {
    const declared = added(
      change('receiver', '2001:db8:2::7', { qpn: 5, 'va-delta': '-16', 'r-key': 9, persistent: true }),
      change('source', '2001:db8:1::1', { qpn: 'learned' }),
    );
    const whyAside = (id: string, member: string): string | undefined =>
      member.startsWith('source') ? `the file has another source of ${id}` : undefined;
    expect(group({ members: { declared, whyAside } }).member.slice(2)).toEqual([
      {
        ...{ role: 'receiver', address: '2001:db8:2::7', qpn: 5, startPsn: null, edge: null, psnDelta: null },
        ...{ vaDelta: '-16', rKey: 9, persistent: true, origin: 'run-time', status: 'declared' },
      },
      {
        ...{ role: 'source', address: '2001:db8:1::1', qpn: null, startPsn: null, edge: null, psnDelta: null },
        ...{ vaDelta: null, rKey: null, persistent: false, origin: 'run-time' },
        status: `not in force: the file has another source of ${GROUP}`,
      },
    ]);
  });
});

describe('a branch', () => {
  const shown = (change: Partial<BranchView> = {}, of: Partial<GroupRoleView> = {}) =>
    groupsState(sources({ roles: [role([branch(change)], of)] })).branches[0]!;

  test('is shown with what it has confirmed, and when it was last heard', () => {
    expect(shown({ nak: { psn: 100, syndrome: 0x60 } })).toEqual({
      ...{ group: GROUP, role: 'branching', branch: R2, kind: 'child', qpn: null, nextPsn: 100, lag: 3, nakPsn: 100 },
      ...{ nakSyndrome: 0x60, cnps: 2, copies: 9, lastHeard: '2026-11-24T11:59:58.500Z', stalledMs: null },
      status: 'up',
    });
  });

  test('lags by PSNs of 24 bits', () => {
    expect(shown({ nextPsn: 0xff_fffe }, { nextDataPsn: 3 }).lag).toBe(5);
    expect(shown({ nextPsn: null }).lag).toBeNull();
    expect(shown({}, { nextDataPsn: null }).lag).toBeNull();
  });

  test.each<[string, Partial<BranchView>, Partial<GroupRoleView>?]>([
    ['ready', { heardNs: null, nextPsn: null }, { nextDataPsn: null }],
    ['up', {}],
    ['up', {}, { dataAgeMs: 999 }],
    ['up', { nextPsn: 103 }, { dataAgeMs: 99_999 }],
    ['behind', {}, { dataAgeMs: 1000 }],
    ['behind', { nextPsn: null }, { dataAgeMs: 1000 }],
    ['silent', { heardNs: null }],
    ['waiting', { isWaiting: true, heardNs: null }],
    ['stalled', { stalledMs: 5, isWaiting: true }],
    ['excluded', { isExcluded: true, stalledMs: 5 }],
  ])('%s', (status, change, of) => {
    expect(shown(change, of).status).toBe(status);
  });

  test('that is this router’s own edge has no address', () => {
    expect(shown({ kind: 'local', address: null }).branch).toBe('local');
  });
});

describe('the tree', () => {
  const rows = (more: Partial<GroupSources> = {}, members?: readonly GroupMember[]) =>
    groupsState(sources(more, ROOTED, members)).tree.map(
      ({ node, parent, kind, router, hostname, receivers }) =>
        `${kind} ${node} < ${parent}: ${router}${hostname ? `, ${hostname}` : ''} ${receivers.join(' ')}`,
    );

  test('has the root first, and each router with its name and receivers', () => {
    expect(rows()).toEqual([
      `root ${OWN_REPLICATION} < null: this router `,
      `edge ${OWN_EDGE} < ${OWN_REPLICATION}: this router 2001:db8:2::1`,
      `branching ${R2} < ${OWN_REPLICATION}: c2, n2-cnpd `,
      `edge ${E3} < ${R2}: c3 2001:db8:3::1`,
      `edge ${E4} < ${R2}: c4 2001:db8:4::1`,
    ]);
  });

  test('without a computed one has all edges at the root; one that no router advertises has no name', () => {
    const unknown = '2001:db8:e9::1';
    expect(rows({ trees: new Map() }, [receiver('2001:db8:9::1', unknown)])).toEqual([
      `root ${OWN_REPLICATION} < null: this router `,
      `edge ${OWN_EDGE} < ${OWN_REPLICATION}: this router 2001:db8:2::1`,
      `edge ${unknown} < ${OWN_REPLICATION}: null 2001:db8:9::1`,
    ]);
  });

  test('names a router by an End.MT or replication SID alone, not by another behavior of the same SID', () => {
    const [edge] = LEARNED.sids();
    const other = { ...edge!, behavior: 0x8002, originator: 'liar' };
    const { routers, ...rest } = sources();
    const { tree } = groupsState({ ...rest, routers: { ...routers, sids: () => [other, ...LEARNED.sids()] } });
    expect(tree.find(({ node }) => node === E3)!.router).toBe('c3');
  });
});

describe('groups in a few numbers, for metrics', () => {
  const stalled = branch({ stalledMs: 10 });
  const roles = [role([branch(), branch({ nextPsn: 103 }), stalled]), role([branch()], { role: 'edge', packets: 2n })];
  const summaries = (more: Partial<Parameters<typeof groupSummaries>[0]>, turns = { taken: 0 }) => {
    const { intent, routers } = sources();
    const steps = groupSummaries({ intent, named: intent, routers, roles, ...more });
    for (let step = steps.next(); ; step = steps.next(), turns.taken++) if (step.done) return step.value;
  };

  test('members, branches by status, packets and answers by role', () => {
    expect(summaries({})).toEqual([
      {
        name: 'g',
        members: { source: expect.any(Number), receiver: expect.any(Number) },
        branches: { up: 3, stalled: 1 },
        packets: { branching: 9, edge: 2 },
        answers: { branching: 3, edge: 3 },
      },
    ]);
    const { members } = summaries({})[0]!;
    expect([members.source, members.receiver >= 3]).toEqual([1, true]);
  });

  test('groups that the file does not name are one, however many the network has', () => {
    const claims = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        member: receiver(E3, '2001:db8:3::1', { group: address(`2001:db8:bb::${(i + 1).toString(16)}`) }),
        carrier: 'isis' as const,
        originator: 'c3',
      }));
    const turns = { taken: 0 };
    const foreign = [role([stalled], { group: '2001:db8:bb::1' }), role([stalled], { group: '2001:db8:bb::2' })];
    const made = summaries({ routers: { groupMembers: () => claims(2000) }, roles: foreign }, turns);
    expect(made.map(({ name }) => name)).toEqual(['g', OTHERS]);
    expect(made[1]).toMatchObject({ members: { source: 0, receiver: 2000 }, branches: { stalled: 2 } });
    expect(turns.taken).toBeGreaterThanOrEqual(3);
  });
});
