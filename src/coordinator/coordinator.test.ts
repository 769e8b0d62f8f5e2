import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import { LearnedTable } from '../learned/table.ts';
import { address, formatAddress } from '../model/address.ts';
import { sendersOf } from '../model/advertisement.fixture.ts';
import type { LearnedAdvertisement, Origination } from '../model/advertisement.ts';
import { manualClock } from '../model/clock.ts';
import { membersIn, receiver } from '../model/group.fixture.ts';
import { eventLoopWork } from '../model/work.ts';
import { silentLog } from '../model/log.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import type { DesiredState, SenderProxies } from '../plan/desired.ts';
import type { Facts } from '../plan/facts.ts';
import { FACTS, intentOf } from '../plan/inputs.fixture.ts';
import { Coordinator } from './coordinator.ts';

const WATCHED = 'ports: [{ interface: wan, k-max: 200kB }]';
const SID = '2001:db8:c::1';
const END_CON = `srv6: { core-ports: [eth3], end-con: [{ sid: "${SID}", locator: "2001:db8:c::/48" }] }`;

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** A coordinator with its real plan and its real table, and a dataplane that only writes down what it is given. */
function world(sections = WATCHED, intent: Intent = intentOf(sections)) {
  const clock = manualClock();
  const applied: DesiredState[] = [];
  const originations: Origination[] = [];
  const kernel = {
    facts: FACTS as Facts,
    fails: false,
    reads: 0,
    forgets: 0,
    refused: new Set<string>() as ReadonlySet<string>,
    onApply: (): void => {},
    attaching: undefined as Promise<void> | undefined,
  };
  const table = new LearnedTable({ holdMs: 1000 }, { clock, count: () => {} });
  const walks = { count: 0 };
  const forwarding = table.forwarding.bind(table);
  table.forwarding = () => (walks.count++, forwarding());
  const coordinator = new Coordinator(intent, {
    table,
    inputs: {
      kernelFacts: () => {
        kernel.reads++;
        return kernel.fails ? Promise.reject(new Error('ENOBUFS')) : Promise.resolve(kernel.facts);
      },
      gatewayPorts: () => new Set(),
      rttMs: () => new Map(),
      capabilities: () => undefined,
    },
    dataplane: () => ({
      apply: (desired) => {
        applied.push(desired);
        kernel.onApply();
      },
      attaching: kernel.attaching,
      refusedSids: () => kernel.refused,
      forgetUnknown: () => void kernel.forgets++,
    }),
    originate: (origination) => void originations.push(origination),
    onRouters: () => {},
    onPlanned: () => {},
    clock,
    work: eventLoopWork(),
    log: silentLog,
    count: () => {},
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turns();
  };
  const report = (...prefixes: string[]): void =>
    coordinator.learning.learned({
      carrier: 'isis',
      source: 'r2.00-00',
      originator: 'r2',
      advertisements: prefixes.map((text) => ({
        kind: 'sender-prefix',
        prefix: prefix(text),
        pnc: true,
        proxy: address('2001:db8::9'),
        metric: 1,
      })),
    });
  const sids = (origination: Origination): string[] =>
    origination.flatMap((one) => (one.kind === 'sid' ? [formatAddress(one.sid)] : []));
  return { coordinator, intent, clock, table, applied, originations, kernel, walks, pass, report, sids };
}

describe('inputs to plan to dataplane', () => {
  test('an intent is planned with current facts, and applied whole', async () => {
    const { coordinator, intent, applied, kernel } = world();
    await coordinator.adopt(intent);
    expect(applied.map(({ ports }) => ports.map((p) => p.id))).toEqual([['wan']]);
    expect({ desired: coordinator.desired, reads: kernel.reads }).toEqual({ desired: applied[0], reads: 1 });
  });

  test('a plan is not over before all programs were tried to be attached: then shows what is refused', async () => {
    const { coordinator, intent, applied, originations, kernel, report, pass } = world();
    let [isOver, attached] = [false, () => {}];
    kernel.attaching = new Promise((done) => void (attached = done));
    kernel.refused = new Set(['2001:db8::bad']);
    const adopting = coordinator.adopt(intent).then(() => (isOver = true));
    await pass(0);
    // Senders that come meanwhile do not wait.
    coordinator.learning.reachability({ carrier: 'isis', reachable: new Set(['r2']) });
    report('2001:db8:5::/64');
    await turns();
    expect({ isOver, originations: originations.length, applied: applied.length }).toEqual({
      ...{ isOver: false, originations: 0, applied: 2 },
    });
    kernel.attaching = undefined;
    attached();
    await adopting;
    expect({ originations: originations.length, refused: coordinator.facts.refusedSids }).toEqual({
      ...{ originations: 1, refused: kernel.refused },
    });
    expect([...coordinator.desired!.senderProxies.all()]).toHaveLength(1);
  });

  test('a burst of changes costs one plan, and changes during it one more', async () => {
    const { coordinator, intent, applied, kernel, pass } = world();
    await coordinator.adopt(intent);
    for (let i = 0; i < 100; i++) coordinator.inputsChanged();
    kernel.onApply = () => coordinator.inputsChanged();
    await pass(50);
    expect(applied).toHaveLength(2);
    kernel.onApply = () => {};
    await pass(50);
    await pass(60_000);
    expect(applied).toHaveLength(3);
  });

  test('a burst of members of groups that come at run time is planned once, and advertised once', async () => {
    const { coordinator, intent, applied, originations, pass } = world();
    await coordinator.adopt(intent);
    const before = { plans: applied.length, originations: originations.length };
    const member = receiver(1);
    const group = { name: 'g', proxyAddress: member.group, designatedQpn: 9, members: [member] };
    for (let i = 0; i < 1000; i++) coordinator.membersChanged({ ...intent, groups: [group] } as unknown as Intent);
    await pass(50);
    await pass(60_000);
    expect(applied.length - before.plans).toBe(1);
    expect(originations.length - before.originations).toBe(1);
    expect(membersIn(originations.at(-1)!)).toHaveLength(1);
  });

  test('a receiver that names no edge is advertised once its edge is known, and with another when that is nearer', async () => {
    const group = 'groups: [{ name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 9, receivers: [RECEIVER] }]';
    const { coordinator, intent, originations, pass } = world(
      group.replace('RECEIVER', '{ address: "2001:db8:5::1", qpn: 7 }'),
    );
    const { learning } = coordinator;
    const report = (originator: string, advertisements: readonly LearnedAdvertisement[]): void =>
      learning.learned({ carrier: 'bgp', source: originator, originator, advertisements });
    const sid = (text: string) => ({ kind: 'sid', sid: address(text), behavior: 0x8001 }) as const;
    const sender = (text: string) => ({ kind: 'sender-prefix', prefix: prefix(text), pnc: false, metric: 1 }) as const;
    const edges = (): string[][] =>
      originations.map((all) => all.flatMap((one) => ('node' in one ? [formatAddress(one.node)] : [])));
    /** What was reported has been passed on, and the plan that is due has been made. */
    const settled = async (): Promise<void> => {
      await pass(0);
      await pass(1000);
    };
    await coordinator.adopt(intent);
    const codes = (): string[] => coordinator.problems().map(({ code }) => code);
    expect([membersIn(coordinator.origination), codes()]).toEqual([[], ['groups.no-edge']]);
    learning.reachability({ carrier: 'bgp', reachable: new Set(['r2', 'r3']) });
    report('r2', [sid('2001:db8:e2::1'), sender('2001:db8:5::/48')]);
    await settled();
    expect([edges(), codes()]).toEqual([[['2001:db8:e2::1']], []]);
    report('r3', [sid('2001:db8:e3::1')]);
    await settled();
    expect(edges()).toHaveLength(1);
    report('r3', [sid('2001:db8:e3::1'), sender('2001:db8:5::/64')]);
    await settled();
    expect(edges().slice(1)).toEqual([['2001:db8:e3::1']]);
    report('r3', []);
    report('r2', []);
    await settled();
    expect([edges().slice(2), codes()]).toEqual([[[]], ['groups.no-edge']]);
  });

  test('if the kernel cannot be read, adopt rejects, and the plan is retried', async () => {
    const { coordinator, intent, applied, kernel, pass } = world();
    kernel.fails = true;
    await expect(coordinator.adopt(intent)).rejects.toThrow('ENOBUFS');
    kernel.fails = false;
    await pass(50);
    expect(applied).toHaveLength(1);
  });

  test('tasks and plans run one after another, in order of the calls', async () => {
    const { coordinator, applied, pass } = world();
    const order: string[] = [];
    let release = (): void => {};
    const first = coordinator.inTurn(async () => {
      await new Promise<void>((resolve) => (release = resolve));
      order.push('first');
      throw new Error('it fails');
    });
    const second = coordinator.inTurn(() => Promise.resolve(order.push('second')));
    coordinator.inputsChanged();
    await pass(50);
    expect({ order, appliedLength: applied.length }).toEqual({ order: [], appliedLength: 0 });
    release();
    await expect(first).rejects.toThrow('it fails');
    await second;
    await turns();
    expect({ order, appliedLength: applied.length }).toEqual({ order: ['first', 'second'], appliedLength: 1 });
  });

  test('a problem is there while it lasts', async () => {
    const { coordinator, intent, kernel, pass } = world('ports: [{ interface: gone, k-max: 200kB }]');
    const plan = async (): Promise<void> => {
      coordinator.inputsChanged();
      await pass(50);
    };
    await coordinator.adopt(intent);
    await plan();
    const codes = (): string[] => coordinator.problems().map((p) => p.code);
    expect(codes()).toEqual(['interface.missing']);
    const wan = FACTS.links.find((link) => link.name === 'wan')!;
    kernel.facts = { ...FACTS, links: [...FACTS.links, { ...wan, name: 'gone' }] };
    await plan();
    expect(codes()).not.toContain('interface.missing');
    kernel.facts = FACTS;
    await plan();
    expect(codes()).toEqual(['interface.missing']);
  });

  test('nothing is planned after the stop, and the stop waits for running tasks', async () => {
    const { coordinator, intent, applied, pass } = world();
    const adopting = coordinator.inTurn(() => coordinator.adopt(intent));
    await coordinator.stop();
    expect(applied).toHaveLength(1);
    await adopting;
    coordinator.inputsChanged();
    await pass(60_000);
    expect(applied).toHaveLength(1);
  });
});

describe('senders and their proxies', () => {
  /** What a table that follows each applied state holds. */
  function follow(applied: readonly DesiredState[]): { table: Map<string, unknown>; writes: number; wholes: number } {
    const table = new Map<string, unknown>();
    let [writes, wholes, before] = [0, 0, undefined as SenderProxies | undefined];
    for (const { senderProxies } of applied) {
      const pieces = before && senderProxies.since(before);
      if (!pieces) wholes++;
      for (const { upserts, deletes } of pieces ?? []) {
        for (const entry of upserts) table.set(entry.id, entry.proxy);
        for (const id of deletes) table.delete(id);
        writes += upserts.length + deletes.length;
      }
      before = senderProxies;
    }
    return { table, writes, wholes };
  }

  test('one changed prefix costs one entry: nothing else is planned anew, and the table is not walked', async () => {
    const { coordinator, intent, applied, kernel, walks, report } = world();
    await coordinator.adopt(intent);
    coordinator.learning.reachability({ carrier: 'isis', reachable: new Set(['r2']) });
    const many = Array.from({ length: 3000 }, (_, i) => `2001:db8:${(i + 16).toString(16)}::/48`);
    report(...many);
    await turns();
    expect(follow(applied).table.size).toBe(3000);
    const [before, reads] = [applied.length, kernel.reads];
    report(...many, '2001:db8:1::/48');
    await turns();
    expect(applied.length - before).toBe(1);
    const [last, now] = applied.slice(-2) as [DesiredState, DesiredState];
    expect(
      now.senderProxies.since(last.senderProxies)?.map(({ upserts, deletes }) => [upserts.map((u) => u.id), deletes]),
    ).toEqual([[['2001:db8:1::/48'], []]]);
    expect({ ...now, senderProxies: null }).toEqual({ ...last, senderProxies: null });
    expect({ count: walks.count, reads: kernel.reads - reads }).toEqual({ count: 0, reads: 0 });
    expect(now.ports).toBe(last.ports);
  });

  test('a full plan in between still follows from the one before', async () => {
    const { coordinator, intent, applied, walks, report, pass } = world();
    await coordinator.adopt(intent);
    coordinator.learning.reachability({ carrier: 'isis', reachable: new Set(['r2']) });
    report('2001:db8:1::/48');
    await turns();
    coordinator.inputsChanged();
    await pass(50);
    report('2001:db8:2::/48');
    await turns();
    const { table, wholes } = follow(applied);
    expect({ table: [...table.keys()], wholes, count: walks.count }).toEqual({
      table: ['2001:db8:2::/48'],
      wholes: 1,
      count: 0,
    });
  });

  test('a router that notifies no proxies gets none', async () => {
    const { coordinator, intent, applied, report } = world('ports: [{ interface: wan, k-min: 1kB }]');
    await coordinator.adopt(intent);
    coordinator.learning.reachability({ carrier: 'isis', reachable: new Set(['r2']) });
    report('2001:db8:1::/48');
    await turns();
    expect([...applied.at(-1)!.senderProxies.all()]).toEqual([]);
    expect(follow(applied)).toMatchObject({ writes: 0 });
  });

  test('entries learned by an earlier run are kept until the network has had time to advertise them again', async () => {
    const { coordinator, intent, kernel, pass } = world(
      `${WATCHED}\nisis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis, hold-unreachable: 20s }`,
    );
    await coordinator.adopt(intent);
    coordinator.startPatience();
    await pass(19_999);
    expect(kernel.forgets).toBe(0);
    await pass(1);
    expect(kernel.forgets).toBe(1);
  });
});

describe('FCN-4.2.2-a: a SID that the kernel refuses', () => {
  test('is a fact of the next plan: it is not advertised until it is programmed', async () => {
    const { coordinator, intent, originations, kernel, pass, sids } = world(END_CON);
    kernel.refused = new Set([SID]);
    await coordinator.adopt(intent);
    expect({ sids: sids(coordinator.origination), originations: originations.map(sids) }).toEqual({
      sids: [],
      originations: [[]],
    });
    expect(coordinator.facts.refusedSids).toEqual(new Set([SID]));
    kernel.refused = new Set();
    coordinator.inputsChanged();
    await pass(50);
    expect(originations.map(sids)).toEqual([[], [SID]]);
    expect(sids(coordinator.origination)).toEqual([SID]);
  });

  test('changes the origination only when the refusal changes', async () => {
    const { coordinator, intent, originations, kernel, pass } = world(END_CON);
    kernel.refused = new Set([SID]);
    await coordinator.adopt(intent);
    for (let i = 0; i < 3; i++) {
      kernel.refused = new Set([SID]);
      coordinator.inputsChanged();
      await pass(50);
    }
    expect(originations).toHaveLength(1);
  });

  test('and accepts in turn costs one application per plan, and no more', async () => {
    const { coordinator, intent, applied, originations, kernel, pass } = world(END_CON);
    kernel.onApply = () => (kernel.refused = new Set(kernel.refused.size === 0 ? [SID] : []));
    await coordinator.adopt(intent);
    await pass(600_000);
    expect({ appliedLength: applied.length, originationsLength: originations.length }).toEqual({
      appliedLength: 1,
      originationsLength: 1,
    });
    coordinator.inputsChanged();
    await pass(600_000);
    expect({ appliedLength: applied.length, originationsLength: originations.length }).toEqual({
      appliedLength: 2,
      originationsLength: 2,
    });
  });
});

describe('what this router says that hosts behind it understand', () => {
  const SOURCE =
    'source: { senders: [{ prefix: 2001:db8:1::/64, action: convert }], advertise: on, interfaces: [eth1], ' +
    'accept-from: [2001:db8:ffff::/48] }';
  const said = (origination: Origination): string[] => sendersOf(origination).map((one) => formatPrefix(one.prefix));
  const withoutEth1: Facts = { ...FACTS, links: FACTS.links.filter(({ name }) => name !== 'eth1') };

  test('follows the port at which notifications for them are taken, here and in the network', async () => {
    const { coordinator, intent, originations, table, kernel, pass } = world(SOURCE);
    const here = (): string[] => table.entries().map((entry) => entry.prefix);
    kernel.facts = withoutEth1;
    await coordinator.adopt(intent);
    expect([here(), said(coordinator.origination)]).toEqual([[], []]);
    for (const facts of [FACTS, FACTS, withoutEth1]) {
      kernel.facts = facts;
      coordinator.inputsChanged();
      await pass(50);
      expect([here(), said(coordinator.origination)]).toEqual(
        facts === FACTS ? [['2001:db8:1::/64'], ['2001:db8:1::/64']] : [[], []],
      );
    }
    expect(originations.map(said)).toEqual([['2001:db8:1::/64'], []]);
  });

  test('is said at once where the kernel has what that takes, and not at all where it lacks it', async () => {
    const [able, lacking] = [world(SOURCE), world(SOURCE)];
    const features = ['tcx', 'clsact'].map((name) => ({ name, ok: false, detail: 'EINVAL', remedy: 'boot Linux 6.6' }));
    lacking.kernel.facts = { ...FACTS, features };
    for (const { coordinator, intent } of [able, lacking]) await coordinator.adopt(intent);
    expect([able, lacking].map(({ table }) => table.entries().length)).toEqual([1, 0]);
    expect(lacking.originations).toEqual([]);
  });

  test('is withdrawn with the section', async () => {
    const { coordinator, intent, table } = world(SOURCE);
    await coordinator.adopt(intent);
    await coordinator.adopt(intentOf(WATCHED));
    expect([table.entries(), coordinator.origination.filter(({ kind }) => kind === 'sender-prefix')]).toEqual([[], []]);
  });
});
