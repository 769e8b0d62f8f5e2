// Carriers that disagree (decision D7) in one network: leaf declares prefixes in IS-IS, abr1 an IPv4 one of them in
// OSPFv2 and abr2 an IPv6 one in OSPFv3, each with itself as the proxy. core hears all three and uses one proxy a
// prefix; `cnpctl show senders --all` shows which, and what else there was.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  allFull,
  type AreaRouter,
  neighbors,
  ospf,
  type Protocol,
  PROTOCOLS,
  proxying,
  ROUTER_ID,
} from './support/areas.ts';
import { anyUp, Network, type Row } from './support/network.ts';
import { until } from '../support/until.ts';

const [V2, V3] = PROTOCOLS as [Protocol, Protocol];
const BACKBONE = { areas: ['0.0.0.0'] };
const [SENDERS4, SENDERS6] = [V2.prefix(5), V3.prefix(5)];
const LEAF_SYSTEM = '0000.0000.c001';
const LIMIT = 60_000;

const isis = (systemId: string): object => ({
  isis: {
    'system-id': systemId,
    area: '49.0001',
    level: 2,
    interface: 'cnpd-isis',
    'hello-interval': '1s',
    'hold-unreachable': '1min',
  },
});
const INTENT: Readonly<Record<AreaRouter, object>> = {
  leaf: { router: { name: 'leaf' }, ...isis(LEAF_SYSTEM), ...proxying(V3, 'leaf', [SENDERS4, SENDERS6]) },
  abr1: { ...ospf(V2, 'abr1', BACKBONE), ...proxying(V2, 'abr1', [SENDERS4]) },
  abr2: { ...ospf(V3, 'abr2', BACKBONE), ...proxying(V3, 'abr2', [SENDERS6]) },
  core: { ...ospf(V2, 'core'), ...ospf(V3, 'core'), ...isis('0000.0000.c002') },
};

let net: Network;

beforeAll(async () => {
  net = await Network.up('areas');
  await Promise.all(Object.entries(INTENT).map(([name, intent]) => net.router(name).start(intent)));
  const core = net.router('core');
  await until(
    'core is a neighbor in all three',
    async () => ({
      isis: await core.neighbors(),
      ospfv2: await neighbors(V2, core),
      ospfv3: await neighbors(V3, core),
    }),
    ({ isis, ospfv2, ospfv3 }) => anyUp(isis) && allFull(ospfv2) && allFull(ospfv3),
    LIMIT,
  );
});
afterAll(() => net?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

/** The rows with the flag of `cnpctl show senders --all`, the one in force first. */
async function shown(prefix: string): Promise<Row[]> {
  const rows = await net.router('core').show('senders', '--all');
  return rows
    .filter((row) => row['prefix'] === prefix && row['pnc'] === true)
    .sort((a, b) => Number(b['best']) - Number(a['best']));
}
const BY_ISIS = { carrier: 'isis', originator: `L2 ${LEAF_SYSTEM}`, proxy: V3.proxy.leaf, metric: 0xfe000001 };

test.each([
  ['OSPFv2', V2, SENDERS4, 'abr1', '10.5.0.9'],
  ['OSPFv3', V3, SENDERS6, 'abr2', '2001:db8:5::9'],
] as const)(
  'D7: IS-IS and %s name different proxies: the lower metric is in force; its router is lost, then the other is; back again, it is in force again',
  async (_name, p, prefix, by, host) => {
    const byOspf = { carrier: p.name, originator: `0.0.0.0 ${ROUTER_ID[by]}`, proxy: p.proxy[by], metric: 0xffffff };
    const arrived = (rows: Row[]): Row[] | false =>
      rows.length === 2 && rows.every((row) => row['held-until'] === undefined) && rows;
    expect(await until('core has both', () => shown(prefix), arrived, LIMIT)).toMatchObject([
      { ...byOspf, best: true },
      { ...BY_ISIS, best: false },
    ]);
    expect((await net.router('core').show<Row>('senders', host))['proxy']).toBe(p.proxy[by]);
    const table = (await net.router('core').ctl('show', 'senders', '--all')).stdout
      .split('\n')
      .filter((line) => line.startsWith(`${prefix} `));
    expect(table).toHaveLength(2);
    for (const proxy of [byOspf.proxy, BY_ISIS.proxy]) expect(table.join('\n')).toContain(` ${proxy} `);

    await net.router(by).stop('SIGKILL');
    const held = (rows: Row[]): Row[] | false => rows.some((row) => row['held-until'] !== undefined) && rows;
    expect(await until('held', () => shown(prefix), held, LIMIT)).toMatchObject([
      { ...BY_ISIS, best: true },
      { ...byOspf, best: false, 'held-until': expect.any(String) },
    ]);
    expect((await net.router('core').show<Row>('senders', host))['proxy']).toBe(BY_ISIS.proxy);

    await net.router(by).start(INTENT[by]);
    expect(await until('back', () => shown(prefix), arrived, LIMIT)).toMatchObject([
      { ...byOspf, best: true },
      { ...BY_ISIS, best: false },
    ]);
  },
);

test('D7: a prefix that only IS-IS has left when OSPF withdraws', async () => {
  await net.router('abr1').stop('SIGTERM');
  const rows = await until(
    'withdrawn',
    () => shown(SENDERS4),
    (found) => found.length === 1 && found,
    LIMIT,
  );
  expect(rows).toMatchObject([{ ...BY_ISIS, best: true }]);
});
