// End.MT over OSPFv3 with real FRR: members and SIDs are learned, the tree branches at the router between, and a
// transfer with loss reaches everybody. A link behind that router is narrower than the rest: the source is notified.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { GROUP, GroupScene, PLACES, SOURCE, groupIntent, locatorOf, sidOf } from './support/group.ts';
import type { GroupRouter } from './support/group.ts';
import { until } from '../support/until.ts';

const ROUTERS = Object.keys(PLACES) as GroupRouter[];
const TIMERS = { 'hello-interval': '1s', 'dead-interval': '4s', 'retransmit-interval': '1s' };
const LINK = 'cnpd-ospf6-0';

/** What FRR is configured with: all links in one area, and the locator as a static route. */
function frr(name: GroupRouter): string[] {
  const { n, core, hosts } = PLACES[name];
  const at = (port: string, ...lines: readonly string[]): string[] =>
    [`interface ${port}`, ...['area 0.0.0.0', ...lines].map((line) => `ipv6 ospf6 ${line}`), 'exit'].flat();
  return [
    'configure terminal',
    `ipv6 route ${locatorOf(name)} blackhole`,
    'router ospf6',
    `ospf6 router-id 192.0.2.${n}`,
    'timers throttle spf 0 50 500',
    'timers lsa min-arrival 0',
    'redistribute static',
    'exit',
    ...['lo', ...hosts].flatMap((port) => at(port, 'passive')),
    ...[...core, LINK].flatMap((port) =>
      at(port, 'network point-to-point', 'hello-interval 1', 'dead-interval 4', 'retransmit-interval 1'),
    ),
  ];
}

const intent = (name: GroupRouter): object => ({
  ...groupIntent(name),
  ospfv3: {
    'router-id': `192.0.2.${200 + PLACES[name].n}`,
    areas: [{ area: '0.0.0.0', interface: LINK }],
    ...TIMERS,
  },
});

let scene: GroupScene;
beforeAll(async () => {
  scene = await GroupScene.up('ospf');
  await Promise.all(
    ROUTERS.map(async (name) => {
      await scene.net.router(name).frr(...frr(name));
      await scene.net.router(name).start(intent(name));
    }),
  );
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(scene.net.logs());
});
afterAll(() => scene?.down());

test('RMC-5.1-d RMC-5.2-c RMC-5.3.1-a: members are learned over OSPFv3, the tree branches between root and edges, and everybody has every byte', async () => {
  for (const router of ['root', 'edge1', 'edge2'] as const) await scene.knows(router, 'ospfv3');
  await scene.tree();
  const [root, mid] = [sidOf('root'), sidOf('mid')];
  expect(await scene.treeAt('root')).toEqual([
    `root ${root}`,
    `${root} → branching ${mid}`,
    `${mid} → edge ${sidOf('edge1')} 2001:db8:11::2 2001:db8:12::2`,
    `${mid} → edge ${sidOf('edge2')} 2001:db8:13::2`,
  ]);
  await scene.transfer(400_000);
  expect(await scene.net.router('mid').counter('multicast.branching.packets')).toBeGreaterThan(390);
});

test('RMC-5.2-c: of a link behind the branching router that is too narrow the root is notified, and notifies the source', async () => {
  const port = await scene.net.port('s1:eth1', 'root:eth1');
  await scene.net.router('mid').exec('ip', 'link', 'set', 'eth2', 'mtu', '1500');
  // Of 1,464 octets: they pass the link of the source, and with what the root adds no more than 1,500 octets pass mid.
  const source = scene.endpoint('s1', 'source', [
    ...['--qpn', String(SOURCE.qpn), '--to', `${GROUP}/4096`, '--bytes', '20000b', '--payload', '1400'],
    ...['--timeout', '200ms', '--retries', '1000'],
  ]);
  const tooBig = (): number[] =>
    port.packets.flatMap((packet) => {
      const parsed = parseIcmpv6(packet);
      if (!parsed.ok || parsed.value.type !== 2) return [];
      return [new DataView(parsed.value.message.buffer, parsed.value.message.byteOffset).getUint32(4)];
    });
  await until('s1 is notified', tooBig, (mtus) => mtus.length > 0);
  await source.stop();
  // What the source may send: the MTU of the path without an IPv6 header and the SRH. There is room for the receivers.
  const [mtu] = tooBig();
  expect(mtu).toBe(1500 - 40 - 64 - 112);
  expect(await scene.net.router('mid').counter('groups.too-big.passed-on')).toBeGreaterThan(0);
  expect(await scene.net.router('root').counter('multicast.packet-too-big')).toBeGreaterThan(0);
});
