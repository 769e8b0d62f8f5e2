// cnpd's own paths in real gobgpds that do not keep them as they were put in: another client replaces them, two
// carriers share one gobgpd, a policy or the families leave no room for them.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BgpCarrier } from '../../src/carriers/bgp/carrier.ts';
import { DISPUTE_PAUSE_MS } from '../../src/carriers/bgp/constants.ts';
import { OWN_IDENTIFIER } from '../../src/carriers/bgp/gobgp/gobgp.ts';
import { BgpAgent } from './support/bgp-agent.ts';
import {
  BINARIES,
  type Gobgpd,
  type GobgpBinary,
  GobgpNetwork,
  type GobgpdOptions,
  Listening,
  needsCli,
} from './support/gobgp.ts';
import { is, until } from '../support/until.ts';

const [SENDERS4, SENDERS6] = ['10.1.0.0/16', '2001:db8:1::/64'];
const [PROXY, OTHER_PROXY] = ['2001:db8:ffff::1', '2001:db8:ffff::2'];

let network: GobgpNetwork;
const carriers: BgpCarrier[] = [];
beforeAll(() => void (network = new GobgpNetwork('gobgp-own')));
afterEach(async () => {
  await network.stopAll();
  for (const carrier of carriers.splice(0)) await carrier.stop();
});
afterAll(() => network?.remove());

/** A carrier that declares both prefixes. */
async function agent(gobgpd: Gobgpd, proxy = PROXY): Promise<BgpAgent> {
  const loopback = 'ipv4: 192.0.2.1, ipv6: 2001:db8::1';
  const own = await BgpAgent.start(gobgpd, { loopback, proxy, prefixes: [SENDERS4, SENDERS6] });
  carriers.push(own.carrier);
  return own;
}

const listen = (gobgpd: Gobgpd): Promise<Listening> => network.listen(gobgpd).ready();

describe.each(BINARIES)('gobgpd $name', (binary: GobgpBinary) => {
  const start = (options: Partial<GobgpdOptions> = {}): Gobgpd => network.start(binary, { as: 65_001, ...options });
  const originates = (own: BgpAgent, originated: number): Promise<unknown> =>
    until(`${originated} are there`, () => own.carrier.session().originated, is(originated), 60_000);

  test('a path that is replaced in gobgpd is put back with its attribute, as often as that happens now and then', async (context) => {
    needsCli(binary, context);
    const gobgpd = start();
    const own = await agent(gobgpd);
    await originates(own, 2);
    const heard = await listen(gobgpd);
    const nhc = (text: string): string | undefined =>
      heard.routes.get(text)?.[0]?.nhc && Buffer.from(heard.routes.get(text)![0]!.nhc!).toString('hex');
    const asPutIn = nhc(SENDERS6);
    expect(asPutIn).toBeDefined();
    for (const times of [1, 2, 3]) {
      gobgpd.cli(
        'global',
        'rib',
        'add',
        SENDERS6,
        'identifier',
        String(OWN_IDENTIFIER),
        'nexthop',
        '2001:db8:ffff::1',
        '-a',
        'ipv6',
      );
      await until('it is noticed', () => own.count('own.overwritten'), is(times));
      await until('it is back', () => nhc(SENDERS6), is(asPutIn));
      await originates(own, 2);
    }
    expect(own.problems()).toEqual([]);
  });

  test('two carriers that declare the same prefixes at one gobgpd are a dispute, and no storm', async () => {
    const gobgpd = start();
    const first = await agent(gobgpd);
    await originates(first, 2);
    const second = await agent(gobgpd, OTHER_PROXY);
    for (const own of [first, second])
      await until(
        'it is reported',
        () => own.problems(),
        (all) => all.some((text) => text.includes('again and again')),
        60_000,
      );
    const changes = first.count('own.added') + second.count('own.added');
    expect(changes).toBeLessThan(100);
    // Nothing to wait for: a storm adds a path every few milliseconds, and the first pause of a dispute is as long.
    await new Promise((resolve) => setTimeout(resolve, 2 * DISPUTE_PAUSE_MS.first));
    expect(first.count('own.added') + second.count('own.added') - changes).toBeLessThan(20);
  });

  test('a gobgpd whose import policy rejects them has none: a problem, until the policy is mended', async (context) => {
    needsCli(binary, context);
    const gobgpd = start({ policies: '[global.apply-policy.config]\ndefault-import-policy = "reject-route"' });
    const own = await agent(gobgpd);
    await until(
      'it is reported',
      () => own.problems(),
      (all) => all.some((text) => text.includes('2 of cnpd') && text.includes('default-import-policy')),
      60_000,
    );
    expect({
      originated: own.carrier.session().originated,
      paths: await own.carrier.paths(),
      dropped: own.count('own.dropped'),
    }).toEqual({ originated: 0, paths: [], dropped: 2 });
    gobgpd.cli('global', 'policy', 'import', 'set', 'default', 'accept');
    await originates(own, 2);
    expect(own.problems()).toEqual([]);
  });

  test('a gobgpd with one family alone: the path of the other is not there, and which family to add', async () => {
    const gobgpd = start({
      policies: '[[global.afi-safis]]\n[global.afi-safis.config]\nafi-safi-name = "ipv6-unicast"',
    });
    const own = await agent(gobgpd);
    await originates(own, 1);
    await until('it was asked about', () => own.count('own.dropped'), is(1), 60_000);
    expect(own.carrier.session()).toMatchObject({
      state: 'ready',
      originated: 1,
      wanted: 2,
      dropped: 1,
      noTable: ['ipv4-unicast'],
    });
    expect((await own.carrier.paths()).map((row) => row.prefix)).toEqual([SENDERS6]);
    expect(own.problems()).toMatchObject([expect.stringContaining('afi-safi-name = "ipv4-unicast"')]);
  });

  test('paths under better ones of the operator are there; of a killed gobgpd nothing is claimed', async (context) => {
    needsCli(binary, context);
    const gobgpd = start();
    await listen(gobgpd);
    gobgpd.cli('global', 'rib', 'add', SENDERS4, 'nexthop', '192.0.2.77', 'local-pref', '500');
    const own = await agent(gobgpd);
    await originates(own, 2);
    expect((await own.carrier.paths()).map((row) => [row.prefix, row.best])).toEqual([
      [SENDERS4, false],
      [SENDERS6, true],
    ]);
    await gobgpd.kill();
    await until(
      'it is lost',
      () => own.carrier.session().state,
      (text) => text !== 'ready',
    );
    expect({ originated: own.carrier.session().originated, paths: await own.carrier.paths() }).toEqual({
      originated: 0,
      paths: [],
    });
    gobgpd.start();
    await originates(own, 2);
  });
});
