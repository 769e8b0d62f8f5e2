// Which packets an edge takes while the tree changes, and who joins then: a packet of an older epoch, or from another
// parent, is refused; a list that has gone may leave its number to another one.
import { describe, expect, test } from 'vitest';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { answer } from '../support/multicast-answers.ts';
import { receiver, receiverAddress } from '../support/multicast-branches.ts';
import { type Left, sorted } from '../support/multicast-network.ts';
import { ROOT, copyFor, inner, treeTlv, tunnel } from '../support/multicast-packets.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));

type Tree = Parameters<typeof treeTlv>[0];
const arrive = (...packets: readonly Uint8Array[]): Promise<Left> =>
  router.exchange(() => {
    for (const packet of packets) router.arrive('p', packet);
  });
const inTree = (tree: Tree, inside = inner(), more: Parameters<typeof tunnel>[1] = {}): Uint8Array =>
  tunnel(inside, { tlvs: [treeTlv(tree)], ...more });

describe('while data flows', () => {
  // Many of them: they come within one tick of the clock by which a router notices that nothing comes.
  const OFTEN = Array.from({ length: 20 }, (_, i) => i);

  test('RMC-5.3.1-a: a late packet of an older epoch is refused, however soon it comes', async () => {
    router.members([receiver(0)]);
    for (const i of OFTEN) {
      const epoch = 10 + 2 * i;
      const left = await arrive(inTree({ epoch }), inTree({ epoch: epoch - 1 }), inTree({ epoch }));
      expect(left.h1).toHaveLength(2);
      expect(router.state('edge').current).toMatchObject({ epoch });
    }
    expect(router.count('stale')).toBe(OFTEN.length);
  });

  test('a packet of the same epoch from another router than before is refused', async () => {
    router.router(ROOT, 4);
    router.members([receiver(0)]);
    for (const i of OFTEN) {
      const epoch = 10 + i;
      const left = await arrive(inTree({ epoch }), inTree({ epoch }, inner(), { source: ROOT }));
      expect(left.h1).toHaveLength(1);
      expect(router.state('edge').current).toMatchObject({ epoch, parent: 2 });
    }
    expect(router.count('stale')).toBe(OFTEN.length);
  });
});

describe('a list that has gone while no data came leaves its number to the next one', () => {
  const AGAIN = Uint8Array.of(7, 7, 7, 7, 7, 7, 7, 7);
  const all = [0, 2].map((n) => receiver(n, { psnDelta: 0 }));
  const slot = 11 * 64;

  /** The list in use had the first receiver; the one behind it is never used; the third has its number, and both. */
  async function change(): Promise<void> {
    router.members(all.slice(0, 1));
    await arrive(inTree({ epoch: 1 }, inner({ psn: 1 })));
    expect(router.record(slot).joined).toBe(true);
    router.members(all.slice(1), { digest: Uint8Array.of(8, 8, 8, 8, 8, 8, 8, 8), index: 13 });
    router.members(all, { digest: AGAIN });
    router.joined(slot);
  }
  const message = [OPCODE.sendMiddle, OPCODE.sendLast, OPCODE.sendFirst, OPCODE.sendLast];
  const packets = message.map((opcode, i) => inner({ opcode, psn: 2 + i }));

  test('a receiver that is new joins with the begin of a message; the other one has had the whole stream', async () => {
    await change();
    const left = await arrive(...packets.map((packet) => inTree({ epoch: 3, members: AGAIN }, packet)));
    expect(sorted(left.h1)).toEqual(
      sorted([
        ...packets.map((packet) => copyFor(packet, all[0]!)),
        ...packets.slice(2).map((packet) => copyFor(packet, all[1]!)),
      ]),
    );
    expect(router.state('edge').current).toMatchObject({ epoch: 3, list: 11 });
  });

  test('RMC-5.3.1-a: nothing is confirmed before the new receiver has confirmed', async () => {
    await change();
    await arrive(...packets.map((packet) => inTree({ epoch: 3, members: AGAIN }, packet)));
    const ack = (n: number): void => router.arrive('h1', answer({ psn: 5, source: receiverAddress(n) }));
    expect((await router.exchange(() => ack(0))).p).toEqual([]);
    expect((await router.exchange(() => ack(2))).p).toHaveLength(1);
  });
});

describe('labels come again after 1,024 epochs', () => {
  /** A root that has lost its epoch begins with any; one that restarts a stream often without data gets there, too. */
  const AGAIN = 1 + 1024;
  const receivers = [0, 2].map((n) => receiver(n, { psnDelta: 0 }));

  test('RMC-5.3.1-a: what a receiver has confirmed in an epoch with the same label does not count', async () => {
    router.members(receivers, { joined: true });
    await arrive(inTree({ epoch: 1 }, inner({ psn: 4999 })));
    const say = (psn: number, n: number) => router.arrive('h1', answer({ psn, source: receiverAddress(n) }));
    const { p: before } = await router.exchange(() => [0, 2].forEach((n) => say(4999, n)));
    expect(before).toHaveLength(1);
    await arrive(inTree({ epoch: AGAIN }, inner({ psn: 4990 })));
    expect(router.state('edge').high).toMatchObject({ value: 4991 });
    expect((await router.exchange(() => say(4990, 0))).p, 'the other one has nothing').toEqual([]);
    expect(router.count('answers.waiting'), 'in either epoch').toBe(2);
    expect((await router.exchange(() => say(4990, 2))).p).toHaveLength(1);
  });
});
