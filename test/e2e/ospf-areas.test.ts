// PNC between OSPF areas through real FRR, which leaks nothing of it itself: two agents are in both areas, so that
// one could leak back what the other has leaked. Agents are whole daemons; both versions, one after the other, in the
// same network.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  AREA,
  PROTOCOLS,
  type AreaRouter,
  type Protocol,
  ROUTER_ID,
  flagged,
  learned,
  ospf,
  proxying,
  startFull,
} from './support/areas.ts';
import { Network } from './support/network.ts';
import { atLeast, contains, is, moreThan, until } from '../support/until.ts';

let net: Network;

beforeAll(async () => {
  net = await Network.up('areas');
});
afterAll(() => net?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

const LIMIT = 60_000;
const BACKBONE = '0.0.0.0';

describe.each(PROTOCOLS)('$name', (p: Protocol) => {
  const { senders: UP } = p;
  const DOWN = p.prefix(3);
  const MORE = p.prefix(9);
  const leaf = { ...ospf(p, 'leaf'), ...proxying(p, 'leaf', [UP]) };
  const intents = {
    leaf,
    core: { ...ospf(p, 'core'), ...proxying(p, 'core', [DOWN]) },
    abr1: ospf(p, 'abr1'),
    abr2: ospf(p, 'abr2'),
  };
  const start = (...names: AreaRouter[]): Promise<void> =>
    startFull(net, p, Object.fromEntries(names.map((name) => [name, intents[name]])));
  const at = (name: AreaRouter, prefix: string): Promise<string[]> => flagged(net.router(name), prefix);
  const count = (name: AreaRouter, counter: string): Promise<number> =>
    net.router(name).counter(`${p.name}.${counter}`);
  const up = (by: AreaRouter): string[] => [`${BACKBONE} ${ROUTER_ID[by]} ${p.proxy.leaf}`];
  const down = (by: AreaRouter): string[] => [`${AREA} ${ROUTER_ID[by]} ${p.proxy.core}`];
  /** This border router, and no other, leaks in both directions. */
  const leaks = (by: AreaRouter): Promise<unknown> =>
    until(
      `${by} leaks`,
      async () => [String(await at('core', UP)), String(await at('leaf', DOWN))] as const,
      ([a, b]) => a === String(up(by)) && b === String(down(by)),
      LIMIT,
    );
  /** In the area of its origin, no border router advertises a prefix. */
  const noEcho = async (): Promise<void> => {
    expect(await at('leaf', UP)).toEqual([]);
    expect(await at('core', DOWN)).toEqual([]);
  };

  afterAll(() => net.stopAll());

  test('PNC-5.2-c PNC-5.3-c: FRR alone advertises prefixes between areas, and nothing of the flag', async () => {
    await start('leaf', 'core');
    await until(
      'core has the prefix from FRR',
      async () => (await learned(net.router('core'), UP)).length,
      moreThan(0),
      LIMIT,
    );
    await until(
      'a border router has the flagged one',
      () =>
        net.router('abr1').frr(p.name === 'ospfv2' ? 'show ip ospf database opaque-area' : 'show ipv6 ospf6 database'),
      contains(ROUTER_ID.leaf),
      LIMIT,
    );
    expect(await at('core', UP)).toEqual([]);
    expect(await at('leaf', DOWN)).toEqual([]);
  });

  test('PNC-5.2-b PNC-5.2-c PNC-5.3-b PNC-5.3-c A15: an agent in both areas leaks the set flag with the original proxy address, in both directions, and no echo', async () => {
    await start('abr2');
    await leaks('abr2');
    await noEcho();
    expect(await net.router('core').sender(UP)).toMatchObject({ pnc: true, proxy: p.proxy.leaf });
    expect(await net.router('leaf').sender(DOWN)).toMatchObject({ pnc: true, proxy: p.proxy.core });
  });

  test('PNC-5.2-c PNC-5.3-c A15: a clear flag stays clear in the other area', async () => {
    const rows = await until(
      'core has the plain prefix',
      () => learned(net.router('core'), p.plain),
      (found) => found.length > 0 && found,
      LIMIT,
    );
    // FRR's border routers advertise it, and no agent of ours does.
    expect(rows.map(({ pnc, proxy }) => [pnc, proxy])).toEqual(rows.map(() => [false, undefined]));
    expect(
      rows.filter(({ originator }) => Object.values(ROUTER_ID).some((id) => String(originator).endsWith(id))),
    ).toEqual([]);
  });

  test('PNC-5.2-b PNC-5.3-b A15: of two agents the one with the lower router ID leaks, the other withdraws, and both come to rest', async () => {
    await start('abr1');
    await leaks('abr1');
    await noEcho();
    const leaking = async (by: AreaRouter): Promise<number> =>
      (await count(by, 'carry.carried')) - (await count(by, 'carry.withdrawn'));
    expect({ abr1: await leaking('abr1'), abr2: await leaking('abr2') }).toEqual({ abr1: 2, abr2: 0 });
    // A change elsewhere passes through both: would they answer each other, they would not come to rest.
    await net.router('leaf').reload({ ...ospf(p, 'leaf'), ...proxying(p, 'leaf', [UP, MORE]) });
    await until(
      'the new one is leaked',
      async () => String(await at('core', MORE)),
      (text) => text === String(up('abr1')),
      LIMIT,
    );
    const settled = async (): Promise<number[]> => [
      await count('abr1', 'own.issued'),
      await count('abr2', 'own.issued'),
      await count('abr1', 'carry.carried'),
      await count('abr2', 'carry.carried'),
    ];
    const [before, hellos] = [await settled(), await count('abr2', 'rx.hello')];
    await until('three hellos later in both areas', () => count('abr2', 'rx.hello'), atLeast(hellos + 6));
    expect(await settled()).toEqual(before);
  });

  test('PNC-5.2-c PNC-5.3-c A15: a prefix that is withdrawn a moment after it was leaked: while abr1 waits for MinLSInterval, abr2 does not leak the copy back', async () => {
    const BRIEF = p.prefix(8);
    await net.router('leaf').reload({ ...ospf(p, 'leaf'), ...proxying(p, 'leaf', [UP, MORE, BRIEF]) });
    await until(
      'it is leaked',
      async () => String(await at('core', BRIEF)),
      (text) => text === String(up('abr1')),
      LIMIT,
    );
    const leaked = await count('abr2', 'carry.carried');
    await net.router('leaf').reload({ ...ospf(p, 'leaf'), ...proxying(p, 'leaf', [UP, MORE]) });
    await until(
      'it is gone',
      async () => {
        expect(await at('leaf', BRIEF)).toEqual([]);
        return at('core', BRIEF);
      },
      is([]),
      LIMIT,
    );
    expect(await count('abr2', 'carry.carried')).toBe(leaked);
  });

  test('PNC-5.2-c PNC-5.3-c A15: two flags are cleared at their origin: their LSAs are flushed in the other area, none is issued, and FRR’s prefix stays without a proxy', async () => {
    const core = net.router('core');
    const tally = async (): Promise<number[]> => [
      await count('abr1', 'own.withdrawn'),
      await count('abr1', 'own.issued'),
      await count('abr1', 'carry.withdrawn'),
    ];
    const [withdrawn, issued, leaked] = await tally();
    await net.router('leaf').reload(ospf(p, 'leaf'));
    await until('clear', async () => (await at('core', UP)).length + (await at('core', MORE)).length, is(0), LIMIT);
    // OSPFv2 had both in one LSA; an E-Inter-Area-Prefix-LSA holds one prefix.
    expect(await tally()).toEqual([withdrawn! + (p.name === 'ospfv2' ? 1 : 2), issued, leaked! + 2]);
    const clear = (await core.sender(UP))!;
    expect({ pnc: clear['pnc'], proxy: clear['proxy'] }).toEqual({ pnc: false, proxy: undefined });
    expect((await core.ctl('show', 'senders', p.name === 'ospfv2' ? '198.51.100.7' : '2001:db8:1::7')).code).toBe(1);
    expect(await at('abr2', UP)).toEqual([]);
    await net.router('leaf').reload(leaf);
    await leaks('abr1');
  });

  test('PNC-5.2-c PNC-5.3-c: the leaking agent is killed: the other takes over, and the proxy is never lost; when it is back, it leaks again', async () => {
    await net.router('abr1').stop('SIGKILL');
    await until(
      'abr2 leaks',
      async () => {
        const now = await at('core', UP);
        expect(now.join()).toContain(p.proxy.leaf);
        return { core: now, leaf: await at('leaf', DOWN) };
      },
      (seen) => seen.core.includes(up('abr2')[0]!) && seen.leaf.includes(down('abr2')[0]!),
      LIMIT,
    );
    await start('abr1');
    // Until it has learned everything anew, what it advertised before it was killed is used.
    await until('abr1 has decided', () => count('abr1', 'carry.carried'), atLeast(2), LIMIT);
    await leaks('abr1');
    await noEcho();
  });

  test('PNC-5.2-c PNC-5.3-c: when the proxy stops, nothing of it is left in any area: no two copies keep each other alive', async () => {
    await net.router('leaf').stop('SIGTERM');
    await until(
      'gone',
      async () => (await Promise.all((['core', 'abr1', 'abr2'] as const).map((name) => at(name, UP)))).flat().length,
      is(0),
      LIMIT,
    );
    expect(await at('core', DOWN)).toEqual([]);
  });
});
