// A leaf with OSPFv2 and OSPFv3, each beside its FRR daemon, whose proxy has an address of each family: both are
// advertised, each in its own version, and a router two areas away knows the proxy of senders of either family. Nothing
// of it is a problem; with one address alone it is.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { mappedAddress } from '../../src/kernel/dataplane/layout.ts';
import { address } from '../../src/model/address.ts';
import { toHex } from '../../src/packet/hex.ts';
import {
  allFull,
  AREA,
  flagged,
  neighbors,
  ospf,
  type Protocol,
  PROTOCOLS,
  proxying,
  ROUTER_ID,
} from './support/areas.ts';
import { Network, type Row } from './support/network.ts';
import { LEARNED, type LastingView, replaysAsShown } from './support/replayed.ts';
import { is, moreThan, until } from '../support/until.ts';

const [V2, V3] = PROTOCOLS as [Protocol, Protocol];
const SENDERS = [V2.senders, V3.senders];
const LIMIT = 60_000;

/** `proxy.address` as the file may have it. */
const leaf = (addresses: string | readonly string[]): object => ({
  ...ospf(V2, 'leaf'),
  ...ospf(V3, 'leaf'),
  proxy: {
    address: addresses,
    senders: SENDERS.map((prefix) => ({ prefix, format: 'standard-cnp' })),
    'accept-from': [V2.acceptFrom, V3.acceptFrom],
  },
});
const BOTH = [V3.proxy.leaf, V2.proxy.leaf];

let net: Network;

beforeAll(async () => {
  net = await Network.up('areas');
  const abr1 = { ...ospf(V2, 'abr1'), ...ospf(V3, 'abr1') };
  await Promise.all([net.router('leaf').start(leaf(BOTH)), net.router('abr1').start(abr1)]);
  for (const name of ['leaf', 'abr1'])
    await until(
      `${name} is full in both`,
      () => Promise.all([V2, V3].map((p) => neighbors(p, net.router(name)))),
      (versions) => versions.every(allFull),
      LIMIT,
    );
});
afterAll(() => net?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

const status = async (): Promise<{ health: string; problems: string[] }> => {
  const { health, problems } = await net
    .router('leaf')
    .show<{ health: string; problems?: { problem: string }[] }>('status');
  return { health, problems: (problems ?? []).map(({ problem }) => problem) };
};
const seenBy = async (p: Protocol): Promise<string[]> => flagged(net.router('abr1'), p.senders);
const advertised = (p: Protocol): string[] => [`${AREA} ${ROUTER_ID.leaf} ${p.proxy.leaf}`];

test('PNC-5.2-a PNC-5.3-a: each version advertises the senders of its family with the proxy’s address of that family, and health is running', async () => {
  for (const p of [V2, V3]) {
    await until(`${p.name} has shown them`, async () => (await seenBy(p)).length, moreThan(0), LIMIT);
    expect(await seenBy(p)).toEqual(advertised(p));
  }
  await until('running', async () => (await status()).health, is('running'), LIMIT);
  expect(await status()).toEqual({ health: 'running', problems: [] });
  const [config] = (await net.router('leaf').mapEntries('proxy_config'))!;
  for (const text of BOTH)
    expect(config, `notices to ${text} are taken`).toContain(toHex(mappedAddress(address(text))));
  const rows = await net.router('leaf').show<Row[]>('proxies');
  expect(rows.map((row) => [row['address'], row['prefixes'], row['advertised-in']]).sort()).toEqual(
    [V2, V3].map((p) => [p.proxy.leaf, [p.senders], [p.name]]).sort(),
  );
});

test('both versions begin anew and are recorded; the replay ends with the databases and senders that the border router has', async () => {
  const abr1 = net.router('abr1');
  const relearned = (): Promise<unknown> =>
    until(
      'full, acknowledged and learned in both, and nothing is held',
      async () => ({
        neighbors: (await Promise.all([V2, V3].map((p) => neighbors(p, abr1)))).flat(),
        seen: (await Promise.all([V2, V3].map(seenBy))).flat(),
        isHeld: (await abr1.get('senders')).some((row) => row['held-until'] !== undefined),
      }),
      (now) =>
        allFull(now.neighbors) &&
        now.neighbors.every((row) => row['unacknowledged'] === 0) &&
        String(now.seen) === String([V2, V3].flatMap(advertised)) &&
        !now.isHeld,
      LIMIT,
    );
  const views = [V2, V3].flatMap(({ name }): LastingView[] => [
    { view: [name, 'neighbors'], fields: ['area', 'interface', 'state', 'router-id', 'mtu', 'takes-opaque', 'reason'] },
    {
      view: [name, 'database'],
      fields: [
        'area',
        'type',
        'ls-id',
        'router',
        'sequence',
        'checksum',
        'length',
        'own',
        'reachable',
        'proxy-prefixes',
      ],
    },
  ]);
  const machines = [V2, V3].flatMap(({ name }) => [name, `${name}-content`]);
  const { replayed } = await replaysAsShown(abr1, machines, relearned, [...views, LEARNED]);
  for (const rows of replayed) expect(rows.length).toBeGreaterThan(0);
});

test('RMC-5.1-d: both versions carry members of a group; a change arrives, and they go with the section', async () => {
  const receivers = (qpn: number): object[] => [
    { address: '2001:db8:b::1', qpn },
    { address: '2001:db8:b::2', qpn: 202, 'psn-delta': 7, write: { 'va-delta': -1, 'r-key': 9 } },
  ];
  const withGroup = (qpn: number): object => ({
    ...leaf(BOTH),
    srv6: { 'core-ports': ['eth1'], 'end-mt': { locator: '2001:db8:e::/48' } },
    groups: [{ name: 'g', 'proxy-address': '2001:db8:aa::1', 'designated-qpn': 4096, receivers: receivers(qpn) }],
  });
  const shownBy = async (router: string): Promise<string[]> =>
    (await net.router(router).get('groups', 'members'))
      .map((row) =>
        ['carrier', 'address', 'qpn', 'node', 'psn-delta', 'va-delta', 'status'].map((key) => row[key]).join(),
      )
      .sort();
  const rows = (qpn: number, carriers: readonly string[], status: (carrier: string) => string): string[] =>
    carriers
      .flatMap((carrier) => [
        `${carrier},2001:db8:b::1,${qpn},2001:db8:e::c1:0:0,0,,${status(carrier)}`,
        `${carrier},2001:db8:b::2,202,2001:db8:e::c1:0:0,7,-1,${status(carrier)}`,
      ])
      .sort();
  const inBoth = (qpn: number): string[] =>
    rows(qpn, ['ospfv2', 'ospfv3'], (carrier) =>
      carrier === 'ospfv2' ? 'in force' : `not in force: claimed by ${AREA} ${ROUTER_ID.leaf} (ospfv2)`,
    );
  await net.router('leaf').reload(withGroup(201));
  expect(await shownBy('leaf')).toEqual(rows(201, ['local'], () => 'in force'));
  await until('both versions have brought it', () => shownBy('abr1'), is(inBoth(201)), LIMIT);
  await net.router('leaf').reload(withGroup(77));
  await until('the change has come', () => shownBy('abr1'), is(inBoth(77)), LIMIT);
  expect((await status()).problems, 'an edge without a source is no problem').toEqual([]);
  await net.router('leaf').reload(leaf(BOTH));
  await until('it is gone', async () => (await shownBy('abr1')).length, is(0), LIMIT);
});

test('with an IPv6 address alone the IPv4 senders are a problem, with its remedy; the second address given, they are advertised', async () => {
  await net.router('leaf').reload(leaf(V3.proxy.leaf));
  await until('OSPFv2 has withdrawn', async () => (await seenBy(V2)).length, is(0), LIMIT);
  expect(await status()).toEqual({
    health: 'degraded',
    problems: [expect.stringContaining('OSPFv2 cannot advertise an IPv4 sender whose proxy has only an IPv6 address')],
  });
  expect(await seenBy(V3)).toEqual(advertised(V3));
  await net.router('leaf').reload(leaf(BOTH));
  await until(
    'OSPFv2 advertises it again',
    async () => String(await seenBy(V2)),
    (text) => text === String(advertised(V2)),
    LIMIT,
  );
  expect(await status()).toEqual({ health: 'running', problems: [] });
});

test('an IPv6 address alone is no problem where no more was asked for: IPv6 senders, in both versions', async () => {
  await net.router('leaf').reload({ ...leaf(BOTH), ...proxying(V3, 'leaf', [V3.senders]) });
  await until('OSPFv2 has withdrawn', async () => (await seenBy(V2)).length, is(0), LIMIT);
  expect(await status()).toEqual({ health: 'running', problems: [] });
});
