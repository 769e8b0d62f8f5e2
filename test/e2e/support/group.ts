// A small tree of a group (topologies/group) over whichever protocol its routers learn from each other: what they are
// configured with, and a transfer from its source to its receivers.
import { expect } from 'vitest';
import { type Endpoint, startEndpoint } from '../../../src/demo/endpoints.ts';
import { violations } from '../../../src/demo/multicast/evaluate.ts';
import { until } from '../../support/until.ts';
import { Network, type Row } from './network.ts';

export const GROUP = '2001:db8:aa::1';
const DESIGNATED_QPN = 4096;
const NAME = 'weights';
export const SOURCE = { node: 's1', interface: 'eth1', address: '2001:db8:1::2', qpn: 0x100 } as const;
export const RECEIVERS = [1, 2, 3].map((n) => ({
  ...{ node: `r${n}`, interface: 'eth1', address: `2001:db8:1${n}::2`, qpn: 0x200 + n },
}));

export type GroupRouter = 'root' | 'mid' | 'edge1' | 'edge2';

interface Place {
  /** Of its loopback 2001:db8:ffff::n and its locator 2001:db8:cn::/48. */
  readonly n: number;
  readonly core: readonly string[];
  readonly hosts: readonly string[];
  readonly sid: 'replication' | 'end-mt';
  /** Hosts that it declares. r3 is declared at the root, without an edge: the nearest one is edge2. */
  readonly members: readonly string[];
}

export const PLACES: Readonly<Record<GroupRouter, Place>> = {
  root: { n: 1, core: ['eth2'], hosts: ['eth1'], sid: 'replication', members: ['s1', 'r3'] },
  mid: { n: 2, core: ['eth1', 'eth2', 'eth3'], hosts: [], sid: 'replication', members: [] },
  edge1: { n: 3, core: ['eth1'], hosts: ['eth2', 'eth3'], sid: 'end-mt', members: ['r1', 'r2'] },
  edge2: { n: 4, core: ['eth1'], hosts: ['eth2'], sid: 'end-mt', members: [] },
};
export const sidOf = (router: GroupRouter): string => `2001:db8:c${PLACES[router].n}::b`;
export const locatorOf = (router: GroupRouter): string => `2001:db8:c${PLACES[router].n}::/48`;
export const loopbackOf = (router: GroupRouter): string => `2001:db8:ffff::${PLACES[router].n}`;

/** cnpd.yaml without a carrier. */
export function groupIntent(name: GroupRouter): object {
  const { core, sid, members } = PLACES[name];
  const receivers = RECEIVERS.filter(({ node }) => members.includes(node));
  const group = {
    ...{ name: NAME, 'proxy-address': GROUP, 'designated-qpn': DESIGNATED_QPN },
    ...(members.includes(SOURCE.node) && { source: { address: SOURCE.address, qpn: SOURCE.qpn } }),
    ...(receivers.length > 0 && { receivers: receivers.map(({ address, qpn }) => ({ address, qpn })) }),
  };
  return {
    router: { name, loopback: { ipv6: loopbackOf(name) } },
    srv6: { 'core-ports': core, [sid]: { sid: sidOf(name), locator: locatorOf(name) } },
    ...(members.length > 0 && { groups: [group] }),
  };
}

export class GroupScene {
  readonly net: Network;
  readonly #running: Endpoint[] = [];

  private constructor(net: Network) {
    this.net = net;
  }

  /** @param use of the test file */
  static async up(use: string): Promise<GroupScene> {
    return new GroupScene(await Network.up('group', use));
  }

  async down(): Promise<void> {
    await this.#stopEndpoints();
    await this.net.down();
  }

  async #stopEndpoints(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((endpoint) => endpoint.stop()));
  }

  endpoint(host: string, role: string, argv: readonly string[]): Endpoint {
    const place = [SOURCE, ...RECEIVERS].find(({ node }) => node === host)!;
    const endpoint = startEndpoint(this.net.lab, place, role, argv);
    this.#running.push(endpoint);
    return endpoint;
  }

  /** Until a router knows these members and has learned them over this carrier, its own ones aside. */
  async knows(router: GroupRouter, carrier: string): Promise<void> {
    const expected = [SOURCE, ...RECEIVERS]
      .map(({ node, address }) => `${address} ${PLACES[router].members.includes(node) ? 'local' : carrier} in force`)
      .sort();
    await until(
      `${router} knows all members over ${carrier}`,
      async () =>
        (await this.net.router(router).get('groups', 'members'))
          .map((row) => `${String(row['address'])} ${String(row['carrier'])} ${String(row['status'])}`)
          .sort(),
      (seen) => seen.join() === expected.join(),
      60_000,
    );
  }

  /** Until the root's kernel sends what is for the Proxy Address into the tree. */
  async tree(): Promise<void> {
    await until(
      'the root sends into the tree',
      () => this.net.router('root').exec('ip', '-6', 'route', 'show', 'table', 'all', GROUP),
      (routes) => routes.includes('encap seg6'),
      60_000,
    );
  }

  /** What `cnpctl show groups NAME tree` draws, as parent and child. */
  async treeAt(router: GroupRouter): Promise<string[]> {
    const rows = await this.net.router(router).show('groups', NAME, 'tree');
    const parent = (row: Row): string => (row['parent'] === undefined ? '' : `${row['parent'] as string} → `);
    const hosts = (row: Row): string => [...((row['receivers'] as string[] | undefined) ?? [])].sort().join(' ');
    return rows.map((row) => `${parent(row)}${String(row['kind'])} ${String(row['node'])} ${hosts(row)}`.trim());
  }

  /**
   * SENDs to all receivers, with loss in front of one and of the source: each has every byte, and the source was never
   * told of more than each had confirmed.
   */
  async transfer(bytes: number): Promise<void> {
    const lose: Readonly<Record<string, string>> = { r3: '40', s1: '15' };
    const common = (host: string): string[] => ['--bytes', `${bytes}b`, ...(lose[host] ? ['--lose', lose[host]] : [])];
    const peer = `${GROUP}/${DESIGNATED_QPN}`;
    const receivers = RECEIVERS.map(({ node, qpn }) =>
      this.endpoint(node, 'receive', ['--qpn', String(qpn), '--from', peer, ...common(node)]),
    );
    await Promise.all(receivers.map((receiver) => receiver.waitFor('ready')));
    const source = this.endpoint(SOURCE.node, 'source', [
      ...['--qpn', String(SOURCE.qpn), '--to', peer, '--timeout', '500ms', '--retries', '100', ...common(SOURCE.node)],
    ]);
    const summary = await source.waitFor('summary');
    await this.#stopEndpoints();
    expect(summary).toMatchObject({ ok: true, foreign: 0 });
    for (const [i, receiver] of receivers.entries())
      expect(await receiver.waitFor('summary'), `r${i + 1}`).toMatchObject({
        ...{ complete: true, hash: summary['hash'], error: null, strangers: 0, otherQueuePair: 0 },
      });
    for (const endpoint of [source, receivers[2]!])
      expect(Number((await endpoint.waitFor('port'))['lost'])).toBeGreaterThan(0);
    const heard = (await source.waitFor('confirmations'))['list'] as [number, number][];
    expect(violations(heard, new Map(receivers.map(({ events }, i) => [`r${i + 1}`, events])))).toEqual([]);
  }
}
