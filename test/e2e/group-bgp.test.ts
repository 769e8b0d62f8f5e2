// End.MT where BGP is the only routing protocol: FRR as route reflector between gobgpds, each beside a cnpd. Nobody
// knows a topology, so the root makes a copy for each edge itself (ingress replication).
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { GroupScene, PLACES, groupIntent, loopbackOf, locatorOf, sidOf } from './support/group.ts';
import type { GroupRouter } from './support/group.ts';
import type { Router } from './support/network.ts';
import { contains, until } from '../support/until.ts';

const LEAVES = ['root', 'edge1', 'edge2'] as const;
/** The link between a leaf and the reflector. */
const linkOf = (name: GroupRouter): string => `2001:db8:0:${PLACES[name].n}::`;
const HOSTS: Readonly<Record<(typeof LEAVES)[number], readonly string[]>> = {
  root: ['2001:db8:1::/64'],
  edge1: ['2001:db8:11::/64', '2001:db8:12::/64'],
  edge2: ['2001:db8:13::/64'],
};

/** gobgpd's file. FRR connects to it: gobgpd itself tries only every ten seconds. */
const gobgpd = (name: GroupRouter): string => `[global.config]
  as = 65001
  router-id = "192.0.2.${PLACES[name].n}"
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${linkOf(name)}2"
    peer-as = 65001
  [neighbors.transport.config]
    passive-mode = true
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-unicast"
`;

/** The reflector. It knows the leaves' loopbacks, which are the next hops of cnpd's paths, and learns all else. */
const REFLECTOR = [
  'configure terminal',
  ...LEAVES.map((name) => `ipv6 route ${loopbackOf(name)}/128 ${linkOf(name)}1`),
  'router bgp 65001',
  'bgp router-id 192.0.2.2',
  'no bgp default ipv4-unicast',
  ...LEAVES.flatMap((name) => [
    `neighbor ${linkOf(name)}1 remote-as 65001`,
    `neighbor ${linkOf(name)}1 timers connect 1`,
    `neighbor ${linkOf(name)}1 advertisement-interval 0`,
  ]),
  'address-family ipv6 unicast',
  ...LEAVES.flatMap((name) => [
    `neighbor ${linkOf(name)}1 activate`,
    `neighbor ${linkOf(name)}1 route-reflector-client`,
  ]),
];

/** gobgpd knows nothing of the kernel: all that is not behind the leaf goes to the reflector. */
async function startLeaf(scene: GroupScene, name: (typeof LEAVES)[number]): Promise<void> {
  const router: Router = scene.net.router(name);
  await router.exec('ip', '-6', 'route', 'add', 'default', 'via', `${linkOf(name)}2`, 'src', loopbackOf(name));
  await router.exec('ip', '-6', 'route', 'add', 'blackhole', locatorOf(name));
  await scene.net.lab.mustExec(name, ['sh', '-c', 'cat > /run/gobgpd.toml'], { input: gobgpd(name) });
  const options = ['-f', '/run/gobgpd.toml', '--api-hosts', '127.0.0.1:50051', '--pprof-disable', '--disable-stdlog'];
  scene.net.lab.spawn(name, ['gobgpd', ...options], { stdio: 'ignore' });
  await until(
    `${name}: gobgpd answers`,
    () => scene.net.lab.exec(name, ['gobgp', 'global']),
    ({ code }) => code === 0,
  );
  for (const prefix of [locatorOf(name), ...HOSTS[name]])
    await router.exec('gobgp', 'global', 'rib', 'add', prefix, '-a', 'ipv6', 'nexthop', loopbackOf(name));
  await router.start({ ...groupIntent(name), bgp: {} });
}

let scene: GroupScene;
beforeAll(async () => {
  scene = await GroupScene.up('bgp');
  await Promise.all([scene.net.router('mid').frr(...REFLECTOR), ...LEAVES.map((name) => startLeaf(scene, name))]);
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(scene.net.logs());
});
afterAll(() => scene?.down());

test('RMC-5.1-d RMC-5.3.1-a: members are learned over BGP, the root makes the copies itself, and everybody has every byte', async () => {
  for (const router of LEAVES) await scene.knows(router, 'bgp');
  await scene.tree();
  for (const prefix of LEAVES.map(locatorOf))
    await until(
      `the reflector has a route to ${prefix}`,
      () => scene.net.router('mid').exec('ip', '-6', 'route', 'show', prefix),
      contains('proto bgp'),
      60_000,
    );
  const root = sidOf('root');
  expect(await scene.treeAt('root')).toEqual([
    `root ${root}`,
    `${root} → edge ${sidOf('edge1')} 2001:db8:11::2 2001:db8:12::2`,
    `${root} → edge ${sidOf('edge2')} 2001:db8:13::2`,
  ]);
  expect(await scene.net.router('root').show('groups')).toMatchObject([{ tree: 'flat' }]);
  await scene.transfer(400_000);
});
