// The scenes of OSPF with everything real: cnpd beside ospfd, beside ospf6d and beyond a BIRD router. What the proxy
// declares arrives at the congested node with the proxy's address, and goes when the proxy withdraws it.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Lab, labDown, labUp } from '../../src/lab/lab.ts';
import { packageRoot } from '../../src/lab/program.ts';
import { agentOf, askAgent } from './support/agents.ts';
import { ownLabName } from './support/network.ts';
import { is, until } from '../support/until.ts';

/** FRR and BIRD say hello every ten seconds, and the flag crosses four adjacencies. */
const LIMIT_MS = 120_000;

interface Sender {
  readonly prefix: string;
  readonly proxy?: string;
  readonly carrier: string;
  readonly best: boolean;
  readonly 'held-until'?: string;
}

/** By cnpctl. */
const ask = async <T>(lab: Lab, node: string, ...args: string[]): Promise<T | undefined> => {
  const { stdout } = await lab.exec(node, ['cnpctl', '-o', 'json', ...args]);
  return stdout.startsWith('{') || stdout.startsWith('[') ? (JSON.parse(stdout) as T) : undefined;
};
const senders = (lab: Lab): Promise<Sender[] | undefined> => askAgent<Sender[]>(lab, 'p1', 'senders');
const withProxy =
  (prefix: string) =>
  (rows: readonly Sender[] | undefined): Sender | undefined =>
    rows?.find((s) => s.prefix === prefix && s.proxy !== undefined);
const proxyOf = async (lab: Lab, prefix: string): Promise<Sender | undefined> => withProxy(prefix)(await senders(lab));

const SCENES = [
  {
    name: 'ospfv2',
    prefix: '198.51.100.0/24',
    proxy: '192.0.2.1',
    show: 'ospfv2',
    lsa: 'show ip ospf database opaque-area',
    sees: /192\.0\.2\.201/,
  },
  {
    name: 'ospfv3',
    prefix: '2001:db8:1::/64',
    proxy: '2001:db8:ffff::1',
    show: 'ospfv3',
    lsa: 'show ipv6 ospf6 database',
    sees: /192\.0\.2\.201/,
  },
] as const;

describe.each(SCENES)('the scene $name', ({ name, prefix, proxy, show, lsa, sees }) => {
  let lab: Lab;
  /** The scene as it is shipped, under a name of this run. */
  const own = ownLabName(`t-scene-${name}`);
  beforeAll(async () => {
    lab = await labUp(join(packageRoot(), 'containerlab', name, `${name}.clab.yml`), { name: await own });
  });
  afterAll(async () => labDown(await own));

  if (name === 'ospfv2') {
    test('an ospfd that loses `capability opaque` is a problem with its remedy, and the mapping is back once it has it again', async () => {
      const problems = async (node: string) =>
        (await askAgent<{ problems?: { feature: string; problem: string; remedy: string }[] }>(lab, node, 'status'))
          ?.problems ?? [];
      await until('p1 knows the proxy', () => senders(lab), withProxy(prefix), LIMIT_MS);
      const opaque = (line: string) =>
        lab.mustExec('leaf1', ['vtysh', '-c', 'configure terminal', '-c', 'router ospf', '-c', line]);
      await opaque('no capability opaque');
      const found = await until(
        'leaf1 shows it',
        () => problems('leaf1'),
        (all) => all.find(({ problem }) => problem.includes('opaque')),
        LIMIT_MS,
      );
      expect(found).toMatchObject({ feature: 'ospfv2', remedy: expect.stringContaining("-c 'capability opaque'") });
      await opaque('capability opaque');
      await until('leaf1 has no problem left', async () => (await problems('leaf1')).length, is(0), LIMIT_MS);
      expect(await until('p1 knows the proxy again', () => senders(lab), withProxy(prefix), LIMIT_MS)).toMatchObject({
        proxy,
      });
    });

    test('a reload takes the carrier away and brings it back; what it taught is held meanwhile, and no veth is left', async () => {
      const yaml = await lab.mustExec('p1', ['cat', '/etc/cnpd/cnpd.yaml']);
      const reload = async (more: string): Promise<void> => {
        const text = yaml.replace('ospfv2:\n', `ospfv2:\n${more}`);
        await lab.mustExec('p1', ['sh', '-c', 'printf %s "$0" > /etc/cnpd/cnpd.yaml', text]);
        expect(await ask(lab, 'p1', 'reload')).toMatchObject({ ok: true, errors: [], changed: ['ospfv2'] });
      };
      await until('p1 knows the proxy', () => senders(lab), withProxy(prefix), LIMIT_MS);
      // The file of the scene is bound there; what is written goes into the node's own overlay.
      await lab.mustExec('p1', ['umount', '-n', '/etc/cnpd/cnpd.yaml']);
      await reload('  enabled: off\n');
      expect(await ask(lab, 'p1', 'show', 'ospfv2', 'neighbors')).toEqual([]);
      await expect(lab.mustExec('p1', ['ip', 'link', 'show', 'cnpd-ospf0'])).rejects.toThrow(/does not exist/);
      expect(await proxyOf(lab, prefix)).toMatchObject({ proxy, 'held-until': expect.any(String) });
      await reload('');
      const known = await until(
        'p1 has heard of the proxy anew',
        () => proxyOf(lab, prefix),
        (sender) => sender && !sender['held-until'] && sender,
        LIMIT_MS,
      );
      expect(known).toMatchObject({ proxy, carrier: 'ospfv2', best: true });
    });
  }

  // The last: it ends an agent.
  test(`PNC-5.2-a, PNC-5.2-d, PNC-5.3-a, PNC-5.3-d: p1 learns in ${name} who is the proxy of h1, FRR has what cnpd needs, and a clean stop withdraws it`, async () => {
    expect(await until('p1 knows the proxy', () => senders(lab), withProxy(prefix), LIMIT_MS)).toMatchObject({
      proxy,
      carrier: name,
      best: true,
    });
    for (const node of ['leaf1', 'p1']) {
      expect(await ask(lab, node, 'show', show, 'neighbors')).toMatchObject([
        { area: '0.0.0.0', state: 'full', 'takes-opaque': true, mtu: 1500 },
      ]);
      const { items } = (await ask<{ items: { id: string; state: string }[] }>(
        lab,
        node,
        'doctor',
        '-c',
        '/etc/cnpd/cnpd.yaml',
      ))!;
      expect(items.filter(({ id, state }) => id.startsWith('frr.') && state !== 'ok')).toEqual([]);
    }
    const database = (await ask<{ own: boolean; 'proxy-prefixes': number }[]>(lab, 'leaf1', 'show', show, 'database'))!;
    expect(database.filter((row) => row.own && row['proxy-prefixes'] === 1)).toHaveLength(1);
    expect(await ask(lab, 'leaf1', 'show', 'proxies')).toMatchObject([{ 'advertised-in': [name] }]);
    expect(await lab.mustExec('p1', ['vtysh', '-c', lsa])).toMatch(sees);

    process.kill(agentOf(lab, 'leaf1')!, 'SIGTERM');
    await until('p1 forgets the proxy', () => proxyOf(lab, prefix), is(undefined), LIMIT_MS);
  });
});
