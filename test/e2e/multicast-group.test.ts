// A group over containerlab/rdma-multicast, whole and in trouble: all receivers get the same bytes in
// order, the source is never told more than every receiver has confirmed, and agents may die while it goes on.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GROUP, RECEIVERS, ROUTERS } from '../../src/demo/multicast/scene.ts';
import { agentOf, askAgent } from './support/agents.ts';
import { footprint } from './support/footprint.ts';
import { MulticastScene, type Transferred } from './support/multicast.ts';
import type { Row } from './support/network.ts';
import { atLeast, is, until } from '../support/until.ts';

const ALL = RECEIVERS.map(({ node }) => node);

const scene = new MulticastScene();
beforeAll(async () => {
  await scene.up();
  await scene.tree();
});
afterEach(async ({ task }) => {
  await scene.endpointsStopped();
  if (task.result?.state === 'fail') console.log(await scene.logs());
});
afterAll(() => scene.down());

/** These receivers have everything, and nobody else's packet reached them. */
function expectEqualCopies(seen: Transferred, hosts: readonly string[] = ALL): void {
  expect(seen.source).toMatchObject({ ok: true, foreign: 0 });
  for (const host of hosts) {
    expect(seen.receivers[host], host).toMatchObject({
      bytes: seen.source['bytes'],
      hash: seen.source['hash'],
      error: null,
      strangers: 0,
      otherQueuePair: 0,
    });
    expect(seen.ports[host], host).toMatchObject({ bad: {} });
  }
  expect(seen.violations).toEqual([]);
}

/** Octets that have come to a host. */
async function received(host: string): Promise<number> {
  const [link] = JSON.parse(await scene.lab.mustExec(host, ['ip', '-j', '-s', 'link', 'show', 'eth1'])) as [
    { readonly stats64: { readonly rx: { readonly bytes: number } } },
  ];
  return link.stats64.rx.bytes;
}

describe('members', () => {
  test('RMC-5.1-d: every router knows source and receivers, their Queue Pairs and edges, who ever declared them', async () => {
    const edges = ['2001:db8:c1::e', '2001:db8:c1::e', '2001:db8:c2::e', '2001:db8:c3::e', '2001:db8:c3::e'];
    for (const node of ROUTERS) {
      // The root has heard of them; IS-IS may be on its way to the others.
      await until(
        `${node} knows them`,
        async () => {
          const rows = (await askAgent<Row[]>(scene.lab, node, 'groups', 'members')) ?? [];
          return rows.map((row) => [row['role'], row['address'], row['qpn'], row['node'], row['status']]);
        },
        is([
          ['source', '2001:db8:1::2', 4096, '2001:db8:c6::b', 'in force'],
          ...RECEIVERS.map(({ address, qpn }, i) => ['receiver', address, qpn, edges[i], 'in force']),
        ]),
      );
    }
  });

  test('RMC-5.1-a: the root shows its own SIDs as programmed, and those of the edges as reachable', async () => {
    const rows = (await scene.show('n6', 'srv6', 'sids')).map((row) => [row['behavior'], row['sid'], row['status']]);
    expect(rows).toContainEqual(['replication', '2001:db8:c6::b', 'programmed']);
    for (const edge of ['2001:db8:c1::e', '2001:db8:c2::e', '2001:db8:c3::e'])
      expect(rows).toContainEqual(['End.MT', edge, 'reachable']);
  });

  test('the tree at the root has the names of its routers, as IS-IS advertises them', async () => {
    const rows = (await scene.show('n6', 'groups', GROUP.proxyAddress, 'tree')).map((row) => [
      row['node'],
      row['hostname'],
    ]);
    expect(rows).toContainEqual(['2001:db8:c6::b', undefined]);
    for (const n of [1, 2, 3]) expect(rows).toContainEqual([`2001:db8:c${n}::e`, `n${n}-cnpd`]);
  });

  test('RMC-5.1-d: what a WRITE needs to reach the memory of a receiver is known at the root', async () => {
    const rows = (await scene.show('n6', 'groups', GROUP.proxyAddress, 'members')).filter(
      (row) => row['role'] === 'receiver',
    );
    expect(rows.map((row) => [row['r-key'], Number(row['va-delta'])])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [4096 + n, n * 0x1000_0000]),
    );
  });
});

describe('transfers', () => {
  test('RMC-3-e: five connections, one to each receiver, complete with equal bytes, over loss too; the figures that the group is compared with', async () => {
    const seen = await scene.transfer({ operation: 'send', unicast: true, lose: { r3: 50 } });
    expect(seen.source).toMatchObject({ ok: true, foreign: 0 });
    expect(Object.keys(seen.receivers)).toHaveLength(5);
    for (const [host, receiver] of Object.entries(seen.receivers))
      expect(receiver, host).toMatchObject({ complete: true, hash: seen.source['hash'], strangers: 0 });
    expect(Number(seen.ports['r3']!['lost'])).toBeGreaterThan(0);
    for (const host of ['r1', 'r2', 'r4', 'r5']) expect(seen.ports[host], host).toMatchObject({ lost: 0, bad: {} });
  });

  test('RMC-5.2-k RMC-5.3.1-a: SENDs: every receiver gets every byte in order, with a valid ICRC, from the Proxy Address, for its own Queue Pair', async () => {
    const seen = await scene.transfer({ operation: 'send' });
    expectEqualCopies(seen);
    // One flow with one answer for all: as many ACKs as one receiver sends, or fewer.
    const most = Math.max(...ALL.map((host) => Number(seen.receivers[host]!['acks'])));
    expect(seen.flows).toHaveLength(1);
    expect(seen.flows[0]!['acks']).toBeGreaterThan(0);
    expect(seen.flows[0]!['acks']).toBeLessThanOrEqual(most);
  });

  test('RMC-5.2-k: WRITEs reach the memory of each receiver, at its own address and with its own R_Key', async () => {
    const seen = await scene.transfer({ operation: 'write' });
    expectEqualCopies(seen);
    for (const host of ALL) expect(seen.receivers[host]!['memoryHash'], host).toBe(seen.source['hash']);
  });

  test.each(['send', 'write'] as const)(
    'RMC-5.3.2-a RMC-5.3.2-d RMC-5.3.1-a: %s with loss in front of two receivers, behind two edges, and of answers to the source',
    async (operation) => {
      const seen = await scene.transfer({ operation, lose: { r3: 50, r5: 70, s1: 20 } });
      expectEqualCopies(seen);
      for (const host of ['r3', 'r5', 's1']) expect(Number(seen.ports[host]!['lost']), host).toBeGreaterThan(0);
      expect(Number(seen.receivers['r3']!['naks'])).toBeGreaterThan(0);
      expect(seen.flows[0]!['retransmitted']).toBeGreaterThan(0);
      const sent = ALL.reduce((sum, host) => sum + Number(seen.receivers[host]!['naks']), 0);
      expect(seen.flows[0]!['naks'], 'a NAK goes up once').toBeLessThanOrEqual(sent);
    },
  );
});

describe('members come and go', () => {
  /** n3's receivers, by their index there. */
  const without = (i: number) => (document: { deleteIn(path: (string | number)[]): unknown }) =>
    void document.deleteIn(['groups', 0, 'receivers', i]);
  afterEach(async () => {
    await scene.reconfigure('n3');
    await scene.members(ALL);
    await scene.tree();
  });

  test('RMC-5.1-d RMC-5.3.1-a: a receiver that leaves during a transfer neither stalls nor harms the others', async () => {
    const seen = await scene.transfer({
      operation: 'send',
      meanwhile: async (stage) => {
        await scene.reconfigure('n3', without(1));
        await scene.members(['r1', 'r2', 'r3', 'r4']);
        await stage.goesOn();
        await stage.receivers.get('r5')!.stop();
        await stage.goesOn();
      },
    });
    expect(Number(seen.receivers['r5']!['bytes'])).toBeLessThan(Number(seen.source['bytes']));
    expectEqualCopies({ ...seen, violations: [] }, ['r1', 'r2', 'r3', 'r4']);
  });

  test('RMC-5.1-d: a receiver that joins during a transfer begins with a message, and gets everything from there on', async () => {
    await scene.reconfigure('n3', without(1));
    await scene.members(['r1', 'r2', 'r3', 'r4']);
    await scene.tree();
    const seen = await scene.transfer({
      operation: 'send',
      receivers: ['r1', 'r2', 'r3', 'r4'],
      meanwhile: async (stage) => {
        await stage.join('r5', []).waitFor('ready');
        const before = await received('r5');
        await scene.reconfigure('n3');
        await scene.members(ALL);
        await until('copies reach r5', () => received('r5'), atLeast(before + 20_000));
        await stage.goesOn();
      },
    });
    expectEqualCopies(seen, ['r1', 'r2', 'r3', 'r4']);
    const late = seen.receivers['r5']!;
    expect(Number(late['packets'])).toBeGreaterThan(0);
    expect(late).toMatchObject({ error: null, invalid: 0, strangers: 0 });
    // All whole messages but the last one are of 16 packets.
    expect(Number(late['messages'])).toBeGreaterThanOrEqual(Math.floor(Number(late['packets']) / 16));
  });
});

describe('trouble', () => {
  test.each(['n6', 'n4', 'n1'])(
    'kill -9 of the agent of %s: the transfer goes on, and so it does when the agent comes back',
    async (node) => {
      const seen = await scene.transfer({
        operation: 'send',
        lose: { r3: 100 },
        meanwhile: async (stage) => {
          await scene.endAgent(node, 'SIGKILL');
          await stage.goesOn();
          await scene.startAgent(node);
          await stage.goesOn();
        },
      });
      expectEqualCopies(seen);
      await scene.members(ALL);
    },
  );

  test("SIGTERM to an edge's agent during a transfer: its receivers stay members until the transfer is over", async () => {
    const seen = await scene.transfer({
      operation: 'send',
      meanwhile: async (stage) => {
        process.kill(agentOf(scene.lab, 'n2')!, 'SIGTERM');
        for (let progress = 0; progress < 5; progress++) await stage.goesOn();
        await scene.members(ALL);
      },
    });
    expectEqualCopies(seen);
    await until('it ends', () => agentOf(scene.lab, 'n2') === undefined, 60_000);
    await scene.members(ALL.filter((host) => host !== 'r3'));
    await scene.startAgent('n2');
    await scene.members(ALL);
  });

  test('the path to an edge moves to another router: the tree follows, and nobody misses or repeats a byte', async () => {
    await scene.addLink('n4', 'n3', 'eth4');
    const seen = await scene.transfer({
      operation: 'send',
      meanwhile: async (stage) => {
        await scene.lab.mustExec('n5', ['ip', 'link', 'set', 'eth2', 'down']);
        await stage.goesOn(90_000);
      },
    });
    expectEqualCopies(seen);
    await scene.lab.mustExec('n5', ['ip', 'link', 'set', 'eth2', 'up']);
  });

  test('an edge that dies: the transfer waits, is reported, and goes on without it once the edge is no member any more', async () => {
    // On all routers alike: the members that each counts are in the digest by which packets name their tree.
    for (const node of ROUTERS.filter((one) => one !== 'n3'))
      await scene.reconfigure(node, (document) => void document.setIn(['isis', 'hold-unreachable'], '5s'));
    await scene.members(ALL);
    await scene.tree();
    const seen = await scene.transfer({
      operation: 'send',
      meanwhile: async (stage) => {
        for (const name of ['eth1', 'eth4']) await scene.lab.exec('n3', ['ip', 'link', 'set', name, 'down']);
        await scene.members(['r1', 'r2', 'r3'], 120_000);
        await stage.goesOn(60_000);
      },
    });
    expect(Number(seen.receivers['r4']!['bytes'])).toBeLessThan(Number(seen.source['bytes']));
    expectEqualCopies({ ...seen, violations: [] }, ['r1', 'r2', 'r3']);
    await scene.lab.mustExec('n3', ['ip', 'link', 'set', 'eth1', 'up']);
    await scene.members(ALL, 120_000);
  });

  test('uninstall leaves nothing: no program, no map, no interface, no route', async () => {
    for (const node of ROUTERS) {
      const exec = (...argv: string[]): Promise<string> => scene.lab.mustExec(node, argv);
      await scene.endAgent(node, 'SIGTERM');
      await exec('/opt/cnpd/dist/cnpctl.js', 'uninstall');
      const left = await footprint({ exec });
      expect(left['hooks'], node).toEqual([]);
      expect(left['maps'], node).toEqual([]);
      expect(
        left['interfaces']!.filter((name) => name.startsWith('cnpd')),
        node,
      ).toEqual([]);
      expect((await exec('ip', '-6', 'route', 'show', '2001:db8:aa::1')).trim(), node).toBe('');
      expect(await exec('bpftool', 'net', 'show'), node).not.toMatch(/multicast/);
    }
  });
});
