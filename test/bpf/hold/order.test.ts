// Real packets through the program and the classes: no packet overtakes another of its flow, whatever becomes of its
// hold. Judged by the PSNs at the far end.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isKernelError } from '../../../src/kernel/errors.ts';
import { H1, QPN } from '../support/packets.ts';
import { HoldScene, RECEIVER } from '../support/hold-scene.ts';
import { MINOR, held } from '../support/hold-under-test.ts';
import { atLeast, is, until } from '../../support/until.ts';

let scene: HoldScene;
beforeEach(async () => {
  scene = await HoldScene.create();
});
afterEach(() => scene.close());

const FLOW = { sender: H1, receiver: RECEIVER['t-hold-a'], receiverQpn: QPN };
/** Bytes per second. */
const SLOW = { rate: 100_000n, burst: 2000, limit: 10_000_000 };
const FAST = { rate: 10_000_000_000n, burst: 100_000 };
const inOrder = (count: number): number[] => Array.from({ length: count }, (_, psn) => psn);
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Whether there was room to send it. */
function sent(psn: number): boolean {
  try {
    scene.send({ psn });
    return true;
  } catch (error) {
    if (isKernelError(error, 'ENOBUFS')) return false;
    throw error;
  }
}

/** Sends the flow's next packets, and lets other work go on now and then. */
class Sender {
  psn = 0;

  async packets(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      // Where the machine is slower than this loop, the socket's buffer is full at times.
      while (!sent(this.psn)) await turn();
      this.psn++;
      if (i % 8 === 7) await turn();
    }
  }

  /** Until `done`, without a pause. */
  async while(done: () => Promise<boolean>): Promise<void> {
    do await this.packets(4);
    while (!(await done()));
  }
}

describe('a flow keeps its order', () => {
  test('when it is held, slowed down, let go and held again, without ever pausing', async () => {
    await scene.ports.prepare(scene.ifindex('t-hold-a'));
    const sender = new Sender();
    await sender.packets(100);
    for (const minor of [MINOR, MINOR + 1]) {
      const hold = held({ minor });
      await scene.ports.setClass(minor, SLOW);
      scene.table.set(FLOW, hold);
      await sender.packets(100);
      expect((await scene.ports.classCounters(minor)).backlogPackets).toBeGreaterThan(0);
      await scene.ports.changeRate(minor, FAST);
      await sender.while(() => scene.leave(FLOW, hold));
      await sender.packets(100);
      expect((await scene.ports.classCounters(minor)).backlogPackets).toBe(0);
      scene.table.remove(FLOW);
      await sender.packets(50);
    }
    await until('everything arrived', () => scene.psns(QPN).length, is(sender.psn));
    expect(scene.psns(QPN)).toEqual(inOrder(sender.psn));
  });

  test('when it pauses between its packets', async () => {
    await scene.ports.prepare(scene.ifindex('t-hold-a'));
    const sender = new Sender();
    const burst = async (count: number): Promise<void> => {
      await sender.packets(count);
      await until('it arrived', () => scene.psns(QPN).length, is(sender.psn));
    };
    for (const minor of [MINOR, MINOR + 1]) {
      const hold = held({ minor });
      await burst(20);
      await scene.ports.setClass(minor, SLOW);
      scene.table.set(FLOW, hold);
      await burst(20);
      expect(await scene.leave(FLOW, hold)).toBe(false);
      // The next packet finds the class empty.
      await burst(1);
      expect(scene.table.record(FLOW)).toMatchObject({ entered: 20n, released: true });
      await burst(20);
      scene.table.remove(FLOW);
    }
    expect(scene.psns(QPN)).toEqual(inOrder(sender.psn));
  });

  test('when it is held while the port itself is congested: what went straight leaves first', async () => {
    // A port that drains slowly: the HTB of holds behind a token bucket.
    scene.tc('qdisc add dev t-hold-a root handle 1: tbf rate 2mbit burst 3000 limit 10000000');
    scene.tc('qdisc add dev t-hold-a parent 1:1 handle 6e70: htb default 0');
    scene.tc('class add dev t-hold-a parent 6e70: classid 6e70:1234 htb rate 1gbit burst 1mb quantum 9000');
    scene.portTable.setPort(scene.ifindex('t-hold-a'), 0x6e70_0000);
    const sender = new Sender();
    await sender.packets(200);
    scene.table.set(FLOW, held());
    await sender.packets(100);
    expect(scene.psns(QPN).length).toBeLessThan(200);
    await until('everything arrived', () => scene.psns(QPN).length, is(sender.psn));
    expect(scene.psns(QPN)).toEqual(inOrder(sender.psn));
    expect(scene.table.record(FLOW)!.entered).toBe(100n);
  });

  test('other flows are neither slowed nor reordered by a hold', async () => {
    await scene.ports.prepare(scene.ifindex('t-hold-a'));
    await scene.ports.setClass(MINOR, { ...SLOW, rate: 20_000n });
    scene.table.set(FLOW, held());
    for (let psn = 0; psn < 100; psn++) {
      scene.send({ psn });
      scene.send({ psn, qpn: QPN + 1 });
      if (psn % 8 === 7) await turn();
    }
    await until('the other flow arrived', () => scene.psns(QPN + 1).length, atLeast(100));
    expect(scene.psns(QPN + 1)).toEqual(inOrder(100));
    expect(scene.psns(QPN).length).toBeLessThan(100);
  });
});
