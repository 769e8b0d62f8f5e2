import { expect, test } from 'vitest';
import type { Elem } from '../northbound/subscribe-client.ts';
import { Directory, way } from './network.ts';
import { type Place, nodeView, peerOf } from './node-view.ts';
import { MAX_ROWS, Rows } from './rows.ts';
import { NotificationFeed, onTheirWays } from './notifications.ts';
import { Routes } from './routes.ts';
import { trees } from './trees.ts';

/** `ports[interface=eth2]/queue-bytes`, below `cnpd`. */
const path = (text: string): Elem[] => [
  { name: 'cnpd', keys: {} },
  ...(text.match(/[^/[]+(\[[^\]]*\])*/g) ?? []).map((part) => {
    const keys = [...part.matchAll(/\[([^=]+)=([^\]]*)\]/g)].map(([, key, value]) => [key!, value!]);
    return { name: part.replace(/\[.*/, ''), keys: Object.fromEntries(keys) as Record<string, string> };
  }),
];

/** Leaves, as gNMI sends them. */
function rowsOf(leaves: Readonly<Record<string, unknown>>): Rows {
  const rows = new Rows();
  add(rows, leaves);
  return rows;
}
function add(rows: Rows, leaves: Readonly<Record<string, unknown>>): void {
  for (const [text, value] of Object.entries(leaves)) rows.update(path(text), value);
}

const LINKS = [
  { a: 'h1', aInterface: 'eth1', b: 'leaf1', bInterface: 'eth1', delayMs: 0 },
  { a: 'leaf1', aInterface: 'eth2', b: 'p1', bInterface: 'eth1', delayMs: 0 },
  { a: 'p1', aInterface: 'eth2', b: 'p2', bInterface: 'eth1', delayMs: 10 },
];
const directory = new Directory();
directory.set('h1', ['2001:db8:1::2', '198.51.100.2']);
directory.set('leaf1', ['2001:db8:ffff::1', '2001:db8:c1::c']);
directory.set('p1', ['2001:db8:ffff::2']);
const around = { links: LINKS, directory };
/** Nodes whose kernels know nothing: the ways have the fewest links. */
const fewest = new Routes({ links: LINKS, ask: async () => undefined, now: () => 0 });
const network = { directory, takers: [], way: fewest.way.bind(fewest) };
const P1: Place = { name: 'p1', kind: 'cnpd' };
const UP = { state: 'up', reason: '' } as const;

const PORT = {
  'ports[interface=eth2]/queue-bytes': 97_000,
  'ports[interface=eth2]/k-min': 50_000,
  'ports[interface=eth2]/k-max': 100_000,
  'ports[interface=eth2]/attached': true,
};
const SENDER = 'senders[prefix=2001:db8:1::/64][carrier=isis][source=x]';
const LEARNED = { [`${SENDER}/best`]: true, [`${SENDER}/proxy`]: '2001:db8:ffff::1' };

test('leaves become ports, proxies by the name of their node, and a status', () => {
  const view = nodeView(P1, UP, rowsOf({ 'status/health': 'running', ...PORT, ...LEARNED }), around);
  expect(view.status).toBe('running');
  expect(view.ports).toEqual([
    expect.objectContaining({
      interface: 'eth2',
      peer: 'p2',
      queueBytes: 97_000,
      kMin: 50_000,
      kMax: 100_000,
      rttMs: null,
    }),
  ]);
  expect(view.senders).toEqual([
    { prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1', proxyNode: 'leaf1', carrier: 'isis' },
  ]);
  expect(view.addresses).toEqual(['2001:db8:ffff::2']);
});

test('a node that is down says why; one whose health has not come is connecting', () => {
  const down = nodeView(P1, { state: 'down', reason: 'gone' }, rowsOf({ 'status/health': 'running' }), around);
  expect(down).toMatchObject({ status: 'down', reason: 'gone' });
  expect(nodeView(P1, UP, new Rows(), around).status).toBe('connecting');
});

test('what is deleted is gone: a leaf, an entry, a whole list', () => {
  const rows = rowsOf({
    ...PORT,
    'ports[interface=eth3]/k-min': 1,
    'sids[sid=::1][origin=local]/status': 'programmed',
  });
  rows.delete(path('ports[interface=eth2]/k-max'));
  expect(rows.list('cnpd/ports')[0]).not.toHaveProperty('k-max');
  rows.delete(path('ports[interface=eth2]'));
  expect(rows.list('cnpd/ports').map((row) => row['interface'])).toEqual(['eth3']);
  rows.delete(path('ports'));
  expect(rows.list('cnpd/ports')).toEqual([]);
  expect(rows.list('cnpd/sids')).toHaveLength(1);
  rows.delete([{ name: 'cnpd', keys: {} }]);
  expect(rows.list('cnpd/sids')).toEqual([]);
});

test('a list that is too long is cut, and the page is told how many entries are missing', () => {
  const rows = new Rows();
  for (let i = 0; i < MAX_ROWS + 5; i++)
    for (const leaf of ['sid', 'origin', 'status', 'status'])
      rows.update(path(`sids[sid=::${i.toString(16)}][origin=learned]/${leaf}`), 'x');
  const view = nodeView(P1, UP, rows, around);
  expect(rows.list('cnpd/sids')).toHaveLength(MAX_ROWS);
  expect(view.sids.length + view.omitted).toBe(MAX_ROWS + 5);
  expect(view.sids.length).toBeLessThan(100);
});

test('a text of a router is cut at a length', () => {
  const long = 'x'.repeat(10_000);
  const [problem] = nodeView(P1, UP, rowsOf({ 'status/problems[feature=f][problem=p]/remedy': long }), around).problems;
  expect(problem!.remedy.length).toBeLessThan(400);
});

test('the way between two nodes has the fewest links', () => {
  const ring = [...LINKS, { a: 'p2', b: 'h1' }];
  expect(way(LINKS, 'h1', 'p2')).toEqual(['h1', 'leaf1', 'p1', 'p2']);
  expect(way(ring, 'h1', 'p2')).toEqual(['h1', 'p2']);
  expect(way(LINKS, 'h1', 'h1')).toEqual(['h1']);
  expect(way(LINKS, 'h1', 'nobody')).toBeUndefined();
  expect(peerOf(LINKS, 'p2', 'eth1')).toBe('p1');
  expect(peerOf(LINKS, 'p2', 'eth9')).toBe('');
});

const notification = (sequence: number, format: string, more: object = {}): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      format,
      reason: 'queue-depth',
      port: 'eth2',
      source: '2001:db8:1::2',
      'queue-bytes': 120_000,
      ...more,
    }).map(([leaf, value]) => [`notifications[sequence=${sequence}]/${leaf}`, value]),
  );

test('a notice goes to the proxy that the node has learned; what is there at first is no news; equal ones are counted', async () => {
  const rows = rowsOf({ ...LEARNED, ...notification(1, 'proxy') });
  const feed = new NotificationFeed('p1');
  feed.begin(rows);
  expect(feed.news(rows, 5)).toEqual([]);
  add(rows, { ...notification(2, 'proxy'), ...notification(3, 'proxy') });
  expect(await onTheirWays(feed.news(rows, 5), network)).toEqual([
    {
      path: ['p1', 'leaf1'],
      format: 'proxy',
      reason: 'queue-depth',
      port: 'eth2',
      queueBytes: 120_000,
      count: 2,
      at: 5,
    },
  ]);
  expect(feed.news(rows, 6)).toEqual([]);
});

test('an entry whose leaves are not all there counts when they are', () => {
  const rows = rowsOf(LEARNED);
  const feed = new NotificationFeed('p1');
  feed.begin(rows);
  rows.update(path('notifications[sequence=1]/format'), 'proxy');
  expect(feed.news(rows, 5)).toEqual([]);
  add(rows, notification(1, 'proxy'));
  expect(feed.news(rows, 5)).toHaveLength(1);
});

test('other formats go to the sender; through END.CON if there is one; a router that takes them ends the way', async () => {
  const pathOf = async (
    more: object,
    takers: typeof network.takers | { node: string; prefixes: string[] }[] = [],
  ): Promise<unknown> => {
    const rows = new Rows();
    const feed = new NotificationFeed('p1');
    feed.begin(rows);
    add(rows, notification(1, 'fast-cnp', more));
    return (await onTheirWays(feed.news(rows, 5), { ...network, takers }))[0]!.path;
  };
  expect(await pathOf({})).toEqual(['p1', 'leaf1', 'h1']);
  expect(await pathOf({ 'end-con': '2001:db8:c1::c' })).toEqual(['p1', 'leaf1', 'h1']);
  expect(await pathOf({}, [{ node: 'leaf1', prefixes: ['2001:db8:1::/64'] }])).toEqual(['p1', 'leaf1']);
  expect(await pathOf({}, [{ node: 'leaf1', prefixes: ['2001:db8:2::/64'] }])).toEqual(['p1', 'leaf1', 'h1']);
  expect(await pathOf({ source: '2001:db8:9::9' })).toEqual(['p1']);
});

test('a proxy whose flow has sent more CNPs has notified its sender', async () => {
  const flow = 'flows[port=proxy][source=2001:db8:1::2][destination=2001:db8:2::2][destination-qpn=9]';
  const rows = rowsOf({ [`${flow}/notifications`]: 3 });
  const feed = new NotificationFeed('leaf1');
  feed.begin(rows);
  expect(feed.news(rows, 5)).toEqual([]);
  rows.update(path(`${flow}/notifications`), 7);
  expect(await onTheirWays(feed.news(rows, 5), network)).toMatchObject([
    { path: ['leaf1', 'h1'], format: 'standard-cnp', count: 4 },
  ]);
});

const treeRow = (node: string, leaves: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(leaves).map(([leaf, value]) => [`groups/tree[group=2001:db8:aa::1][node=${node}]/${leaf}`, value]),
  );

test('a tree lies on the links of the lab, from the root to the receivers; the node that knows most of it counts', () => {
  const root = rowsOf({
    'groups/group[proxy-address=2001:db8:aa::1]/name': 'weights',
    'groups/group[proxy-address=2001:db8:aa::1]/source': '2001:db8:3::3',
    ...treeRow('fd::1', { kind: 'root' }),
    ...treeRow('fd::2', { kind: 'edge', parent: 'fd::1', receivers: ['2001:db8:1::2'] }),
  });
  const edge = rowsOf(treeRow('fd::2', { kind: 'edge' }));
  const own = new Directory();
  own.set('h1', ['2001:db8:1::2']);
  own.set('p1', ['2001:db8:3::3']);
  own.setSids('p2', ['fd::1']);
  own.setSids('leaf1', ['fd::2']);
  expect(trees([edge, root, new Rows()], { links: LINKS, directory: own })).toEqual([
    {
      ...{
        group: '2001:db8:aa::1',
        name: 'weights',
        source: 'p1',
        root: 'p2',
        branching: [],
        edges: ['leaf1'],
        receivers: ['h1'],
      },
      hops: [
        { from: 'p2', to: 'p1' },
        { from: 'p1', to: 'leaf1' },
        { from: 'leaf1', to: 'h1' },
        { from: 'p1', to: 'p2' },
      ],
    },
  ]);
});

test('addresses that a node loses are no longer its own', () => {
  const own = new Directory();
  expect(own.set('a', ['::1', '::2'])).toBe(true);
  expect(own.set('a', ['::1', '::2'])).toBe(false);
  expect(own.set('a', ['::2'])).toBe(true);
  expect([own.nameOf('::1'), own.nameOf('0:0::2'), own.nameOf('nonsense')]).toEqual(['', 'a', '']);
});
