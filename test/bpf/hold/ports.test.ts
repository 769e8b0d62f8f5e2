// The classes of holds at real ports, compared with what tc(8) shows.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KernelError } from '../../../src/kernel/errors.ts';
import { HoldTrees } from '../../../src/kernel/netlink/hold-tree.ts';
import { HoldPorts } from '../../../src/reconcile/hold-ports.ts';
import { ip } from '../../support/netns.ts';
import { atLeast, is, until } from '../../support/until.ts';
import { HoldScene, RECEIVER } from '../support/hold-scene.ts';
import { MINOR, held } from '../support/hold-under-test.ts';
import { H1, QPN } from '../support/packets.ts';

let scene: HoldScene;
beforeEach(async () => {
  scene = await HoldScene.create();
});
afterEach(() => scene.close());

const FLOW = { sender: H1, receiver: RECEIVER['t-hold-a'], receiverQpn: QPN };
const SLOW = { rate: 100_000n, burst: 1500, limit: 1_000_000 };
const lines = (shown: string): string[] => shown.split('\n').filter((line) => line.trim() !== '');
const qdiscs = (port = 't-hold-a'): string[] => lines(scene.tc(`qdisc show dev ${port}`)).map((line) => line.trim());
const classes = (port = 't-hold-a'): string[] => lines(scene.tc(`class show dev ${port}`)).map((line) => line.trim());
const a = (): number => scene.ifindex('t-hold-a');
const prepare = (): Promise<void> => scene.ports.prepare(a());
const failure = (promise: Promise<unknown>): Promise<KernelError> =>
  promise.then(
    () => {
      throw new Error('it succeeded');
    },
    (error: KernelError) => error,
  );

describe('a port with its default queue', () => {
  test('gets an HTB whose classes have rate, burst and limit as tc shows them; release restores the port', async () => {
    const before = qdiscs();
    await prepare();
    await scene.ports.setClass(MINOR, { rate: 12_500_000n, burst: 20_000, limit: 300_000 });
    await scene.ports.setClass(MINOR + 1, { rate: 50_000_000_000n, burst: 800_000, limit: 9_000_000 });
    // Packets of the kernel's own, such as MLD reports, may have gone straight.
    expect(qdiscs().filter((line) => line.includes('htb'))).toEqual([
      expect.stringMatching(
        /^qdisc htb 6e70: root refcnt \d+ r2q 10 default 0 direct_packets_stat \d+ direct_qlen 1000$/,
      ),
    ]);
    expect(qdiscs()).toContain('qdisc bfifo 1234: parent 6e70:1234 limit 300000b');
    expect(classes().sort()).toEqual([
      'class htb 6e70:1234 root leaf 1234: prio 0 rate 100Mbit ceil 100Mbit burst 20000b cburst 20000b',
      'class htb 6e70:1235 root leaf 1235: prio 0 rate 400Gbit ceil 400Gbit burst 800000b cburst 800000b',
    ]);
    await scene.ports.setClass(MINOR, { rate: 250_000n, burst: 3000, limit: 400_000 });
    await scene.ports.changeRate(MINOR + 1, { rate: 1_000_000n, burst: 2000 });
    expect(qdiscs()).toContain('qdisc bfifo 1234: parent 6e70:1234 limit 400000b');
    expect(
      classes()
        .map((line) => /rate \S+/.exec(line)![0])
        .sort(),
    ).toEqual(['rate 2Mbit', 'rate 8Mbit']);
    scene.ports.release(a());
    expect(qdiscs()).toEqual(before);
    expect(scene.ports.ports).toEqual([]);
  });

  test('what the kernel refuses is an error, and says which class', async () => {
    await prepare();
    expect(await failure(scene.ports.changeRate(MINOR, { rate: 1n, burst: 1 }))).toMatchObject({
      code: 'ENOENT',
      operation: 'change class 6e70:1234',
    });
    expect(await failure(scene.ports.classCounters(MINOR))).toMatchObject({ code: 'ENOENT' });
    for (const refused of [
      () => scene.ports.changeRate(MINOR, { rate: 0n, burst: 1 }),
      () => scene.ports.pause(MINOR, 0),
      () => scene.ports.pause(MINOR, 65_536),
    ])
      expect(await failure(Promise.resolve().then(refused))).toBeInstanceOf(RangeError);
    expect(await failure(scene.ports.prepare(9999))).toMatchObject({ code: 'ENODEV' });
  });

  test('classes made before a port was prepared exist there too, and counters are summed over the ports', async () => {
    await scene.ports.setClasses([[MINOR, { ...SLOW, rate: 10_000_000n }]]);
    await prepare();
    await scene.ports.prepare(scene.ifindex('t-hold-b'));
    const flows = [FLOW, { ...FLOW, receiver: RECEIVER['t-hold-b'], receiverQpn: QPN + 1 }];
    await scene.ports.setClass(MINOR + 1, SLOW);
    scene.table.set(flows[0]!, held());
    for (let psn = 0; psn < 5; psn++) scene.send({ psn });
    await until('they left', async () => (await scene.ports.classCounters(MINOR)).sent, is(5n));
    scene.table.remove(flows[0]!);
    scene.table.set(flows[1]!, held());
    for (let psn = 0; psn < 7; psn++) scene.send({ psn, qpn: QPN + 1 }, 't-hold-b');
    await until('they left', async () => (await scene.ports.classCounters(MINOR)).sent, is(12n));
    expect(await scene.ports.classCounters(MINOR)).toMatchObject({ sentBytes: 12n * 1078n, dropped: 0n });
  });

  test('what is read, changed and made while a port is prepared neither hinders that nor passes it by', async () => {
    const many = Array.from({ length: 40 }, (_, i) => MINOR + i);
    await prepare();
    await scene.ports.setClasses(many.map((minor) => [minor, SLOW]));
    const b = scene.ifindex('t-hold-b');
    const preparing = scene.ports.prepare(b);
    expect(await scene.ports.classCounters(many.at(-1)!)).toMatchObject({ sent: 0n });
    expect(await scene.ports.backlogBytes(b, many)).toEqual(many.map(() => 0));
    await scene.ports.changeRate(many.at(-2)!, { rate: 1_000_000n, burst: 2000 });
    await scene.ports.pause(many.at(-1)!, 1000);
    await scene.ports.setClass(MINOR + 40, SLOW);
    await preparing;
    expect(scene.ports.ports).toEqual([a(), b]);
    let others = 0;
    setImmediate(() => others++);
    expect(await scene.ports.backlogBytes(b, many)).toHaveLength(40);
    expect(others).toBe(1);
    expect(classes('t-hold-b').length).toBe(41);
    expect(classes('t-hold-b')).toContainEqual(expect.stringMatching(/^class htb 6e70:125a .* rate 8Mbit /));
  });

  test('a port whose queue somebody has replaced keeps no flow from being held at the others, until it is prepared again', async () => {
    await prepare();
    await scene.ports.prepare(scene.ifindex('t-hold-b'));
    await scene.ports.setClass(MINOR, SLOW);
    scene.tc('qdisc replace dev t-hold-a root handle 5: htb default 0');
    await scene.ports.setClass(MINOR + 1, SLOW);
    await scene.ports.changeRate(MINOR, { rate: 1_000_000n, burst: 2000 });
    await scene.ports.classCounters(MINOR);
    expect([classes().length, classes('t-hold-b').length]).toEqual([0, 2]);
    expect(scene.ports.ports).toEqual([scene.ifindex('t-hold-b')]);
    await prepare();
    expect(classes().length).toBe(2);
    scene.tc(`class del dev t-hold-a classid 5:${MINOR.toString(16)}`);
    await scene.ports.classCounters(MINOR);
    await prepare();
    expect(classes().length).toBe(2);
  });

  test('a port at which a class was refused is not prepared: the next attempt begins anew', async () => {
    await scene.ports.setClass(MINOR, { ...SLOW, rate: 0n });
    await failure(prepare());
    await scene.ports.setClass(MINOR, { ...SLOW, rate: 10_000_000n });
    await prepare();
    scene.table.set(FLOW, held());
    scene.send({ psn: 0 });
    await until('it goes through its class', async () => (await scene.ports.classCounters(MINOR)).sent, is(1n));
  });

  test('packets beyond the limit are dropped and counted, and so never hinder the flow from leaving', async () => {
    await prepare();
    await scene.ports.setClass(MINOR, { rate: 50_000n, burst: 1100, limit: 10_000 });
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 40; psn++) scene.send({ psn });
    await until('all were there', () => scene.table.record(FLOW)!.entered, is(40n));
    const { sent, dropped, backlogPackets } = await scene.ports.classCounters(MINOR);
    expect(Number(sent + dropped) + backlogPackets).toBe(40);
    expect(dropped).toBeGreaterThan(10n);
    await scene.ports.changeRate(MINOR, { rate: 1_000_000_000n, burst: 10_000 });
    await until('the class is empty', async () => (await scene.ports.classCounters(MINOR)).backlogPackets, is(0));
    await scene.leave(FLOW, held());
    scene.send({ psn: 40 });
    await until('it left', () => scene.table.record(FLOW)!.released);
  });
});

describe('a queue that is not the default one', () => {
  test.each([
    ['tbf', 'tbf rate 8mbit burst 3000 limit 10000', 'its root qdisc tbf 1: is not cnpd'],
    ['pfifo_fast', 'pfifo_fast', 'its root qdisc pfifo_fast 1: is not cnpd'],
  ])('%s is left alone', async (_, kind, why) => {
    scene.tc(`qdisc add dev t-hold-a root handle 1: ${kind}`);
    const before = qdiscs();
    const error = await failure(prepare());
    expect(error).toMatchObject({ code: 'EBUSY', operation: 'make room for classes at t-hold-a' });
    expect(error.message).toContain(why);
    expect(qdiscs()).toEqual(before);
    expect(scene.ports.ports).toEqual([]);
  });

  test('an HTB whose default class no other class limits is left alone, and told what to do', async () => {
    scene.tc('qdisc add dev t-hold-a root handle 1: htb default 10');
    scene.tc('class add dev t-hold-a parent 1: classid 1:10 htb rate 8mbit quantum 2000');
    expect((await failure(prepare())).message).toContain('put it under a class with the rate of the port');
  });

  test('an HTB whose default class is about to be made is left alone until that is there', async () => {
    await prepare();
    scene.tc('qdisc replace dev t-hold-a root handle 1: htb default 10');
    expect((await failure(prepare())).message).toContain('the default class 1:10 of its HTB does not exist');
    scene.tc('class add dev t-hold-a parent 1: classid 1:1 htb rate 8mbit quantum 2000');
    scene.tc('class add dev t-hold-a parent 1:1 classid 1:10 htb rate 8mbit quantum 2000');
    await prepare();
    await scene.ports.setClass(MINOR, { rate: 1_000_000n, burst: 20_000, limit: 300_000 });
    expect(classes().filter((text) => text.includes('1:1234'))).toMatchObject([
      expect.stringContaining('class htb 1:1234 parent 1:1 '),
    ]);
  });

  test('an HTB with a class that has a number of those of holds is left alone', async () => {
    scene.tc('qdisc add dev t-hold-a root handle 1: htb default 0');
    scene.tc('class add dev t-hold-a parent 1: classid 1:1234 htb rate 8mbit quantum 2000');
    expect((await failure(prepare())).message).toContain("its class 1:1234 is not cnpd's");
  });

  test("in an operator's HTB, classes share the rate of the default class's parent; release leaves the rest", async () => {
    scene.tc('qdisc add dev t-hold-a root handle 1: htb default 10');
    scene.tc('class add dev t-hold-a parent 1: classid 1:1 htb rate 8mbit burst 2000 quantum 2000');
    scene.tc('class add dev t-hold-a parent 1:1 classid 1:10 htb rate 4mbit ceil 8mbit burst 2000 quantum 2000');
    const before = [qdiscs(), classes()];
    await prepare();
    await scene.ports.setClass(MINOR, { rate: 500_000n, burst: 2000, limit: 1_000_000 });
    expect(classes()).toContainEqual(
      expect.stringMatching(/^class htb 1:1234 parent 1:1 leaf 1234: prio 7 rate 8bit ceil 4Mbit /),
    );
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 30; psn++) scene.send({ psn });
    await until('they arrived', () => scene.psns(QPN).length, is(30));
    expect((await scene.ports.classCounters(MINOR)).sent).toBe(30n);
    scene.ports.release(a());
    expect([qdiscs(), classes()]).toEqual(before);
    for (let psn = 30; psn < 40; psn++) scene.send({ psn });
    await until('they go straight', () => scene.psns(QPN).length, is(40));
  });

  test('in an HTB without a default class, they are beside the direct queue', async () => {
    scene.tc('qdisc add dev t-hold-a root handle 1: htb default 0');
    await prepare();
    await scene.ports.setClass(MINOR, { rate: 500_000n, burst: 2000, limit: 1_000_000 });
    expect(classes()).toContainEqual(
      expect.stringMatching(/^class htb 1:1234 root leaf 1234: prio 0 rate 4Mbit ceil 4M/),
    );
    scene.ports.release(a());
    expect(classes()).toEqual([]);
    expect(qdiscs()[0]).toContain('qdisc htb 1: root');
  });
});

describe("somebody else's hand", () => {
  test("a queue that has taken the place of cnpd's is no failure of release, which leaves it", async () => {
    await prepare();
    scene.tc('qdisc replace dev t-hold-a root handle 1: tbf rate 8mbit burst 3000 limit 10000');
    expect(await failure(scene.ports.setClass(MINOR, SLOW))).toMatchObject({ operation: 'set class 6e70:1234' });
    scene.table.set(FLOW, held());
    scene.send({ psn: 0 });
    await until('it arrived', () => scene.psns(QPN).length, is(1));
    scene.ports.release(a());
    expect(qdiscs()[0]).toContain('qdisc tbf 1: root');
    expect((await failure(prepare())).code).toBe('EBUSY');
    scene.tc('qdisc del dev t-hold-a root');
    await prepare();
    expect(classes().length).toBe(1);
  });

  test('a program that is detached lets the flow go straight; its class drains', async () => {
    await prepare();
    await scene.ports.setClass(MINOR, SLOW);
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 50; psn++) scene.send({ psn });
    await until('all were there', () => scene.table.record(FLOW)!.entered, is(50n));
    scene.detach('t-hold-a');
    scene.send({ psn: 50 });
    await until('all arrived', () => scene.psns(QPN).length, is(51));
    expect((await scene.ports.classCounters(MINOR)).sent).toBe(50n);
    expect(scene.psns(QPN).indexOf(50)).toBeLessThan(50);
  });
});

describe('what is left behind', () => {
  test('a later run begins with the ports as they are, and without the classes of this one', async () => {
    await prepare();
    await scene.ports.setClass(MINOR, SLOW);
    const next = HoldPorts.open({ netns: scene.router }, { table: scene.portTable });
    await next.prepare(a());
    expect(classes()).toEqual([]);
    await next.setClass(MINOR + 1, SLOW);
    expect(classes().length).toBe(1);
    next.close();
  });

  test('uninstalling restores every port, and touches no HTB of others', async () => {
    const before = qdiscs();
    await prepare();
    scene.tc('qdisc add dev t-hold-b root handle 1: htb default 0');
    scene.tc('class add dev t-hold-b parent 1: classid 1:20 htb rate 8mbit quantum 2000');
    await scene.ports.prepare(scene.ifindex('t-hold-b'));
    await scene.ports.setClass(MINOR, SLOW);
    const trees = HoldTrees.open({ netns: scene.router });
    expect(trees.releaseAll().sort()).toEqual([a(), scene.ifindex('t-hold-b')].sort());
    expect(trees.releaseAll()).toEqual([]);
    trees.close();
    expect(qdiscs()).toEqual(before);
    expect(classes('t-hold-b').length).toBe(1);
  });

  test('a port that is deleted takes its classes along; the others go on', async () => {
    await prepare();
    await scene.ports.prepare(scene.ifindex('t-hold-b'));
    await scene.ports.setClass(MINOR, SLOW);
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 100; psn++) scene.send({ psn });
    await until('some wait', async () => (await scene.ports.classCounters(MINOR)).backlogPackets, atLeast(5));
    ip(scene.router, 'link del t-hold-a');
    await scene.ports.changeRate(MINOR, { rate: 1_000_000n, burst: 2000 });
    expect(scene.ports.ports).toEqual([scene.ifindex('t-hold-b')]);
    expect(classes('t-hold-b')).toEqual([expect.stringContaining('rate 8Mbit')]);
    expect(await scene.ports.classCounters(MINOR)).toMatchObject({ sent: 0n, backlogPackets: 0 });
  });

  test('packets in a deleted class are dropped, and later ones of the flow go straight', async () => {
    await prepare();
    await scene.ports.setClass(MINOR, { ...SLOW, rate: 100n });
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 10; psn++) scene.send({ psn });
    await until('all were there', () => scene.table.record(FLOW)!.entered, is(10n));
    scene.tc('class del dev t-hold-a classid 6e70:1234');
    scene.send({ psn: 10 });
    await until('the last one arrived', () => scene.psns(QPN).at(-1), is(10));
    // About one frame a second leaves until the class is deleted.
    expect(scene.psns(QPN).length).toBeLessThan(11);
  });
});

describe('a pause', () => {
  test('lets at most one more frame out, of whatever length, and ends by itself when the rate is set again', async () => {
    await prepare();
    const rate = { rate: 100_000n, burst: 1100 };
    await scene.ports.setClass(MINOR, { ...rate, limit: 1_000_000 });
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 100; psn++) scene.send({ psn, size: psn % 2 === 0 ? 1000 : 20 });
    const arrived = (): number => scene.psns(QPN).length;
    await until('some left', arrived, atLeast(3));
    const begin = process.hrtime.bigint();
    await scene.ports.pause(MINOR, 65_535);
    const paused = await scene.ports.classCounters(MINOR);
    await until(
      'one more frame left',
      async () => (await scene.ports.classCounters(MINOR)).sent,
      atLeast(paused.sent + 1n),
    );
    await scene.ports.changeRate(MINOR, { rate: 10_000_000n, burst: 10_000 });
    await until('all arrived', arrived, is(100));
    expect(scene.psns(QPN)).toEqual(Array.from({ length: 100 }, (_, psn) => psn));
    const early = scene.arrivals.filter(({ at }) => at < begin + 65_535_000n).length;
    expect(early).toBeLessThanOrEqual(Number(paused.sent) + 1);
  });
});
