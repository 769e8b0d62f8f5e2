// A router that replicates and has receivers of its own: its edge role is a branch of its tree list. What the receivers
// confirm counts beside the children, and neither goes up without the other.
import { describe, expect, test } from 'vitest';
import { CORE_HOST, SOURCE_QPN, answer, cnp, inTunnel } from '../support/multicast-answers.ts';
import { child, childSid, receiver, receiverAddress } from '../support/multicast-branches.ts';
import { PARENT, PROXY, REPLICATION, inner, tunnel } from '../support/multicast-packets.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));

const PSN = 9;
const HOSTS = [0, 2].map(receiverAddress);
/** Of a receiver, from the port behind which it is. */
const host = (n: number, said: Parameters<typeof answer>[0] = {}): [end: 'h1', packet: Uint8Array] => [
  'h1',
  answer({ psn: PSN, source: HOSTS[n]!, ...said }),
];
const ofChild = (said: Parameters<typeof answer>[0] = {}): [end: 'p', packet: Uint8Array] => [
  'p',
  inTunnel(answer({ psn: PSN, source: receiverAddress(8), ...said }), childSid(1), REPLICATION),
];
/** What leaves for the parent, or for the source of the root, behind the core port. */
const up = async (...from: (readonly ['h1' | 'p', Uint8Array])[]): Promise<Uint8Array[]> =>
  (await router.exchange(() => from.forEach(([end, packet]) => router.arrive(end, packet)))).p;

const lists = (parent: number): void => {
  router.members([receiver(0, { psnDelta: 0 }), receiver(2, { psnDelta: 0 })]);
  router.children([child(1)], { parent, local: true });
};

describe('at a root with receivers of its own and a child', () => {
  const replicate = async (): Promise<void> => {
    router.group({ source: CORE_HOST, sourceQpn: SOURCE_QPN, isRoot: true, cnpWindowNs: 0 });
    lists(0);
    const packet = inner({ psn: PSN, source: CORE_HOST });
    const left = await router.exchange(() =>
      router.leaveAtRoot(tunnel(packet, { source: REPLICATION, destination: REPLICATION })),
    );
    expect([left.h1.length, left.p.length]).toEqual([2, 1]);
  };
  const toSource = { source: PROXY, destination: CORE_HOST, destQpn: SOURCE_QPN };

  test('RMC-5.3.1-a: the source has no ACK before the child has confirmed', async () => {
    await replicate();
    expect(await up(host(0, { msn: 4 }), host(1, { msn: 5 }))).toEqual([]);
    expect(await up(ofChild({ msn: 5 }))).toEqual([answer({ psn: PSN, msn: 4, ...toSource })]);
    expect(router.state('edge').current).toEqual({ epoch: 1, list: 11, parent: 3 });
    expect(router.record(12 * 64).heardNs, 'of the local branch').toBeGreaterThan(0n);
  });

  test('RMC-5.3.1-a: the source has no ACK before every receiver here has confirmed', async () => {
    await replicate();
    expect(await up(ofChild(), host(0))).toEqual([]);
    expect(await up(host(1))).toEqual([answer({ psn: PSN, ...toSource })]);
  });

  test('RMC-5.3.2-d: a NAK of a receiver here goes up with the minimum of all', async () => {
    await replicate();
    expect(await up(host(0), host(1, { kind: 'nak' }))).toEqual([]);
    expect(await up(ofChild())).toEqual([answer({ psn: PSN, kind: 'nak', ...toSource })]);
  });

  test('RMC-5.3.3-e: CNPs of receivers here count in the window of the tree', async () => {
    await replicate();
    const [one, two] = HOSTS.map((source) => ['h1', cnp(source)] as const);
    // The first ones open the windows of the two roles.
    expect(await up(one!, two!, one!)).toEqual([cnp(PROXY, SOURCE_QPN, CORE_HOST)]);
  });
});

describe('at a branching node with receivers of its own and a child', () => {
  const replicate = async (): Promise<void> => {
    lists(2);
    const left = await router.exchange(() =>
      router.arrive('p', tunnel(inner({ psn: PSN }), { source: PARENT, destination: REPLICATION })),
    );
    expect([left.h1.length, left.p.length]).toEqual([2, 1]);
  };

  test('RMC-5.3.1-d: the parent has one answer, for child and receivers together', async () => {
    await replicate();
    expect(await up(host(0, { msn: 2 }), host(1, { msn: 2 }))).toEqual([]);
    const inside = answer({ psn: PSN, msn: 2, source: receiverAddress(8) });
    expect(await up(ofChild({ msn: 3 }))).toEqual([inTunnel(inside, REPLICATION, PARENT)]);
    expect(router.counts()).toMatchObject({ 'up.ack': 2, 'answers.waiting': 2 });
  });

  test('RMC-5.3.1-d: the receivers last: the answer comes from the replication SID, as the parent knows the child', async () => {
    await replicate();
    expect(await up(ofChild(), host(0))).toEqual([]);
    const inside = answer({ psn: PSN, source: HOSTS[1]! });
    expect(await up(host(1))).toEqual([inTunnel(inside, REPLICATION, PARENT)]);
  });

  test('the receivers get nothing if this router does not know its own SID: no answer could be counted', async () => {
    router.forgetRouter(REPLICATION);
    lists(2);
    const left = await router.exchange(() =>
      router.arrive('p', tunnel(inner({ psn: PSN }), { source: PARENT, destination: REPLICATION })),
    );
    expect([left.h1.length, left.p.length]).toEqual([0, 1]);
    expect(router.counts()).toMatchObject({ 'router-unknown': 1 });
  });
});
