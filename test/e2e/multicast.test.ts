// containerlab/rdma-multicast without its dataplane: every router knows the group's members from IS-IS, and the hosts
// transfer to each other over connections of their own. What the tree does is in multicast-group.test.ts.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { GROUP, RECEIVERS, ROUTERS } from '../../src/demo/multicast/scene.ts';
import { MulticastScene } from './support/multicast.ts';

const scene = new MulticastScene();
beforeAll(() => scene.up());
afterEach(async ({ task }) => {
  await scene.endpointsStopped();
  if (task.result?.state === 'fail') console.log(await scene.logs());
});
afterAll(() => scene.down());

test('RMC-5.1-d: every router knows source and receivers, their Queue Pairs and edges, who ever declared them', async () => {
  const edges = ['2001:db8:c1::e', '2001:db8:c1::e', '2001:db8:c2::e', '2001:db8:c3::e', '2001:db8:c3::e'];
  for (const node of ROUTERS) {
    const rows = await scene.show(node, 'groups', GROUP.proxyAddress, 'members');
    expect(
      rows.map((row) => [row['role'], row['address'], row['qpn'], row['node'], row['status']]),
      node,
    ).toEqual([
      ['source', '2001:db8:1::2', 4096, '2001:db8:c6::b', 'in force'],
      ...RECEIVERS.map(({ address, qpn }, i) => ['receiver', address, qpn, edges[i], 'in force']),
    ]);
  }
});

test('RMC-5.1-d: what a WRITE needs to reach the memory of a receiver is known at the root', async () => {
  const rows = (await scene.show('n6', 'groups', GROUP.proxyAddress, 'members')).filter((row) => row['role'] === 'receiver');
  expect(rows.map((row) => [row['r-key'], Number(row['va-delta'])])).toEqual(
    [1, 2, 3, 4, 5].map((n) => [4096 + n, n * 0x1000_0000]),
  );
});

test('RMC-3-e: five connections, one to each receiver, complete with equal bytes, over loss too; the figures that the group is compared with', async () => {
  const seen = await scene.transfer({ operation: 'send', unicast: true, lose: { r3: 50 } });
  expect(seen.source).toMatchObject({ ok: true, foreign: 0 });
  expect(Object.keys(seen.receivers)).toHaveLength(5);
  for (const [host, receiver] of Object.entries(seen.receivers))
    expect(receiver, host).toMatchObject({ complete: true, hash: seen.source['hash'], strangers: 0 });
  expect(Number(seen.ports['r3']!['lost'])).toBeGreaterThan(0);
  for (const host of ['r1', 'r2', 'r4', 'r5']) expect(seen.ports[host], host).toMatchObject({ lost: 0, bad: {} });
});
