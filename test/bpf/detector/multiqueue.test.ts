// The depth of a port with several transmit queues (port-depth.h), with what any kernel of the tests has: an mq over
// TBFs. Debian's kernels, and other queues, are in test/kernels/port-shapes.test.ts.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readKernelFacts } from '../../../src/coordinator/kernel-facts.edge.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';
import { until } from '../../support/until.ts';

const QUEUES = 4;
let r: CongestedRouter;
const sh = (script: string): string => r.router.run(() => execFileSync('bash', ['-euc', script], { encoding: 'utf8' }));

beforeAll(async () => {
  r = await CongestedRouter.create();
  sh(`ip link add t-multi numtxqueues ${QUEUES} numrxqueues ${QUEUES} type veth \
        peer name t-multi-far numtxqueues ${QUEUES} numrxqueues ${QUEUES}
      echo 1 >/proc/sys/net/ipv6/conf/t-multi/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/t-multi-far/disable_ipv6
      ip link set t-multi-far arp off up; ip link set t-multi up
      ip address add 10.102.0.1/24 dev t-multi; ip neighbor add 10.102.0.2 lladdr 02:00:00:00:09:02 dev t-multi
      tc qdisc replace dev t-multi root handle 1: mq
      for queue in 1 2 3 4; do tc qdisc replace dev t-multi parent 1:$queue tbf rate 8bit burst 2000 limit 1m; done`);
  r.portIfindex = (await r.rtnl.link('t-multi'))!.ifindex;
  r.lacking();
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 0x64]);
  r.senders(['2001:db8:1::/64', PROXY6]);
  r.policies(['::/0', ['proxy']]);
});
afterAll(() => r?.close());

const queues = async (): Promise<number[]> =>
  (await r.rtnl.qdiscs(r.portIfindex))
    .filter(({ parent }) => parent >>> 16 === 1 && parent !== 0xffff_ffff)
    .map(({ stats }) => stats.backlogBytes);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Other traffic in flows that spread over the queues. */
async function load(flows: number): Promise<number[]> {
  const before = sum(await queues());
  sh(`for flow in $(seq ${flows}); do
        for n in 1 2 3; do printf '%0900d' 0 >/dev/udp/10.102.0.2/$((2000 + flow)); done; done`);
  return until('more is queued', queues, (now) => sum(now) > before && now);
}

/** The depths with which packets of this port are notified about, one after the other. */
function notified(kMax: number, packets: number, multiqueue = true): number[] {
  r.clear();
  r.port({ kMax, kMin: null, multiqueue });
  for (let packet = 0; packet < packets; packet++) r.send(frame(data()));
  return r.records().map(({ queueBytes }) => queueBytes);
}

describe('LHCNP-5.3.1-a: the depth of a port below whose mq each transmit queue has a qdisc', () => {
  test('is known to be such a port', async () => {
    const { qdiscs } = await readKernelFacts({ rtnetlink: r.rtnl, work: eventLoopWork(), features: [] });
    expect(qdiscs.find(({ ifindex }) => ifindex === r.portIfindex)).toEqual({
      ifindex: r.portIfindex,
      rootKind: 'mq',
      rootHandle: '1',
      queueKinds: Array(QUEUES).fill('tbf'),
    });
  });

  test('is the sum over them, and notifications leave above the threshold only', async () => {
    const depths = await load(32);
    expect(depths.filter((bytes) => bytes > 0).length).toBeGreaterThan(1);
    expect(notified(sum(depths), 2 * QUEUES)).toEqual([]);
    expect(notified(sum(depths) - 1, 2 * QUEUES)).toEqual(Array(2 * QUEUES).fill(sum(depths)));
  });

  test('is summed again after as many packets as there are queues at the latest', async () => {
    const [before] = notified(0, 1);
    const depth = sum(await load(1));
    const seen = notified(0, QUEUES);
    expect(depth).toBeGreaterThan(before!);
    expect(seen.at(-1)).toBe(depth);
  });

  test('is that of the root where the queues share one, even before the agent knows', async () => {
    sh('tc qdisc replace dev t-multi root handle 2: tbf rate 8bit burst 2000 limit 1m');
    sh(`for n in $(seq 9); do printf '%0900d' 0 >/dev/udp/10.102.0.2/9; done`);
    const depth = await until('the root has a queue', async () => {
      const root = (await r.rtnl.qdiscs(r.portIfindex)).find(({ handle }) => handle === 0x20000);
      return root!.stats.backlogBytes > 5000 && root!.stats.backlogBytes;
    });
    expect(notified(0, QUEUES + 1).at(-1)).toBe(depth);
    expect(notified(0, 1, false)).toEqual([depth]);
  });
});
