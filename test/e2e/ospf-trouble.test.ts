// The OSPF carriers of whole daemons in trouble, in both versions: either side killed, keys and MTUs that differ, a
// neighbor that takes no opaque LSAs. abr1 learns what core declares, across two FRR routers in the backbone.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  allFull,
  flagged,
  isFull,
  learned,
  neighbors,
  ospf,
  type Protocol,
  PROTOCOLS,
  proxying,
  ROUTER_ID,
  startFull,
} from './support/areas.ts';
import { Network, type Router, type Row } from './support/network.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

let net: Network;
let abr1: Router, core: Router;

beforeAll(async () => {
  net = await Network.up('areas');
  [abr1, core] = [net.router('abr1'), net.router('core')];
});
afterAll(() => net?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

const LIMIT = 60_000;
const BACKBONE = '0.0.0.0';

const problemsOf = async (r: Router, name: string): Promise<Row[]> =>
  (await r.get<{ problems?: Row[] }>('status')).problems?.filter(({ feature }) => feature === name) ?? [];
const problem = (r: Router, name: string, about: RegExp): Promise<Row> =>
  until(
    `${r.name} shows what is wrong`,
    () => problemsOf(r, name),
    (all) => all.find(({ problem: text }) => about.test(String(text))),
    LIMIT,
  );

/** As its end comes without warning; `before` it starts again. */
async function restartFrr(r: Router, { daemon }: Protocol, before: () => Promise<unknown>): Promise<void> {
  await r.exec('kill', '-9', (await r.exec('cat', `/run/frr/${daemon}.pid`)).trim());
  try {
    await before();
  } finally {
    await r.exec(`/usr/lib/frr/${daemon}`, '-d', '-A', '127.0.0.1');
    await r.exec('vtysh', '-b');
  }
}

const KEY_LINES: Readonly<Record<Protocol['name'], readonly string[]>> = {
  ospfv2: ['ip ospf authentication message-digest', 'ip ospf message-digest-key 7 md5 s3cret'],
  ospfv3: ['ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key s3cret'],
};
const ALGORITHM = { ospfv2: 'md5', ospfv3: 'hmac-sha-256' } as const;

describe.each(PROTOCOLS)('$name', (p: Protocol) => {
  const [KEPT, STALE] = [p.prefix(1), p.prefix(2)];
  const declaring = (...senders: string[]): object => ({ ...ospf(p, 'core'), ...proxying(p, 'core', senders) });
  const learner = (area: object = {}): object => ospf(p, 'abr1', { areas: [BACKBONE], area });
  const known = [`${BACKBONE} ${ROUTER_ID.core} ${p.proxy.core}`];
  const knows = (prefix: string, which = known): Promise<unknown> =>
    until(
      `abr1 knows ${which.length} proxies for ${prefix}`,
      async () => String(await flagged(abr1, prefix)),
      is(String(which)),
      LIMIT,
    );
  const kept = (): Promise<Row | undefined> => abr1.sender(KEPT);
  const isHeld = (row: Row | undefined): boolean => row?.['held-until'] !== undefined;
  /** Also while it is held. */
  const proxyStays = async (): Promise<void> => expect((await abr1.sender(KEPT))?.['proxy']).toBe(p.proxy.core);
  const back = (): Promise<unknown> =>
    until(
      'full, and nothing is held any more',
      async () => {
        await proxyStays();
        return { neighbors: await neighbors(p, abr1), row: await kept() };
      },
      (seen) => allFull(seen.neighbors) && !isHeld(seen.row),
      LIMIT,
    );
  const count = (name: string): Promise<number> => abr1.counter(`${p.name}.${name}`);

  beforeAll(async () => {
    await startFull(net, p, { core: declaring(KEPT, STALE), abr1: learner() });
    await knows(KEPT);
  });
  afterAll(() => net.stopAll());

  test('PNC-5.2-d PNC-5.3-d: the proxy is killed and started again with less to say: what is stale goes, the rest is never lost', async () => {
    await knows(STALE);
    await core.stop('SIGKILL');
    await core.start(declaring(KEPT));
    await until(
      'the stale one is gone',
      async () => {
        expect((await learned(abr1, KEPT)).map((row) => row['proxy'])).toEqual([p.proxy.core]);
        return learned(abr1, STALE);
      },
      is([]),
      LIMIT,
    );
    await back();
    await knows(KEPT);
    expect(await core.counter(`${p.name}.own.outbid`)).toBeGreaterThan(0);
  });

  test('FRR is killed and started again, twice: what was learned is held and never lost, and everything is back', async () => {
    for (const time of [1, 2]) {
      await restartFrr(abr1, p, async () => {
        await until(`held, time ${time}`, kept, isHeld, LIMIT);
        await proxyStays();
      });
      await back();
    }
    expect(await problemsOf(abr1, p.name)).toEqual([]);
    expect(await flagged(abr1, KEPT)).toEqual(known);
  });

  test('FRR’s MTU is larger: the exchange does not begin, the problem names it, and the line that it names mends it', async () => {
    await restartFrr(abr1, p, () => abr1.exec('ip', 'link', 'set', p.link(0), 'mtu', '1600'));
    const { remedy } = await problem(abr1, p.name, /MTU of \S+ \(area 0\.0\.0\.0\) is 1600 in FRR and 1500 in cnpd/);
    expect(remedy).toContain(`ip link set ${p.link(0)} mtu 1500`);
    expect(await count('exchange.mtu-mismatch')).toBeGreaterThan(0);
    expect(await abr1.show(p.command, 'neighbors')).toMatchObject([{ state: 'ex-start', mtu: 1600 }]);
    await proxyStays();
    await abr1.exec('ip', 'link', 'set', p.link(0), 'mtu', '1500');
    await back();
    expect(await problemsOf(abr1, p.name)).toEqual([]);
  });

  test.runIf(p.name === 'ospfv2')(
    'without `capability opaque`: one exchange and no loop, the problem and doctor name the line, and with it everything is back',
    async () => {
      const opaque = (line: string): Promise<string> => abr1.frr('configure', 'router ospf', line);
      await opaque('no capability opaque');
      expect(await problem(abr1, p.name, /accepts no opaque LSAs/)).toMatchObject({
        remedy: expect.stringContaining("-c 'capability opaque'"),
      });
      const { stdout } = await abr1.ctl('-o', 'json', 'doctor', '-c', '/etc/cnpd/cnpd.yaml');
      const missing = (JSON.parse(stdout) as { items: { id: string; state: string }[] }).items.filter(
        ({ id, state }) => id.startsWith('frr.') && state !== 'ok',
      );
      expect(missing.map(({ id }) => id)).toEqual(['frr.ospfv2.capability-opaque']);
      const attempts = async (): Promise<number[]> => [
        await count('neighbor.no-opaque'),
        await count('tx.database-description'),
        await count('neighbor.sequence-number-mismatch'),
      ];
      await until('the exchange is over', () => neighbors(p, abr1), allFull, LIMIT);
      const [before, hellos] = [await attempts(), await count('rx.hello')];
      await until('three hellos later', () => count('rx.hello'), atLeast(hellos + 3));
      expect(await attempts()).toEqual(before);
      await opaque('capability opaque');
      // The adjacency is full until ospfd has taken it down.
      await until('it takes ours', async () => (await problemsOf(abr1, p.name)).length, is(0), LIMIT);
      await back();
    },
  );

  // The last, because ospf6d 8.4.4 does not always outlive the removal of a key.
  test('authentication: without the key and with a wrong one nothing is heard, each counted by its name; with the right one everything is back', async () => {
    const keyed = (key: string): object => learner({ authentication: [{ 'key-id': 7, [ALGORITHM[p.name]]: key }] });
    await abr1.frr('configure', `interface ${p.link(0)}`, ...KEY_LINES[p.name]);
    await until('held', kept, isHeld, LIMIT);
    expect(await count('authentication.not-configured')).toBeGreaterThan(0);
    await abr1.reload(keyed('other'));
    await until('counted', () => count('authentication.wrong'), moreThan(1), LIMIT);
    expect(await isFull(p, abr1)).toBe(false);
    await proxyStays();
    await abr1.reload(keyed('s3cret'));
    await back();
    const refused = await count('authentication.wrong');
    await knows(KEPT);
    expect(await count('authentication.wrong')).toBe(refused);
  });
});
