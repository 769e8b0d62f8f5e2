import { origination } from '../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { createBgpCarrier } from '../carriers/bgp/carrier.ts';
import { createIsisCarrier } from '../carriers/isis/carrier.ts';
import { createOspfCarrier } from '../carriers/ospf/carrier.ts';
import type { Intent } from '../intent/intent.ts';
import { load } from '../intent/files.fixture.ts';
import type { Poller } from '../kernel/poller.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { CarrierSupervisor, type SupervisedCarrier } from './carrier-supervisor.ts';
import { identityOf, linkState } from './carriers.ts';

describe('a reload keeps a carrier and its adjacency', () => {
  const file = (router: string, rest = ''): Intent =>
    load(
      `router: { name: r1, loopback: { ipv6: 2001:db8::1 }${router} }\n` +
        `isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }\n${rest}`,
    );
  const NOTHING = origination({ proxies: [] });

  /** @returns how often the IS-IS carrier was created, after a start and a reload */
  const created = async (before: Intent, after: Intent): Promise<number> => {
    let count = 0;
    const carrier = {
      originate: () => {},
      start: async () => {},
      stop: async () => {},
      update: () => false,
    } as unknown as SupervisedCarrier<object>;
    const supervisor = new CarrierSupervisor({
      name: 'isis',
      section: ({ isis }) => isis,
      identity: (intent) => identityOf('isis', intent),
      create: () => (count++, carrier),
      holdMs: () => 0,
      onStopped: () => {},
    });
    await supervisor.start(before, NOTHING);
    await supervisor.reload(after, NOTHING);
    return count;
  };

  test('a section that a failed reload did not reach is handed over by the next one, though the file is the same', async () => {
    const handed: unknown[] = [];
    let fails = true;
    const carrier = {
      originate: () => {},
      start: async () => {},
      stop: async () => {},
      update: (section: object) => {
        if (fails) throw new Error('no memory');
        return handed.push(section) > 0;
      },
    } as unknown as SupervisedCarrier<object>;
    const supervisor = new CarrierSupervisor({
      name: 'isis',
      section: ({ isis }) => isis,
      identity: (intent) => identityOf('isis', intent),
      create: () => carrier,
      holdMs: () => 0,
      onStopped: () => {},
    });
    const before = file('');
    const after = { ...before, isis: { ...before.isis!, helloIntervalMs: 1000 } };
    await supervisor.start(before, NOTHING);
    await expect(supervisor.reload(after, NOTHING)).rejects.toThrow('no memory');
    fails = false;
    await supervisor.reload(after, NOTHING);
    await supervisor.reload(after, NOTHING);
    expect(handed).toEqual([after.isis]);
  });

  test.each([', reverse-path-check: off', ', core-ports: [eth2]'])('if router%s changes', async (more) => {
    expect(await created(file(''), file(more))).toBe(1);
  });

  test('but not if the name, which it floods, or a code point changes', async () => {
    const renamed = file('');
    expect(await created(file(''), { ...renamed, router: { ...renamed.router, name: 'r2' } })).toBe(2);
    expect(await created(file(''), file('', 'code-points: { isis-pnc-flag-bit: 9 }\n'))).toBe(2);
  });
});

describe('a running carrier takes over, without a new adjacency or session,', () => {
  const file = (more: string): Intent =>
    load(
      `router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n` +
        `isis: { system-id: 0000.0000.c001, area: 49.0001, interface: cnpd-isis, ${more} }\n` +
        `ospfv2: { router-id: 192.0.2.1, areas: [{ area: 0.0.0.0 }], ${more} }\n` +
        `ospfv3: { router-id: 192.0.2.1, areas: [{ area: 0.0.0.0 }], ${more} }\nbgp: { ${more} }\n`,
    );
  const HOLD = 'hold-unreachable: 5s';
  const before = file('');
  const dependencies = {
    ...{ poller: {} as Poller, clock: manualClock(), work: new ManualWork(), log: silentLog, count: () => {} },
    sink: { learned: () => {}, reachability: () => {}, topology: () => {} },
    codePoints: before.codePoints,
  };
  /** Whether each carrier of the file follows another file as it is. */
  const follow = (after: Intent): boolean[] => [
    createIsisCarrier(linkState(before.isis, before)!, dependencies).update(linkState(after.isis, after)!),
    ...(['ospfv2', 'ospfv3'] as const).map((name) =>
      createOspfCarrier(linkState(before[name], before)!, dependencies).update(linkState(after[name], after)!),
    ),
    createBgpCarrier(before.bgp!, dependencies).update(after.bgp!),
  ];

  test('another hold-unreachable, in each protocol', () => {
    expect(follow(file(HOLD))).toEqual([true, true, true, true]);
  });

  test('groups, for which it then reports the topology', () => {
    const groups = { ...file(HOLD), groups: [] };
    expect(follow(groups)).toEqual([true, true, true, true]);
  });

  test('but not another place in the network', () => {
    const elsewhere = {
      ...before,
      isis: { ...before.isis!, interface: 'other' },
      ospfv2: { ...before.ospfv2!, routerId: 9 },
      ospfv3: { ...before.ospfv3!, routerId: 9 },
    };
    expect(follow(elsewhere)).toEqual([false, false, false, true]);
    expect(follow({ ...before, bgp: { ...before.bgp!, domain: [65001] } })[3]).toBe(false);
  });
});

describe('whether a link-state protocol reports the topology', () => {
  const file = (rest = ''): Intent =>
    load(
      'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n' +
        `isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }\n${rest}`,
    );
  const group = 'groups: [{ name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096, receivers: [RECEIVER] }]\n';
  const sids = (more: string): string => `srv6: { core-ports: [eth2]${more} }\n`;

  test.each([
    ['nothing', '', false],
    ['END.CON', sids(', end-con: [{ locator: 2001:db8:c::/48 }]'), false],
    ['an End.MT SID', sids(', end-mt: { locator: 2001:db8:e::/48 }'), true],
    ['a replication SID', sids(', replication: { locator: 2001:db8:e::/48 }'), true],
    ['a group', group.replace('RECEIVER', '{ address: 2001:db8:b::1, qpn: 7, edge: 2001:db8:e::1 }'), true],
  ])('with %s in the file: %s', (_, rest, reports) => {
    const intent = file(rest);
    expect(linkState(intent.isis, intent)!.reportsTopology).toBe(reports);
    expect(linkState(intent.ospfv3, intent)).toBeUndefined();
  });

  test('a reload that changes it updates the running carrier, and only then', async () => {
    const updates: boolean[] = [];
    const carrier = {
      originate: () => {},
      start: async () => {},
      stop: async () => {},
      update: ({ reportsTopology }: { reportsTopology: boolean }) => updates.push(reportsTopology) > 0,
    } as unknown as SupervisedCarrier<object>;
    const supervisor = new CarrierSupervisor({
      name: 'isis',
      section: (intent) => linkState(intent.isis, intent),
      identity: (intent) => identityOf('isis', intent),
      create: () => carrier,
      holdMs: () => 0,
      onStopped: () => {},
    });
    const [plain, edge] = [file(), file(sids(', end-mt: { locator: 2001:db8:e::/48 }'))];
    const nothing = origination({ proxies: [] });
    await supervisor.start(plain, nothing);
    for (const intent of [plain, edge, edge, plain]) await supervisor.reload(intent, nothing);
    expect(updates).toEqual([true, false]);
  });
});
