// Runs in a guest whose kernel has fq (departure-times.test.ts): a router that forwards to a port at which flows are
// held by departure times. Prints what it has seen, as JSON. Times are milliseconds.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { FqPorts } from '../../src/kernel/netlink/fq.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { probeKernel } from '../../src/kernel/probe.ts';
import { address } from '../../src/model/address.ts';
import { systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { eventLoopWork } from '../../src/model/work.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { NO_SENDER_PROXIES } from '../../src/plan/desired.ts';
import { Dataplane } from '../../src/reconcile/dataplane.ts';
import { HoldEdtPorts } from '../../src/reconcile/hold-edt-ports.ts';
import { hold } from '../../src/reconcile/hold.ts';
import { HoldPaces } from '../../src/reconcile/hold-paces.ts';
import { Enforcement } from '../../src/source/enforcement.ts';
import { defaultHoldOptions } from '../../src/source/hold.ts';
import { object } from '../bpf/support/congested-router.ts';
import { HoldScene, RECEIVER } from '../bpf/support/hold-scene.ts';
import { MINOR, held } from '../bpf/support/hold-under-test.ts';
import { H1, QPN, data } from '../bpf/support/packets.ts';
import { ip } from '../support/netns.ts';
import { is, until } from '../support/until.ts';

const PORT = 't-hold-a';
const FLOW = { sender: H1, receiver: RECEIVER[PORT], receiverQpn: QPN };
/** Bytes of a frame of the scene, and a rate at which it takes ten milliseconds. */
const FRAME = 1078;
const RATE = BigInt(FRAME * 100);
const LINE = { rate: 1_250_000_000n, limit: 4_000_000, least: 1n };
const BUFFER = 4_000_000;
const now = (): bigint => process.hrtime.bigint();
const ms = (ns: bigint): number => Math.round(Number(ns) / 1e4) / 100;

/** Of all network namespaces. */
const DEFAULT_QDISC = '/proc/sys/net/core/default_qdisc';
const BPFFS = '/run/t-hold/bpffs';
const LINKS = join(BPFFS, 'links');
const SOURCE = {
  ...{ senders: [], acceptFrom: [], interfaces: [], fastCnpOption: 0x1e, fastCnpIoamOption: 0x3e, icrc: 'cover' },
  ...{ longHaulIcmpv6Type: 200, perFlowIntervalNs: 0, perSecond: 1, burst: 1 },
};

const scene = await HoldScene.create();
const edt = HoldEdtPorts.open(
  { netns: scene.router },
  { table: scene.portTable, onChange: () => {}, onTake: () => {} },
);
const paces = new HoldPaces(scene.object, { table: scene.table, monotonicNs: now });
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const ifindex = scene.ifindex(PORT);
let psn = 0;

async function send(count: number, qpn = QPN): Promise<void> {
  for (let i = 0; i < count; i++) {
    scene.send({ psn: psn++, qpn });
    await turn();
  }
}
const arrived = (count: number, qpn = QPN): Promise<unknown> =>
  until('they have left', () => scene.psns(qpn).length, is(count), 60_000);

function begin(): void {
  scene.arrivals.length = 0;
  psn = 0;
}
const times = (qpn = QPN): bigint[] => scene.arrivals.filter((one) => one.qpn === qpn).map(({ at }) => at);
const queue = (): string => scene.tc(`qdisc show dev ${PORT}`).split('\n')[0]!.trim();

const prepare = (queueing: 'auto' | 'fq', buffer = BUFFER, of = ifindex): boolean =>
  edt.prepare(of, buffer, edt.choose(of, queueing, buffer));

/** What becomes of the port's queue. */
async function queues(): Promise<object> {
  const before = queue();
  const auto = prepare('auto');
  const own = prepare('fq');
  const [made, again] = [queue(), prepare('fq', 2 * BUFFER)];
  const changed = queue();
  const back = prepare('auto');
  const restored = queue();
  scene.tc(`qdisc replace dev ${PORT} root handle 5: fq flow_limit 500 limit 20000`);
  const theirs = prepare('auto');
  const found = FqPorts.open({ netns: scene.router }).find(ifindex);
  edt.release(ifindex);
  const left = queue();
  scene.tc(`qdisc replace dev ${PORT} root handle 6: pfifo limit 100`);
  let refused = '';
  try {
    prepare('fq');
  } catch (error) {
    refused = (error as Error).message;
  }
  scene.tc(`qdisc del dev ${PORT} root`);
  // An HTB of an earlier run.
  await scene.ports.prepare(ifindex);
  const taken = prepare('fq');
  return {
    ...{ before, auto, own, made, again, changed, back, restored, theirs, found, left, refused, taken, last: queue() },
    cleaned: edt.own().map((one) => edt.release(one)).length,
  };
}

const choice = (queueing: 'auto' | 'fq', of = ifindex): unknown => {
  try {
    return edt.choose(of, queueing, BUFFER);
  } catch (error) {
    return (error as Error).message;
  }
};

/** What the kernel makes by default, and what keeps packets for too short a time. */
async function unfit(): Promise<object> {
  const usual = readFileSync(DEFAULT_QDISC);
  writeFileSync(DEFAULT_QDISC, 'fq');
  ip(scene.router, 'tuntap add dev t-tap mode tap');
  ip(scene.router, 'link set t-tap up');
  const tap = scene.router.run(() => interfaceIndex('t-tap'));
  ip(scene.router, 'link add t-many numtxqueues 4 numrxqueues 4 type veth peer name t-many-far');
  ip(scene.router, 'link set t-many up');
  scene.tc('qdisc replace dev t-many root handle 5: mq');
  const many = scene.router.run(() => interfaceIndex('t-many'));
  const fqs = FqPorts.open({ netns: scene.router });
  const [byDefault, below] = [fqs.find(tap), fqs.find(many)];
  const shown = scene.tc('qdisc show dev t-tap').trim();
  const seenOfTap = { byDefault, shown, auto: choice('auto', tap), fq: choice('fq', tap) };
  const made = prepare('fq', BUFFER, tap) && fqs.find(tap);
  edt.release(tap);
  fqs.close();
  writeFileSync(DEFAULT_QDISC, usual);
  scene.tc(`qdisc replace dev ${PORT} root handle 5: fq horizon 300ms`);
  const [shortAuto, shortFq] = [choice('auto'), choice('fq')];
  scene.tc(`qdisc replace dev ${PORT} root handle 5: fq horizon 400ms`);
  const long = choice('auto');
  scene.tc(`qdisc del dev ${PORT} root`);
  return { ...seenOfTap, made, below, manyQueues: choice('auto', many), shortAuto, shortFq, long };
}

/** A guest may stall for as long as packets wait: then it tries again. */
async function untilInTime(limitMs: number, run: () => Promise<void>, settle: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const start = now();
    await run();
    const took = ms(now() - start);
    await settle();
    if (took < limitMs) return;
  }
}

/** A flow at a rate, beside one that is not held. */
async function rate(): Promise<object> {
  begin();
  prepare('fq');
  paces.set(MINOR, { ...LINE, rate: RATE });
  scene.table.set(FLOW, held());
  const start = now();
  // No more at a time than may wait, 100 ms.
  for (let i = 0; i < 4; i++) {
    await send(9);
    await arrived(9 * (i + 1));
  }
  const last = times()[8]!;
  let sent = 36;
  const once = async (): Promise<void> => {
    begin();
    await send(9);
    sent += 9;
    await send(1, QPN + 1);
    await arrived(1, QPN + 1);
  };
  await untilInTime(80, once, () => arrived(9));
  const { stamped, entered } = scene.table.record(FLOW)!;
  return {
    ms: ms(last - start),
    qpns: scene.arrivals.map(({ qpn }) => qpn - QPN),
    ...{ sent, stamped: Number(stamped), entered: Number(entered) },
  };
}

async function pause(): Promise<object> {
  let at = 0n;
  const once = async (): Promise<void> => {
    begin();
    paces.set(MINOR, LINE);
    scene.table.set(FLOW, held());
    at = now();
    paces.pause(MINOR, 65_535);
    await send(5);
    scene.sendPacket(data({ source: H1, destination: RECEIVER[PORT], opcode: OPCODE.acknowledge, size: 4, psn: 99 }));
    await until('it has gone by', () => scene.psns(QPN).includes(99));
  };
  await untilInTime(65, once, () => arrived(6));
  const psns = scene.psns(QPN);
  const first = scene.arrivals.find((one) => one.psn !== 99)!;
  return { first: ms(first.at - at), psns };
}

/** Held, slowed down, sped up, let go and held again, without a pause between its packets. */
async function order(): Promise<object> {
  begin();
  await send(30);
  for (const minor of [MINOR + 1, MINOR + 2]) {
    paces.set(minor, { ...LINE, rate: 40n * RATE });
    scene.table.set(FLOW, held({ minor }));
    await send(40);
    paces.changeRate(minor, { rate: 10n * RATE });
    await send(20);
    paces.pause(minor, 20_000);
    await send(10);
    paces.changeRate(minor, { rate: LINE.rate });
    scene.table.set(FLOW, held({ minor, phase: 'leaving' }));
    while (!scene.table.record(FLOW)!.released) await send(1);
    await send(10);
    scene.table.remove(FLOW);
    await send(20);
  }
  await arrived(psn);
  return { sent: psn, psns: scene.psns(QPN) };
}

/** Nobody renews the hold: what waits leaves at its time, and nothing overtakes it. */
async function dead(): Promise<object> {
  begin();
  paces.set(MINOR + 3, { ...LINE, rate: RATE });
  scene.table.set(FLOW, held({ minor: MINOR + 3 }));
  await send(9);
  scene.table.set(FLOW, held({ minor: MINOR + 3, untilNs: now() }));
  await send(20);
  await arrived(psn);
  await until('the last time is over', () => scene.table.record(FLOW)!.nextNs <= now());
  await send(1);
  await arrived(psn);
  scene.table.remove(FLOW);
  return { psns: scene.psns(QPN) };
}

/** The class of a port with HTB and the time of one with fq, of one flow. */
async function both(): Promise<object> {
  begin();
  await scene.ports.prepare(scene.ifindex('t-hold-b'));
  await scene.ports.setClass(MINOR + 4, { rate: RATE, burst: 2000, limit: BUFFER });
  paces.set(MINOR + 4, { ...LINE, rate: RATE });
  const there = { ...FLOW, receiver: RECEIVER['t-hold-b'], receiverQpn: QPN + 1 };
  scene.table.set(there, held({ minor: MINOR + 4 }));
  for (let i = 0; i < 3; i++) scene.send({ psn: psn++, qpn: QPN + 1 }, 't-hold-b');
  await arrived(3, QPN + 1);
  const { stamped, entered } = scene.table.record(there)!;
  scene.table.remove(there);
  return { stamped: Number(stamped), entered: Number(entered) };
}

/** The whole: machine, dataplane and program, from an instruction to the flow's recovery, and until nothing is left. */
/** The feature as the agent has it, what it counts, and what it is to hold. */
function openFeature() {
  const counts: Record<string, number> = {};
  const dependencies = {
    ...{ clock: systemClock, work: eventLoopWork(), log: silentLog },
    count: (name: string) => void (counts[name] = (counts[name] ?? 0) + 1),
  };
  const feature = scene.router.run(() => hold.open(scene.object, dependencies));
  const apply = async (desired: object): Promise<void> => {
    feature.apply(desired);
    await feature.settled;
  };
  const ports = [{ id: PORT, interface: PORT, ifindex }];
  return {
    feature,
    apply,
    counts,
    dependencies,
    byFq: { source: { enforce: { ports, queueing: 'fq', buffer: BUFFER } } },
  };
}

async function enforcement(): Promise<object> {
  begin();
  const { feature, apply, counts, dependencies, byFq } = openFeature();
  await apply(byFq);
  const made = queue();
  const machine = new Enforcement(
    { options: { ...defaultHoldOptions(100e6), rttMs: 200 }, buffer: BUFFER },
    {
      ...{ ...dependencies, dataplane: feature.classes, monotonicNs: now },
      isReady: () => feature.isReady,
      onHolding: () => {},
    },
  );
  const instruct = (action: 'pause' | 'rate-reduce', parameter: number): void =>
    machine.onNotification({
      ...{ atNs: 0n, format: 'long-haul-roce', action: 'enforce', node: address('2001:db8:ffff::2'), flow: FLOW },
      ...{ senderQpn: 1, ifindex: 1, metric: null, trace: null },
      instruction: { level: 1, action, parameter },
    });
  await send(20);
  instruct('rate-reduce', 90);
  await until('it is held', () => feature.classes.record(FLOW) !== undefined);
  await send(20);
  instruct('pause', 30_000);
  await send(40);
  const states = new Set<string>();
  while (machine.views().length > 0) {
    states.add(machine.views()[0]!.state);
    await send(1);
  }
  await send(20);
  await arrived(psn);
  // Held once more when all ends.
  instruct('rate-reduce', 90);
  await until('it is held again', () => feature.classes.record(FLOW) !== undefined);
  await send(20);
  await machine.stop();
  await send(20);
  await arrived(psn);
  await apply({});
  const restored = queue();
  return { made, restored, sent: psn, psns: scene.psns(QPN), states: [...states], counts };
}

/** The agent's dataplane, which may die; its programs stay. The scene's own is taken off. */
class Agent {
  readonly counts: Record<string, number> = {};
  readonly #dataplane: Dataplane;
  readonly #dependencies = {
    clock: {
      now: () => systemClock.now(),
      after: (ms: number, run: () => void) => systemClock.after(ms, () => void (this.#isDead || run())),
    },
    work: eventLoopWork(),
    log: silentLog,
    count: (name: string) => void (this.counts[name] = (this.counts[name] ?? 0) + 1),
  };
  #machine: Enforcement | undefined;
  #isDead = false;

  constructor() {
    const directories = { bpfDir: BPFFS, linksDir: LINKS, objectDir: join(object('hold'), '..') };
    this.#dataplane = scene.router.run(() => new Dataplane(directories, this.#dependencies));
  }

  get hold() {
    return this.#dataplane.hold;
  }

  /** As the daemon does: the machine that is not to hold so any more lets go once the dataplane knows. */
  apply(queueing?: 'fq' | 'htb'): Promise<void> {
    const enforce = queueing && { ports: [{ id: PORT, interface: PORT, ifindex }], queueing, buffer: BUFFER };
    const state = {
      ...{ ports: [], senderProxies: NO_SENDER_PROXIES, senderPolicies: [], senderCapabilities: [] },
      ...{ endConSids: [], guards: [] },
      ...(enforce && { source: { ...SOURCE, enforce } }),
    };
    scene.router.run(() => this.#dataplane.apply(state as never));
    const before = this.#machine;
    this.#machine = undefined;
    if (queueing)
      this.#machine = new Enforcement(
        { options: { ...defaultHoldOptions(100e6), rttMs: 1000 }, buffer: BUFFER },
        {
          ...{ ...this.#dependencies, dataplane: this.hold!.classes, monotonicNs: now },
          ...{ isReady: () => this.hold!.isReady, onHolding: () => {} },
        },
      );
    return before?.stop() ?? Promise.resolve();
  }

  prune(): void {
    scene.router.run(() => this.#dataplane.prune());
  }

  /** A flow of which packets wait: at a hundredth of the rate, paused. */
  async holdFlow(): Promise<void> {
    await until('flows can be held', () => this.hold!.isReady);
    this.#instruct('rate-reduce', 99);
    await until('it is held', () => this.hold!.classes.record(FLOW) !== undefined);
    // A guest may stall for as long as a pause.
    for (let microseconds = 60_000; !this.#waits; microseconds--) {
      await arrived(psn);
      this.#instruct('pause', microseconds);
      await turn();
      await send(5);
    }
  }

  get #waits(): boolean {
    const { entered, nextNs } = this.hold!.classes.record(FLOW)!;
    // In classes the kernel says nothing of times: a pause lasts.
    return nextNs > 0n ? nextNs - now() > 50_000_000n : entered > 0n;
  }

  #instruct(action: 'pause' | 'rate-reduce', parameter: number): void {
    this.#machine!.onNotification({
      ...{ atNs: 0n, format: 'long-haul-roce', action: 'enforce', node: address('2001:db8:ffff::2'), flow: FLOW },
      ...{ senderQpn: 1, ifindex: 1, metric: null, trace: null },
      instruction: { level: 1, action, parameter },
    });
  }

  /** As by SIGKILL: nobody renews anything, and nothing is taken back. */
  die(): void {
    this.#isDead = true;
    this.#dataplane.close();
  }
}

/** One after another, without a pause between the flow's packets: deaths, restarts, and changes of what holds. */
async function life(): Promise<object> {
  begin();
  scene.detach(PORT);
  mountBpffs(BPFFS);
  mkdirSync(LINKS, { recursive: true });
  const before = queue();
  const steps: Record<string, unknown> = {};
  const goOn = async (name: string, done: () => boolean): Promise<void> => {
    // At once: a look at a queue takes longer in a guest than packets wait.
    await send(20);
    for (const end = Date.now() + 20_000; !done() && Date.now() < end;) await send(1);
    await send(20);
    await arrived(psn).catch(() => {});
    steps[name] = { ok: done(), sent: psn, psns: scene.psns(QPN) };
    begin();
  };
  const programs = (): string[] => readdirSync(LINKS).filter((name) => name.startsWith('hold@'));
  let agent = new Agent();
  await agent.apply('fq');
  await agent.holdFlow();
  agent.die();
  agent = new Agent();
  await agent.apply('fq');
  agent.prune();
  await send(20);
  await goOn('restarted', () => agent.hold!.isReady);
  await agent.holdFlow();
  const stopped = agent.apply('htb');
  await goOn('by classes', () => agent.hold!.isReady && queue().startsWith('qdisc htb 6e70: root'));
  await stopped;
  await agent.holdFlow();
  const again = agent.apply('fq');
  await goOn('by an fq again', () => agent.hold!.isReady && queue().startsWith('qdisc fq 6e71: root'));
  await again;
  await agent.holdFlow();
  const removed = agent.apply();
  const kept = programs();
  await goOn('removed', () => programs().length === 0 && queue() === before);
  await removed;
  await agent.apply('fq');
  await agent.holdFlow();
  agent.die();
  agent = new Agent();
  await agent.apply();
  agent.prune();
  const keptOfDead = programs();
  await goOn('removed while dead', () => programs().length === 0 && queue() === before);
  agent.die();
  return { steps, kept, keptOfDead, counts: agent.counts };
}

/** The last one: the port is gone afterwards. */
async function vanished(): Promise<object> {
  const { feature, apply, counts, byFq } = openFeature();
  await apply(byFq);
  const before = feature.isReady;
  ip(scene.router, `link del ${PORT}`);
  await apply({});
  return { before, after: feature.isReady, failed: counts['dataplane.hold.release-failed'] ?? 0 };
}

const poller = Poller.open({
  onError: (error) => {
    throw error;
  },
});
const features = (await probeKernel({ poller, objectDir: join(object('hold'), '..') })).filter(({ name }) =>
  ['fq', 'htb', 'tcx'].includes(name),
);
poller.close();
const seen: Record<string, unknown> = { features };
for (const scenario of [queues, unfit, rate, pause, order, dead, both, enforcement, life, vanished])
  seen[scenario.name] = await scenario();
edt.close();
scene.close();
console.log(JSON.stringify(seen));
// With the feature, which nobody closes.
process.exit(0);
