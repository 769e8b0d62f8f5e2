// The congested node's share of the desired state in the maps of the real program, what the program reports, and maps
// of an earlier version.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { BpfMap } from '../../../src/kernel/bpf/map.ts';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { COUNTERS_MAP } from '../../../src/kernel/dataplane/counters.ts';
import {
  DEFAULT_FLOW_AGEING_NS,
  EGRESS_MAPS,
  decodeEgressConfig,
  decodeEgressPort,
} from '../../../src/kernel/dataplane/egress.ts';
import {
  decodePrefixKey,
  mappedAddress,
  prefixKey,
  u32Key,
  unmappedAddress,
} from '../../../src/kernel/dataplane/layout.ts';
import {
  NOTICE_CONFIG_KEY,
  NOTICE_CONFIG_MAP,
  decodeNoticeConfig,
} from '../../../src/kernel/dataplane/notice-config.ts';
import { decodeSenderCapability, decodeSenderPolicy } from '../../../src/kernel/dataplane/sender-policies.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { silentLog } from '../../../src/model/log.ts';
import type { SentNotification } from '../../../src/model/notification.ts';
import { formatPrefix, prefix } from '../../../src/model/prefix.ts';
import { type DesiredState, type EgressPortPlan, NO_SENDER_PROXIES } from '../../../src/plan/desired.ts';
import { type CongestedNode, congestedNode } from '../../../src/reconcile/congested-node.ts';
import { Dataplane } from '../../../src/reconcile/dataplane.ts';
import { CongestedRouter, LOOPBACK4, LOOPBACK6, PNC_PORT } from '../support/congested-router.ts';
import { notifierPlan, portPlan } from '../support/notifier-plan.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';
import { is, moreThan, until } from '../../support/until.ts';

const END_CON = address('2001:db8:c::1');
const counted = new Map<string, number>();
const modules = {
  clock: systemClock,
  work: eventLoopWork(),
  log: silentLog,
  count: (name: string) => void counted.set(name, (counted.get(name) ?? 0) + 1),
};

const NOTIFIER = notifierPlan({ deviceId: 'leaf1' });
const port = (ifindex: number): EgressPortPlan =>
  portPlan(ifindex, { vEcnPpm: 500_000, vGrowthBytes: 1_000_000, rttNs: 3600e9, deferral256: 26 });

let r: CongestedRouter;
let node: CongestedNode;
beforeAll(async () => {
  r = await CongestedRouter.create();
  r.stopReading();
  await r.fill(150_000);
  node = congestedNode.open(r.egress, modules);
});
afterAll(() => {
  node.close();
  r.close();
});

describe('the desired state', () => {
  const share = () => ({
    ports: [port(r.portIfindex)],
    notifier: NOTIFIER,
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [
      { id: 'a', prefix: prefix('2001:db8:1::/64'), order: ['fast-cnp', 'proxy'] as const, markCeWithFastCnp: true },
    ],
    senderCapabilities: [{ id: 'h', host: H1, lacks: ['fast-cnp'] as const }],
    endConSids: [{ id: 'e', sid: END_CON, tenant: 0 }],
  });
  const policies = (): string[] =>
    [...r.egress.map(EGRESS_MAPS.senderPolicies).keys()].map((key) => formatPrefix(decodePrefixKey(key))).sort();
  const sids = (): IpAddress[] => [...r.egress.map(EGRESS_MAPS.endConSids).keys()].map(unmappedAddress);

  test('is in the maps', () => {
    node.apply(share());
    const map = (name: keyof typeof EGRESS_MAPS) => r.egress.map(EGRESS_MAPS[name]);
    const { id: _, interface: __, explanation: ___, ...values } = port(r.portIfindex);
    expect(decodeEgressPort(node.ports.lookup(u32Key(r.portIfindex))!)).toEqual({
      ...values,
      multiqueue: false,
      tenant: 0,
    });
    expect(decodeEgressConfig(map('config').lookup(u32Key(0))!)).toMatchObject({
      source4: LOOPBACK4,
      source6: LOOPBACK6,
      udpPort: PNC_PORT,
      disclose: true,
    });
    expect(decodeSenderPolicy(map('senderPolicies').lookup(prefixKey(prefix('2001:db8:1::/64')))!)).toEqual({
      order: ['fast-cnp', 'proxy'],
      markCeWithFastCnp: true,
    });
    expect(decodeSenderCapability(map('senderCapabilities').lookup(mappedAddress(H1))!)).toEqual({
      lacks: ['fast-cnp'],
    });
    expect(sids()).toEqual([END_CON]);
    const builder = decodeNoticeConfig(r.egress.map(NOTICE_CONFIG_MAP).lookup(NOTICE_CONFIG_KEY)!);
    expect(builder).toMatchObject({ fastCnpOption: 0x9e, longHaulType: 200 });
    expect(Buffer.from(builder.objects).toString('latin1')).toContain('leaf1');
    expect(node.status()).toEqual([]);
  });

  test('LHCNP-5.2-b: LHCNP-5.4-b: a node that only marks CE keeps its flows as well, and is not set up to tell anybody', async () => {
    const config = r.egress.map(EGRESS_MAPS.config);
    const before = config.lookup(u32Key(0))!;
    config.update(u32Key(0), new Uint8Array(before.length));
    const { ports, senderCapabilities, endConSids } = share();
    node.apply({ ports, senderProxies: NO_SENDER_PROXIES, senderPolicies: [], senderCapabilities, endConSids });
    expect(decodeEgressConfig(config.lookup(u32Key(0))!)).toMatchObject({
      source4: null,
      source6: null,
      flowAgeingNs: DEFAULT_FLOW_AGEING_NS,
    });
    expect(decodeEgressConfig(config.lookup(u32Key(0))!).flowSeed).not.toBe(0n);
    expect(decodeNoticeConfig(r.egress.map(NOTICE_CONFIG_MAP).lookup(NOTICE_CONFIG_KEY)!)).toMatchObject({
      fastCnpOption: 0,
      longHaulType: 0,
    });
    r.clear();
    // Longer than a tick of the kernel's timer, by which flows are aged.
    for (let i = 0; i < 5; i++) {
      r.send(frame(data()));
      const sentAt = process.hrtime.bigint();
      await until('20 ms later', () => process.hrtime.bigint(), moreThan(sentAt + 20_000_000n));
    }
    expect(r.flows().map((flow) => flow.packets)).toEqual([5n]);
    expect(r.count('egress.flow.aged')).toBe(0);
    node.apply(share());
  });

  test('restores END.CON SIDs and policies that another program removed; SIDs of an earlier run stay until the network has had time to advertise them again', async () => {
    const earlier = address('2001:db8:c::2');
    r.egress.map(EGRESS_MAPS.endConSids).update(mappedAddress(earlier), u32Key(0));
    node.apply(share());
    r.egress.map(EGRESS_MAPS.endConSids).delete(mappedAddress(END_CON));
    r.egress.map(EGRESS_MAPS.senderPolicies).delete(prefixKey(prefix('2001:db8:1::/64')));
    node.fullPass();
    await until(
      'they are back',
      () => [policies().length, sids().length] as const,
      ([a, b]) => a === 1 && b === 2,
      30_000,
    );
    node.forgetUnknown();
    await until('the one of the earlier run is gone', () => sids().length, is(1), 30_000);
    expect(sids()).toEqual([END_CON]);
  });
});

describe('what the program reports', () => {
  let poller: Poller;
  beforeEach(() => {
    poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
    r.clear();
    r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 100]);
  });
  afterEach(() => poller.close());
  const policy = (order: readonly ('long-haul-icmpv6' | 'fast-cnp')[]) => [
    { id: 'all', prefix: prefix('::/0'), order, markCeWithFastCnp: false },
  ];
  const sendAbout = (order: readonly ('long-haul-icmpv6' | 'fast-cnp')[], qpn = QPN): void => {
    node.apply({
      ports: [port(r.portIfindex)],
      notifier: NOTIFIER,
      senderProxies: NO_SENDER_PROXIES,
      senderPolicies: policy(order),
      senderCapabilities: [],
      endConSids: [],
    });
    r.send(frame(data({ qpn })));
  };

  test('each notification reaches the listener, those sent before it listened too, and none twice', async () => {
    const sent: SentNotification[] = [];
    sendAbout(['long-haul-icmpv6']);
    const first = node.onNotification((notification) => void sent.push(notification), { poller });
    await until('the first', () => sent.length, is(1), 30_000);
    sendAbout(['fast-cnp'], 77);
    await until('the second', () => sent.length, is(2), 30_000);
    first.close();
    sendAbout(['fast-cnp'], 78);
    node.onNotification((notification) => void sent.push(notification), { poller });
    await until('the third', () => sent.length, is(3), 30_000);
    expect(sent.map((s) => [s.format, s.destinationQpn, s.sourceQpn, s.action])).toEqual([
      ['long-haul-icmpv6', QPN, 100, 'rate-reduce'],
      ['fast-cnp', 77, 0, null],
      ['fast-cnp', 78, 0, null],
    ]);
    expect(sent[0]).toMatchObject({
      source: H1,
      destination: H2,
      reason: 'queue-depth',
      ifindex: r.portIfindex,
      level: 180,
      parameter: 30,
      endCon: null,
    });
    expect(sent[0]!.queueBytes).toBeGreaterThanOrEqual(150_000);
  });

  test('LHCNP-5.5.1-i: flows that were instructed to slow down can be found again by an agent that has restarted', () => {
    sendAbout(['long-haul-icmpv6']);
    sendAbout(['fast-cnp'], 77);
    const slowed = [...node.slowedFlows(process.hrtime.bigint())];
    expect(
      slowed.map((flow) => [
        flow.destinationQpn,
        flow.lastNotification.action,
        flow.lastNotification.parameter,
        flow.lastNotification.sourceQpn,
      ]),
    ).toEqual([[QPN, 'rate-reduce', 30, 100]]);
    expect([...node.flows(process.hrtime.bigint())].length).toBe(2);
  });
});

describe('maps of an earlier version', () => {
  const objectDir = new URL('../../../dist/bpf', import.meta.url).pathname;
  const desired = (): DesiredState => ({
    ports: [port(r.portIfindex)],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [],
    senderCapabilities: [],
    endConSids: [],
    notifier: NOTIFIER,
    guards: [],
    problems: [],
  });
  /** Starts the dataplane where that version has pinned its maps. */
  function upgraded(
    { maxEntries, before = () => {} }: { maxEntries: Record<string, number>; before?: (old: BpfObject) => void },
    wanted: DesiredState,
    check: (dataplane: Dataplane, bpfDir: string, warnings: readonly object[]) => void,
  ): void {
    const directory = mkdtempSync(join(tmpdir(), 't-bpf-'));
    const bpfDir = join(directory, 'bpf');
    mountBpffs(bpfDir);
    const linksDir = join(bpfDir, 'links');
    mkdirSync(linksDir);
    const warnings: object[] = [];
    try {
      const old = openBpfObject(join(objectDir, 'egress.bpf.o'), { pinDir: bpfDir, maxEntries });
      before(old);
      old.close();
      counted.clear();
      const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
      const dataplane = new Dataplane({ bpfDir, linksDir, objectDir }, { ...modules, log });
      r.router.run(() => dataplane.apply(wanted));
      try {
        expect(dataplane.problems()).toEqual([]);
        expect(dataplane.isAttached('t-bpf-port')).toBe(true);
        check(dataplane, bpfDir, warnings);
      } finally {
        r.router.run(() => dataplane.apply({ ...wanted, ports: [], guards: [] }));
        dataplane.close();
      }
    } finally {
      unmountBpffs(bpfDir);
      rmSync(directory, { recursive: true });
    }
  }

  test('are replaced, counted and named in the log when the dataplane starts; the node works', () => {
    upgraded({ maxEntries: { [EGRESS_MAPS.ports]: 128 } }, desired(), (_, bpfDir, warnings) => {
      expect(warnings).toEqual([
        { feature: 'congested-node', map: EGRESS_MAPS.ports, differences: 'max entries 128 instead of 256' },
      ]);
      expect(counted.get('dataplane.state-replaced')).toBe(1);
      expect(existsSync(join(bpfDir, `${EGRESS_MAPS.ports}_replaced`))).toBe(false);
    });
  });

  test('the counters of 0.4.0, 256 of them, begin anew: once for all features, with both sizes in the log', () => {
    const guard = { id: 't-bpf-port', interface: 't-bpf-port', ifindex: r.portIfindex, udpPort: PNC_PORT };
    const guards = [{ ...guard, fastCnpOption: 0x9e, fastCnpIoamOption: 0xbe, longHaulIcmpv6Type: 200 }];
    const before = (old: BpfObject): void => {
      const map = old.map(COUNTERS_MAP);
      map.update(u32Key(0), new Uint8Array(map.valueBytes).fill(7, 0, 1));
    };
    upgraded({ maxEntries: { [COUNTERS_MAP]: 256 }, before }, { ...desired(), guards }, (_, bpfDir, warnings) => {
      expect(warnings).toMatchObject([{ map: COUNTERS_MAP, differences: 'max entries 256 instead of 512' }]);
      expect(counted.get('dataplane.state-replaced')).toBe(1);
      const map = BpfMap.openPinned(join(bpfDir, COUNTERS_MAP));
      expect([map.info.maxEntries, map.sumCounters(u32Key(0))]).toEqual([512, [0n]]);
      map.close();
    });
  });
});
