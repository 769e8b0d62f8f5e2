// cnpd's policies in real gobgpds, looked at from a neighbor outside the domain: what it hears, and what comes of what
// it tells.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BgpCarrier, BgpCarrierOptions } from '../../src/carriers/bgp/carrier.ts';
import type { OwnPath } from '../../src/carriers/bgp/gobgp/gobgp.ts';
import { noteGobgp, uninstallGobgp } from '../../src/daemon/uninstall-gobgp.ts';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { BgpAgent } from './support/bgp-agent.ts';
import {
  BINARIES,
  type GobgpBinary,
  type Gobgpd,
  GobgpNetwork,
  type GobgpdOptions,
  Listening,
  needsCli,
} from './support/gobgp.ts';
import { is, until } from '../support/until.ts';

const [HERE, LEAF, INSIDE, OUTSIDE] = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4'] as const;
const [OWN, LEAFS, FOREIGN, LAST] = ['10.1.0.0/16', '10.2.0.0/16', '10.9.0.0/16', '10.255.0.0/16'] as const;
const NHC = Buffer.from('00010104c0000209ffdc0004c0000201', 'hex');
const plainPath = (text: string, nhc?: Uint8Array): OwnPath => ({
  prefix: prefix(text),
  nextHop: address('192.0.2.9'),
  nhc: nhc ?? NHC,
  communities: [],
  largeCommunities: [],
});

let network: GobgpNetwork;
const carriers: BgpCarrier[] = [];
beforeAll(() => {
  network = new GobgpNetwork('gobgp-policy');
  // gobgpd takes no path whose next hop is of 127/8, as what is passed on over eBGP would be there.
  const ip = (words: string): unknown => execFileSync('ip', ['-n', network.netns, ...words.split(' ')]);
  for (const at of [HERE, LEAF, INSIDE, OUTSIDE]) ip(`address add ${at}/32 dev lo`);
  // `gobgp neighbor add` knows no local address: without a source, connections to INSIDE would come from INSIDE itself.
  for (const at of [INSIDE, OUTSIDE]) ip(`route change local ${at} dev lo table local src ${HERE}`);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(network.logs());
  await network.stopAll();
  for (const carrier of carriers.splice(0)) await carrier.stop();
});
afterAll(() => network?.remove());

/** A cnpd that declares these prefixes, beside a gobgpd. */
async function agent(
  gobgpd: Gobgpd,
  prefixes: readonly string[],
  rest: Partial<BgpCarrierOptions> = {},
): Promise<BgpAgent> {
  const own = await BgpAgent.start(gobgpd, { loopback: 'ipv4: 192.0.2.1', proxy: '192.0.2.1', prefixes }, rest);
  carriers.push(own.carrier);
  return own;
}

const listen = (gobgpd: Gobgpd): Promise<Listening> => network.listen(gobgpd).ready();

const established = ({ client }: Listening, count: number): Promise<unknown> =>
  until(
    // gobgpd waits for up to a minute before it connects again.
    `${count} sessions are up`,
    async () => ((await client.peers()) ?? []).filter(({ state }) => state === 'established').length,
    is(count),
    180_000,
  );
const settled = (own: BgpAgent, originated = 1): Promise<unknown> =>
  until('its paths are in gobgpd', () => own.carrier.session().originated, is(originated), 60_000);

describe.each(BINARIES)('gobgpd $name', (binary: GobgpBinary) => {
  const start = (as: number, at: string, neighbors: NonNullable<GobgpdOptions['neighbors']>, policies = ''): Gobgpd =>
    network.start(binary, { as, address: at, neighbors, policies });

  /** here, with leaf over iBGP, inside (AS 65010) and outside (AS 65003) over eBGP. */
  async function four(policies = '') {
    const here = start(
      65_001,
      HERE,
      [
        { address: LEAF, as: 65_001 },
        { address: INSIDE, as: 65_010 },
        { address: OUTSIDE, as: 65_003 },
      ],
      policies,
    );
    const leaf = start(65_001, LEAF, [{ address: HERE, as: 65_001 }]);
    const inside = start(65_010, INSIDE, [{ address: HERE, as: 65_001 }]);
    const outside = start(65_003, OUTSIDE, [{ address: HERE, as: 65_001 }]);
    const heard = { here: await listen(here), inside: await listen(inside), outside: await listen(outside) };
    return { here, leaf, inside, outside, heard };
  }

  /**
   * Waits for a path that a gobgpd without cnpd advertises last: when it has arrived, so have all paths before it.
   */
  async function last(at: Listening, from: Listening): Promise<void> {
    await from.client.add([plainPath(LAST)]);
    await until(
      'the last path has come',
      () => at.routes,
      (all) => all.has(LAST),
      60_000,
    );
  }

  test('without a policy of cnpd’s gobgpd sends them on, NO_EXPORT or not, attribute 39 and all, this router’s and those of others', async () => {
    const { here, leaf, heard } = await four();
    await established(heard.here, 3);
    await Promise.all([
      settled(await agent(leaf, [LEAFS], { policy: false })),
      settled(await agent(here, [OWN], { policy: false })),
    ]);
    await until(
      'outside has both',
      () => [OWN, LEAFS],
      (all) => all.every((text) => heard.outside.routes.get(text)?.[0]?.nhc !== undefined),
      60_000,
    );
  });

  test.each([
    ['without a domain', []],
    ['with one', [65_010]],
  ] as const)(
    'PNC-6-a: %s, a neighbor outside hears of none of cnpd’s paths, this router’s or of iBGP; of everything else it does',
    async (_, domain) => {
      const { here, leaf, heard } = await four();
      const own = [await agent(leaf, [LEAFS], { domain }), await agent(here, [OWN], { domain })];
      await established(heard.here, 3);
      await Promise.all(own.map((one) => settled(one)));
      await until(
        'here has leaf’s',
        () => heard.here.routes,
        (all) => all.has(LEAFS),
        60_000,
      );
      await last(heard.outside, heard.inside);
      expect([OWN, LEAFS].filter((text) => heard.outside.routes.has(text))).toEqual([]);
      if (domain.length > 0)
        await until(
          'inside has both',
          () => [OWN, LEAFS],
          (all) => all.every((text) => heard.inside.routes.get(text)?.[0]?.nhc !== undefined),
          60_000,
        );
      else expect([OWN, LEAFS].filter((text) => heard.inside.routes.has(text))).toEqual([]);
      expect(own[1]!.carrier.session().policy).toBe('installed');
      expect(own[1]!.problems()).toEqual([]);
    },
  );

  test('PNC-6-a: an operator’s policy that accepts everything does not come first, and stays', async (context) => {
    needsCli(binary, context);
    const { here, heard } = await four(`[[policy-definitions]]
name = "all"
[[policy-definitions.statements]]
[policy-definitions.statements.actions]
route-disposition = "accept-route"
[global.apply-policy.config]
export-policy-list = ["all"]
import-policy-list = ["all"]
`);
    await established(heard.here, 3);
    const own = await agent(here, [OWN]);
    await settled(own);
    await last(heard.outside, heard.inside);
    expect(heard.outside.routes.has(OWN)).toBe(false);
    const assigned = (): string[] =>
      ['export', 'import'].map((way) =>
        [...here.cli('global', 'policy', way).matchAll(/^ *Name (\S+):/gm)].map(([, name]) => name).join(),
      );
    expect(assigned()).toEqual(['cnpd-export,all', 'cnpd-import,all']);
    // Somebody sets the list anew: cnpd puts itself in front of it again.
    here.cli('global', 'policy', 'export', 'set', 'all');
    await until('it is put back', () => assigned()[0], is('cnpd-export,all'), 60_000);
    await carriers.pop()!.stop();
    expect(assigned()).toEqual(['all', 'all']);
    for (const what of ['neighbor', 'large-community']) expect(here.cli('policy', what), what).not.toContain('cnpd');
  });

  test('PNC-6-a: what comes from outside is marked, and believed by no router of the domain, whatever its AS_PATH says', async () => {
    const { here, leaf, heard } = await four();
    const [own, behind] = [
      await agent(here, [], { domain: [65_010] }),
      await agent(leaf, [], { domain: [65_010, 65_003] }),
    ];
    await established(heard.here, 3);
    await until('the policies are installed', () => own.carrier.session().policy, is('installed'), 60_000);
    await heard.outside.client.add([plainPath(FOREIGN)]);
    await heard.inside.client.add([plainPath(OWN)]);
    for (const one of [own, behind]) {
      await until('it is not believed', () => one.status(FOREIGN), 60_000);
      expect(await one.status(FOREIGN)).toMatch(/^(outside-domain|next-hop-mismatch)$/);
    }
    expect(heard.here.routes.get(FOREIGN)?.[0]).toMatchObject({ mark: 'outside', neighborAs: 65_003 });
    await until(
      'inside’s has come',
      () => heard.here.routes,
      (all) => all.has(OWN),
      60_000,
    );
    expect(heard.here.routes.get(OWN)?.[0]).not.toHaveProperty('mark');
  });

  test('neighbors that come later are outside until they are known to be of the domain; then they get all', async (context) => {
    needsCli(binary, context);
    const here = start(65_001, HERE, []);
    const heard = await listen(here);
    const own = await agent(here, [OWN], { domain: [65_010] });
    await settled(own);
    const [inside, outside] = [
      await listen(start(65_010, INSIDE, [{ address: HERE, as: 65_001 }])),
      await listen(start(65_003, OUTSIDE, [{ address: HERE, as: 65_001 }])),
    ];
    here.cli('neighbor', 'add', INSIDE, 'as', '65010');
    here.cli('neighbor', 'add', OUTSIDE, 'as', '65003');
    await established(heard, 2);
    await until(
      'inside has it',
      () => inside.routes,
      (all) => all.has(OWN),
      60_000,
    );
    await last(outside, inside);
    expect(outside.routes.has(OWN)).toBe(false);
    expect((await own.carrier.peers())?.map(({ as, inDomain }) => [as, inDomain]).sort()).toEqual([
      [65_003, false],
      [65_010, true],
    ]);
  });

  test('PNC-6-a: what gobgpd has sent out before cnpd was there is taken back; so after a restart of gobgpd', async () => {
    const { here, leaf, heard } = await four();
    await established(heard.here, 3);
    const behind = await agent(leaf, [LEAFS], { domain: [65_010] });
    await settled(behind);
    await until(
      'outside has it',
      () => heard.outside.routes,
      (all) => all.has(LEAFS),
      60_000,
    );
    const own = await agent(here, [OWN], { domain: [65_010] });
    await settled(own);
    await until(
      'it is taken back',
      () => heard.outside.routes,
      (all) => !all.has(LEAFS),
      60_000,
    );
    await until(
      'inside has it',
      () => heard.inside.routes,
      (all) => all.has(LEAFS),
      60_000,
    );
    await here.kill();
    await until('outside has lost all', () => heard.outside.routes.size, is(0), 60_000);
    here.start();
    await settled(own);
    await established(heard.here, 3);
    await until(
      'inside has both again',
      () => [OWN, LEAFS],
      (all) => all.every((text) => heard.inside.routes.has(text)),
      60_000,
    );
    await last(heard.outside, heard.inside);
    await until(
      'outside has neither',
      () => [OWN, LEAFS],
      (all) => !all.some((text) => heard.outside.routes.has(text)),
      60_000,
    );
  });

  test('while gobgpd hangs, who asks has an answer within a second, with what is known and the problem; and nothing is dropped', async () => {
    const { here, heard } = await four();
    await established(heard.here, 3);
    const own = await agent(here, [OWN], { domain: [65_010] });
    await settled(own);
    const known = (await own.carrier.peers())?.map(({ as }) => as).sort();
    here.signal('SIGSTOP');
    const since = performance.now();
    expect((await own.carrier.peers())?.map(({ as }) => as).sort()).toEqual(known);
    expect((await own.carrier.paths()).map(({ prefix: text }) => text)).toContain(OWN);
    expect(performance.now() - since).toBeLessThan(1000);
    await until(
      'it is reported',
      () => own.problems(),
      (all) => all.some((text) => text.includes('gobgpd does not answer (for') && text.includes('gobgp global')),
    );
    expect(own.carrier.session()).toMatchObject({ state: 'ready', originated: 1 });
    here.signal('SIGCONT');
    await until('it is over', () => own.problems().length, is(0), 60_000);
    expect(own.count('session.lost')).toBe(0);
  });

  test('cnpctl uninstall takes paths and policies of a killed cnpd out of gobgpd, and no others', async (context) => {
    needsCli(binary, context);
    const { here, heard } = await four();
    await established(heard.here, 3);
    const killed = await agent(here, [OWN], { domain: [65_010] });
    await settled(killed);
    await (killed.carrier as unknown as { client: { close(): Promise<void> } }).client.close();
    carriers.pop();
    here.cli('global', 'rib', 'add', FOREIGN, 'nexthop', '192.0.2.77');
    const runDir = mkdtempSync(join(network.directory, 'run-'));
    noteGobgp(runDir, {
      gobgp: { target: here.target, maxMessageBytes: 1 << 20 },
      domain: [65_010],
      confederation: [],
      policy: true,
    });
    const printed: string[] = [];
    expect(await uninstallGobgp(runDir, (line) => printed.push(line))).toBe(true);
    expect(printed).toEqual([expect.stringContaining("removed cnpd's paths and policies from gobgpd")]);
    for (const words of [['global', 'policy'], ['policy'], ['policy', 'neighbor']])
      expect(here.cli(...words), words.join(' ')).not.toContain('cnpd');
    expect(here.cli('global', 'rib')).not.toContain(OWN);
    expect(here.cli('global', 'rib')).toContain(FOREIGN);
    // Nothing more to do, nothing to say.
    expect({ uninstalled: await uninstallGobgp(runDir, (line) => printed.push(line)), lines: printed.length }).toEqual({
      uninstalled: true,
      lines: 1,
    });
    noteGobgp(runDir, {
      gobgp: { target: here.target, maxMessageBytes: 1 << 20 },
      domain: [],
      confederation: [],
      policy: true,
    });
    here.signal('SIGSTOP');
    expect({ uninstalled: await uninstallGobgp(runDir, (line) => printed.push(line)), last: printed.at(-1) }).toEqual({
      uninstalled: false,
      last: expect.stringContaining('cnpd-export'),
    });
  });

  test('a policy of that name that is not cnpd’s: it stays, no path is put in, and a problem shows why', async (context) => {
    needsCli(binary, context);
    const here = start(
      65_001,
      HERE,
      [],
      `[[policy-definitions]]
name = "cnpd-export"
[[policy-definitions.statements]]
name = "mine"
[policy-definitions.statements.actions]
route-disposition = "accept-route"
`,
    );
    const own = await agent(here, [OWN]);
    await until(
      'it is reported',
      () => own.problems(),
      (all) => all.some((text) => text.includes('policy named cnpd-export that is not cnpd’s'.replace('’', "'"))),
      60_000,
    );
    expect(own.carrier.session()).toMatchObject({ originated: 0, policy: 'failed' });
    await carriers.pop()!.stop();
    expect(here.cli('policy')).toContain('mine');
  });

  test.for([true, false])(
    'sets of those names that are not cnpd’s stay as they are, with policy %s',
    async (policy, context) => {
      needsCli(binary, context);
      const here = start(
        65_001,
        HERE,
        [],
        `[[defined-sets.neighbor-sets]]
neighbor-set-name = "cnpd-domain"
neighbor-info-list = ["192.0.2.99/32"]
[[defined-sets.bgp-defined-sets.large-community-sets]]
large-community-set-name = "cnpd-own"
large-community-list = ["^1:2:3$"]
`,
      );
      const own = await agent(here, [OWN], { policy });
      if (policy)
        await until(
          'it is reported',
          () => own.problems(),
          (all) => all.some((text) => text.includes("set named cnpd-own that is not cnpd's")),
          60_000,
        );
      else await settled(own);
      await carriers.pop()!.stop();
      expect(here.cli('policy', 'neighbor')).toContain('192.0.2.99/32');
      expect(here.cli('policy', 'large-community')).toContain('1:2:3');
    },
  );

  test('a cnpd that is killed leaves its policies, and the next one takes them over', async (context) => {
    needsCli(binary, context);
    const { here, heard } = await four();
    await established(heard.here, 3);
    const first = await agent(here, [OWN], { domain: [65_010] });
    await settled(first);
    // As kill -9: nothing is taken out.
    await (first.carrier as unknown as { client: { close(): Promise<void> } }).client.close();
    carriers.pop();
    expect(here.cli('global', 'policy', 'export')).toContain('cnpd-export');
    const second = await agent(here, [OWN], { domain: [65_010] });
    await settled(second);
    expect({ policy: second.carrier.session().policy, recalled: second.count('policy.recalled') }).toEqual({
      policy: 'installed',
      recalled: 0,
    });
    await last(heard.outside, heard.inside);
    expect(heard.outside.routes.has(OWN)).toBe(false);
  });

  test('PNC-6-a: members of a confederation get them, its neighbors outside do not; a member is known by what it sends, or by the file', async () => {
    const confederation = (members: readonly number[]): string =>
      `[global.confederation.config]\nenabled = true\nidentifier = 65000\nmember-as-list = [${members.join()}]\n`;
    const here = start(
      65_001,
      HERE,
      [
        { address: LEAF, as: 65_101 },
        { address: INSIDE, as: 65_102 },
        { address: OUTSIDE, as: 65_003 },
      ],
      confederation([65_101, 65_102]),
    );
    const member = await listen(start(65_101, LEAF, [{ address: HERE, as: 65_001 }], confederation([65_001, 65_102])));
    const declared = await listen(
      start(65_102, INSIDE, [{ address: HERE, as: 65_001 }], confederation([65_001, 65_101])),
    );
    const outside = await listen(start(65_003, OUTSIDE, [{ address: HERE, as: 65_000 }]));
    const heard = await listen(here);
    await established(heard, 3);
    const own = await agent(here, [OWN], { confederation: [65_102] });
    await settled(own);
    await until(
      'the declared one has it',
      () => declared.routes,
      (all) => all.has(OWN),
      60_000,
    );
    await member.client.add([plainPath(LEAFS)]);
    await until(
      'the other has shown what it is',
      () => member.routes,
      (all) => all.has(OWN),
      60_000,
    );
    await last(outside, declared);
    expect(outside.routes.has(OWN)).toBe(false);
    expect((await own.carrier.peers())?.map(({ as, inDomain }) => [as, inDomain]).sort()).toEqual([
      [65_003, false],
      [65_101, true],
      [65_102, true],
    ]);
  });
});
