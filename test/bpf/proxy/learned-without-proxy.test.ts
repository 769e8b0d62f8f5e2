// Queue Pairs for Long-haul CNPs: a node that is no proxy learns them, and the congested node's program finds them in
// the shared maps.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import {
  type FlowName,
  encodeFlowKey,
  encodePeer,
  encodeStaticQueuePair,
  ownerKey,
} from '../../../src/kernel/dataplane/queue-pairs.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { ManualWork } from '../../../src/model/work.fixture.ts';
import { silentLog } from '../../../src/model/log.ts';
import { formatPrefix, prefix } from '../../../src/model/prefix.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { encodeUdpPacket } from '../../../src/packet/ip/udp.ts';
import type { DesiredState, LearningPlan, ProxyPlan, QueuePairsPlan } from '../../../src/plan/desired.ts';
import { Proxy, proxy as proxyFeature } from '../../../src/reconcile/proxy.ts';
import { cmReply, cmRequest } from '../support/cm-messages.ts';
import { type Compiled, compileBpf } from '../support/compile.ts';
import { letTimePass } from '../support/queue-pair-time.ts';
import {
  A,
  A4,
  B,
  B4,
  NEXT,
  NOTICE_PORT,
  PROXY,
  ProxyUnderTest,
  UNCHECKED,
  acknowledge,
  compileProxy,
  data,
  notice,
} from '../support/proxy-under-test.ts';

let compiled: { readonly proxy: Compiled; readonly asking: Compiled };
let pins: string;
let directory: string;
/** The proxy's program, on the same maps as the feature's. */
let program: ProxyUnderTest;
let feature: Proxy;
let asking: BpfObject;
beforeAll(
  () => void (compiled = { proxy: compileProxy(), asking: compileBpf('test/bpf/support/programs/source-qpn.bpf.c') }),
);
afterAll(() => {
  compiled.proxy.remove();
  compiled.asking.remove();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-qp-'));
  pins = join(directory, 'bpffs');
  mountBpffs(pins);
  program = new ProxyUnderTest(compiled.proxy.path, { pinDir: pins });
  feature = proxyFeature.open(
    openBpfObject(compiled.proxy.path, { pinDir: pins, unpinned: proxyFeature.scratchMaps }),
    { clock: manualClock(), work: new ManualWork(), log: silentLog, count: () => {} },
  );
  asking = openBpfObject(compiled.asking.path, { pinDir: pins });
});
afterEach(() => {
  asking.close();
  feature.close();
  program.close();
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
});

const link = (name: string, ifindex: number) => ({ id: name, interface: name, ifindex });
const senders = (...texts: string[]) => texts.map((text) => ({ id: formatPrefix(prefix(text)), prefix: prefix(text) }));
const QUEUE_PAIRS: QueuePairsPlan = {
  senders: senders('2001:db8:a::/64', '10.0.0.0/24'),
  interfaces: [link('eth1', 4), link('eth2', 5)],
};
/** Its ports are none of a router's. */
const LEARNING: LearningPlan = { ageingNs: UNCHECKED.ageingNs, reversePathCheck: false, ports: [] };
const PLAN: ProxyPlan = {
  address: PROXY,
  udpPort: NOTICE_PORT,
  senders: senders('2001:db8:a::/64').map((s) => ({ ...s, format: 'standard-cnp' as const })),
  acceptFrom: senders('2001:db8:ffff::/48'),
  perFlowIntervalNs: 0,
  noticesPerSecond: 1000,
  burst: 10,
  interfaces: [link('eth2', 5), link('eth3', 6)],
};

function connect(a: IpAddress, b: IpAddress): void {
  program.send(cmRequest(a, b));
  program.send(cmReply(b, a));
}

/** The congested node's question. */
const sourceQpn = (flow: FlowName): number =>
  asking
    .program('source_qpn')
    .testRun({ data: concat(new Uint8Array(12), Uint8Array.of(0x88, 0xb5), encodeFlowKey(flow)) }).retval;

describe('without a proxy', () => {
  beforeEach(() => feature.apply({ queuePairs: QUEUE_PAIRS, learning: LEARNING }));

  test.each([
    ['IPv6', A, B],
    ['IPv4', A4, B4],
  ])(
    'LHCNP-5.2-a, LHCNP-5.5-c: the Queue Pair of a sender is known to the congested node from the CM exchange: %s',
    (_, a, b) => {
      connect(a, b);
      expect(sourceQpn({ sender: a, receiver: b, receiverQpn: 0xc8 })).toBe(0x64);
      expect(sourceQpn({ sender: b, receiver: a, receiverQpn: 0x64 })).toBe(0xc8);
    },
  );

  test('LHCNP-5.2-a: and from traffic in both directions', () => {
    for (let psn = 1; psn <= 3; psn++) {
      expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc8 })).toBe(0);
      program.send(data({ from: A, to: B, qpn: 0xc8, psn }));
      program.send(acknowledge({ from: B, to: A, qpn: 0x64, psn }));
    }
    expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc8 })).toBe(0x64);
  });

  test('a flow, a Queue Pair or a direction that is not known is 0: nothing is guessed', () => {
    connect(A, B);
    expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc9 })).toBe(0);
    expect(sourceQpn({ sender: B, receiver: A, receiverQpn: 0xc8 })).toBe(0);
    expect(sourceQpn({ sender: address('2001:db8:a::2'), receiver: B, receiverQpn: 0xc8 })).toBe(0);
  });

  test('an operator’s entry outranks what is learned', () => {
    connect(A, B);
    const flow = { sender: A, receiver: B, receiverQpn: 0xc8 };
    program.object
      .map(PROXY_MAPS.staticQueuePairs)
      .update(encodeFlowKey(flow), encodeStaticQueuePair({ senderQpn: 0x77, now: process.hrtime.bigint() }));
    expect(sourceQpn(flow)).toBe(0x77);
  });

  test('a connection that has aged is not known any more, even before it is swept', () => {
    connect(A, B);
    letTimePass(program, 299e9);
    expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc8 })).toBe(0x64);
    letTimePass(program, 2e9);
    expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc8 })).toBe(0);
  });

  test('what is forgotten leaves nothing behind; a Queue Pair that is connected with another one by now stays', () => {
    connect(A, B);
    const pairs = program.connections();
    const connected = program.object.map(PROXY_MAPS.connectedQueuePairs);
    expect([...connected.keys()]).toHaveLength(2);
    const moved = { receiver: address('2001:db8:b::9'), receiverQpn: 0xc8 };
    connected.update(ownerKey(pairs[0]!), encodePeer(moved));
    for (const pair of pairs) feature.forget(pair);
    expect(program.connections()).toEqual([]);
    expect([...connected.entries()]).toEqual([[ownerKey(pairs[0]!), encodePeer(moved)]]);
  });

  test('connections of others are not learned', () => {
    connect(address('2001:db8:77::1'), B);
    expect(program.connections()).toEqual([]);
  });

  test('PNC-6-e: no notice is for this node: one to the port of notices, to port 0 and to the address :: passes unchanged', () => {
    connect(A, B);
    const about = data({ from: A, to: B, qpn: 0xc8, psn: 1 });
    const toNobody = encodeUdpPacket({
      source: PROXY,
      destination: address('::'),
      sourcePort: 1,
      destinationPort: 0,
      checksum: true,
      payload: new Uint8Array(60),
    });
    for (const packet of [notice(about), toNobody]) {
      const { verdict, packet: after, counted } = program.send(packet);
      expect(verdict).toBe(NEXT);
      expect(after).toEqual(packet);
      expect(counted).toEqual({});
    }
  });

  test('the program is at its interfaces, not at the loopback interface', () => {
    expect(proxyFeature.desired({ queuePairs: QUEUE_PAIRS, learning: LEARNING } as DesiredState)).toBe(true);
    expect(feature.attachments({ queuePairs: QUEUE_PAIRS, learning: LEARNING }).map((a) => a.id)).toEqual([
      'proxy@eth1/ingress',
      'proxy@eth2/ingress',
    ]);
  });
});

describe('beside a proxy', () => {
  test('interfaces of both, each once, and senders of both', () => {
    expect(feature.attachments({ proxy: PLAN, queuePairs: QUEUE_PAIRS, learning: LEARNING }).map((a) => a.id)).toEqual([
      'proxy@eth2/ingress',
      'proxy@eth3/ingress',
      'proxy@eth1/ingress',
      'proxy@lo/ingress',
    ]);
    feature.apply({ proxy: PLAN, queuePairs: QUEUE_PAIRS, learning: LEARNING });
    connect(A4, B4);
    connect(A, B);
    expect(sourceQpn({ sender: A4, receiver: B4, receiverQpn: 0xc8 })).toBe(0x64);
    expect(program.send(notice(data({ from: A, to: B, qpn: 0xc8, psn: 1 }))).counted).toMatchObject({
      'proxy.cnp.sent': 1,
    });
    // Learned, but not served: this sender has no proxy here.
    expect(program.send(notice(data({ from: A4, to: B4, qpn: 0xc8, psn: 1 }))).counted).toEqual({
      'proxy.notice.received': 1,
      'proxy.notice.sender-unknown': 1,
    });
  });

  test('what is learned stays when the proxy goes, and its notices are no longer taken', () => {
    feature.apply({ proxy: PLAN, queuePairs: QUEUE_PAIRS, learning: LEARNING });
    connect(A, B);
    feature.apply({ queuePairs: QUEUE_PAIRS, learning: LEARNING });
    expect(sourceQpn({ sender: A, receiver: B, receiverQpn: 0xc8 })).toBe(0x64);
    expect(program.send(notice(data({ from: A, to: B, qpn: 0xc8, psn: 1 }))).counted).toEqual({});
    feature.apply({});
    connect(A4, B4);
    expect(sourceQpn({ sender: A4, receiver: B4, receiverQpn: 0xc8 })).toBe(0);
    expect(feature.status()).toEqual([]);
  });
});
