// A whole episode of congestion (LHCNP §7) with the real program and the real agent's loop: data fill a queue, the
// program instructs the sender to slow down, the queue drains, the agent instructs it to go faster again.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CongestionLoop, createCongestionLoop } from '../../../src/congestion/congestion.edge.ts';
import { EGRESS_PROGRAMS, encodeEgressPort } from '../../../src/kernel/dataplane/egress.ts';
import { u32Key } from '../../../src/kernel/dataplane/layout.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { silentLog } from '../../../src/model/log.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { decodeLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import type { LongHaulCnp } from '../../../src/packet/long-haul/body.ts';
import { readLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { buildRocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { encapsulate } from '../../../src/packet/srv6/encapsulation.ts';
import { type EgressPortPlan, NO_SENDER_PROXIES } from '../../../src/plan/desired.ts';
import { type CongestedNode, congestedNode } from '../../../src/reconcile/congested-node.ts';
import { CongestedRouter, LOOPBACK6 } from '../support/congested-router.ts';
import { notifierPlan, portPlan } from '../support/notifier-plan.ts';
import { H1, H1V4, H2, H2V4, QPN, data } from '../support/packets.ts';
import { passTime } from '../support/detector-time.ts';
import { is, moreThan, until } from '../../support/until.ts';

const LIMIT_MS = 40_000;
const [K_MIN, K_MAX] = [50_000, 100_000];
const SOURCE_QPN = 0x64;
const NOTIFIER = notifierPlan({ deviceId: 'p1', pathId: 7 });

let r: CongestedRouter;
let node: CongestedNode;
let poller: Poller;
let loop: CongestionLoop;
let errors: unknown[];
let counters: Record<string, number>;
const count = (name: string, by = 1): void => void (counters[name] = (counters[name] ?? 0) + by);

beforeEach(async () => {
  [errors, counters] = [[], {}];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  r = await CongestedRouter.create();
  r.stopReading();
  await r.shape({});
  node = congestedNode.open(r.egress, { clock: systemClock, work: eventLoopWork(), log: silentLog, count });
  node.apply({
    ports: [portPlan(r.portIfindex)],
    notifier: NOTIFIER,
    senderCapabilities: [],
    endConSids: [],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [
      { id: 'a', prefix: prefix('2001:db8:1::/48'), order: ['long-haul-icmpv6'], markCeWithFastCnp: false },
    ],
  });
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, SOURCE_QPN]);
  r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
});
afterEach(() => {
  loop.stop();
  node.close();
  poller.close();
  r.close();
  expect(errors).toEqual([]);
});

/** The flow that is notified, as the agent names it. */
const resumable = (endCon: IpAddress | null) => ({
  source: H1,
  destination: H2,
  destinationQpn: QPN,
  sourceQpn: SOURCE_QPN,
  datagram: false,
  endCon,
  ifindex: r.portIfindex,
});

const start = (): CongestionLoop =>
  createCongestionLoop(
    { ...NOTIFIER, ports: [portPlan(r.portIfindex)], resume: { level: 20, parameter: 50 } },
    {
      poller,
      rtnetlink: r.rtnl,
      clock: systemClock,
      log: silentLog,
      count,
      netns: r.router,
      reversePath: { refuses: () => false },
      claimResume: (flow) => node.claimResume(flow),
      onRefusal: () => false,
    },
  );

/** Every Long-haul CNP that came out towards the sender, in order. */
const messages = (): LongHaulCnp[] =>
  r.collected.flatMap((frame) => {
    const icmp = parseIcmpv6(frame.subarray(14));
    if (!icmp.ok || icmp.value.type !== 200) return [];
    expect({ ...icmp.value, dscp: icmp.value.trafficClass >>> 2 }).toMatchObject({
      source: LOOPBACK6,
      destination: H1,
      dscp: 48,
    });
    const cnp = decodeLongHaulIcmpv6(icmp.value.message, { type: 200, objectClass: 247 });
    if (!cnp.ok) throw new Error(cnp.error.detail);
    return [cnp.value];
  });

/** An RTT so long that no machine is too slow for it. */
const rttNs = 3_600_000_000_000;
/** When an RTT has passed since the flow's sender was notified, a Resume may go. */
const grantedLater = (flow: ReturnType<typeof resumable>): Promise<unknown> =>
  until('Resume is granted', () => (passTime(r, rttNs, portPlan(0).intervalNs), node.claimResume(flow)), is('granted'));

/** Once the sender was notified. The queue waits until then, however slow the machine is. */
const drain = (): Promise<void> => r.drain(2_000_000n);
const congest = (): void => {
  for (let i = 0; i < 300; i++) r.forward(data({ psn: i, size: 950 }));
};

test('A3, LHCNP-5.5.1-i: the sender is instructed to slow down, and once the queue has been below K_min for an RTT to go faster again, once', async () => {
  loop = start();
  const reader = node.onNotification((sent) => loop.notified(sent), { poller });
  congest();
  await until('the sender was notified', () => messages().length, moreThan(0), LIMIT_MS);
  await drain();
  await until(
    'Resume',
    () => messages(),
    (all) => all.some(({ action }) => action === 'resume'),
    LIMIT_MS,
  );
  expect(await r.depth()).toBeLessThan(K_MIN);
  const cnps = messages();
  expect(cnps.map(({ action }) => action).indexOf('resume')).toBe(cnps.length - 1);
  const [first, last] = [cnps[0]!, cnps.at(-1)!];
  expect(first).toMatchObject({
    level: 180,
    action: 'rate-reduce',
    parameter: 30,
    sourceQpn: SOURCE_QPN,
    metric: { type: 1 },
  });
  expect(last).toMatchObject({
    level: 20,
    action: 'resume',
    parameter: 50,
    sourceQpn: SOURCE_QPN,
    metric: { type: 1 },
  });
  expect(first.metric.value).toBeGreaterThanOrEqual(K_MAX / 1000);
  expect(last.metric.value).toBeLessThan(K_MIN / 1000);
  // The agent's objects are those of the program, but for the time.
  const untimed = ({ objects }: LongHaulCnp) => objects.map((o) => (o.kind === 'timestamp' ? 'timestamp' : o));
  expect(untimed(last)).toEqual(untimed(first));
  const seconds = ({ objects }: LongHaulCnp): number =>
    Number(objects.flatMap((o) => (o.kind === 'timestamp' ? [o.ntp >> 32n] : []))[0]);
  expect(Math.abs(seconds(last) - seconds(first))).toBeLessThan(LIMIT_MS / 1000);
  const shown = loop.notifications().map(({ value }) => value);
  expect(shown.map((n) => [n.ifindex, n.format, n.reason])).toEqual([
    [r.portIfindex, 'long-haul-icmpv6', 'resume'],
    ...shown.slice(1).map((n) => [r.portIfindex, 'long-haul-icmpv6', n.reason]),
  ]);
  expect(shown).toHaveLength(cnps.length);
  // The flow table knows of the Resume: an agent that starts now has no sender to notify.
  expect([...node.slowedFlows(process.hrtime.bigint())]).toEqual([]);
  reader.close();
});

test("LHCNP-9-f, LHCNP-5.5-h: a Resume takes of the port's tokens, and counts for its flow: neither limit has a second allowance for it", async () => {
  const flow = resumable(null);
  const others = (n: number) => ({ ...flow, destinationQpn: 1000 + n });
  const change = (changed: Partial<EgressPortPlan>): void =>
    node.ports.update(u32Key(r.portIfindex), encodeEgressPort(portPlan(r.portIfindex, changed)));
  change({ rttNs });
  loop = start();
  congest();
  await until('the sender was notified', () => messages().length, moreThan(0), LIMIT_MS);
  expect(node.claimResume(flow)).toBe('flow-waits');
  await grantedLater(flow);
  expect(node.claimResume(flow)).toBe('flow-waits');
  // One token in two hundred seconds from here on, ten at once; a changed rate opens the bucket.
  change({ rttNs, noticesPerSecond: 0.005 });
  const answers = Array.from({ length: 20 }, (_, n) => node.claimResume(others(n)));
  expect(answers).toEqual([...Array<string>(10).fill('granted'), ...Array<string>(10).fill('port-waits')]);
  expect(node.claimResume({ ...flow, ifindex: 9999 })).toBe('port-unknown');
});

test('LHCNP-5.5-h, E1: a Resume counts for its flow where the port is a tenant\u2019s, too: no second one within the RTT', async () => {
  const END_CON = address('2001:db8:c::7');
  const flow = resumable(END_CON);
  node.apply({
    ports: [portPlan(r.portIfindex, { tenant: 7, rttNs })],
    notifier: NOTIFIER,
    senderCapabilities: [],
    endConSids: [{ id: 'c', sid: END_CON, tenant: 7 }],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [
      { id: 'a', prefix: prefix('2001:db8:1::/48'), order: ['long-haul-icmpv6'], markCeWithFastCnp: false },
    ],
  });
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN, tenant: 7 }, SOURCE_QPN]);
  loop = start();
  for (let psn = 0; psn < 300; psn++)
    r.forward(encapsulate({ source: END_CON, destination: H2, inner: data({ psn, size: 950 }) }));
  await until(
    'the sender was notified',
    () => [...node.slowedFlows(process.hrtime.bigint())].length,
    moreThan(0),
    LIMIT_MS,
  );
  expect(node.claimResume(flow)).toBe('flow-waits');
  await grantedLater(flow);
  expect(node.claimResume(flow)).toBe('flow-waits');
});

test('LHCNP-5.5.1-i: an agent that was restarted meanwhile resumes whom the run before saw slowed down', async () => {
  loop = start();
  congest();
  await until('the sender was notified', () => messages().length, moreThan(0), LIMIT_MS);
  loop.stop();
  loop = start();
  loop.adopt(node.slowedFlows(process.hrtime.bigint()));
  await drain();
  await until(
    'Resume',
    () => messages(),
    (all) => all.some(({ action }) => action === 'resume'),
    LIMIT_MS,
  );
  expect(messages().at(-1)).toMatchObject({ action: 'resume', parameter: 50, sourceQpn: SOURCE_QPN });
  expect(counters).toMatchObject({ 'congestion.resume.sent': 1 });
});

describe.each([
  ['IPv6', H1, H2],
  ['IPv4', H1V4, H2V4],
] as const)('LHCNP-6.2.3-g: in RoCEv2 form, %s', (_, source, destination) => {
  const [sourcePort, pkey] = [0xd00d, 0x8123];
  /** Action, UDP source port and P_Key of what came out towards the sender. */
  const heard = (): readonly (readonly [string, number, number])[] =>
    r.collected.flatMap((frame) => {
      const roce = parseRocePacket(frame.subarray(14));
      const cnp = roce.ok && readLongHaulRoce(roce.value, 247);
      return cnp && cnp.ok ? [[cnp.value.action, roce.value.sourcePort, roce.value.bth.pkey] as const] : [];
    });

  test.each([
    ['the run that saw the notification', false],
    ['a run that was started after it', true],
  ])('reduce and resume have the P_Key and the UDP source port of the flow, from %s', async (_run, restarted) => {
    node.apply({
      ports: [portPlan(r.portIfindex)],
      notifier: NOTIFIER,
      senderCapabilities: [],
      endConSids: [],
      senderProxies: NO_SENDER_PROXIES,
      senderPolicies: ['::/0', '0.0.0.0/0'].map((id) => ({
        id,
        prefix: prefix(id),
        order: ['long-haul-roce'] as const,
        markCeWithFastCnp: false,
      })),
    });
    r.queuePairs([{ sender: source, receiver: destination, receiverQpn: QPN }, SOURCE_QPN]);
    loop = start();
    const reader = restarted ? undefined : node.onNotification((sent) => loop.notified(sent), { poller });
    for (let psn = 0; psn < 300; psn++) {
      r.forward(
        buildRocePacket({
          source,
          destination,
          sourcePort,
          trafficClass: 2,
          hopLimit: 60,
          bth: { opcode: 4, destQpn: QPN, psn, pkey },
          payload: new Uint8Array(950),
        }),
      );
    }
    await until('the sender was notified', () => heard().length, moreThan(0), LIMIT_MS);
    if (restarted) loop.adopt(node.slowedFlows(process.hrtime.bigint()));
    await drain();
    await until(
      'Resume',
      () => heard(),
      (all) => all.some(([action]) => action === 'resume'),
      LIMIT_MS,
    );
    expect(new Set(heard().map((cnp) => cnp.join(' ')))).toEqual(
      new Set([`rate-reduce ${sourcePort} ${pkey}`, `resume ${sourcePort} ${pkey}`]),
    );
    reader?.close();
  });
});
