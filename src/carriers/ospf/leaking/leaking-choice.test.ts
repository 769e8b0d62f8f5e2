// What is copied between areas of what several say, who copies it, and what may cross (RFC 2328 §12.4.3).
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { origination } from '../../../model/advertisement.fixture.ts';
import {
  BORDER,
  CORE,
  FAR,
  LEAF,
  type Offer,
  SECOND,
  SETTLED,
  VERSIONS,
  entriesOf,
  hear,
  line,
} from './leaking.fixture.ts';
import { prefixesOf } from '../kinds/reading.fixture.ts';
import {
  ContentAgent,
  ContentNet,
  contentConfig,
  declaration,
  named,
  proxyAddress,
  routerLsa,
  senderPrefix,
} from '../content.fixture.ts';

describe.each(VERSIONS)('OSPFv%d', (version) => {
  const METRICS: readonly [string, readonly Offer[], number][] = [
    [
      'lower metric, whatever its proxy',
      [
        { metric: 5, proxy: 2 },
        { metric: 9, proxy: 1, router: FAR },
      ],
      2,
    ],
    [
      'lower metric, though it comes later',
      [
        { metric: 9, proxy: 1 },
        { metric: 5, proxy: 2, router: FAR },
      ],
      2,
    ],
  ];
  test.each<[string, readonly Offer[], number]>([
    ['lower proxy address', [{ proxy: 2 }, { proxy: 1, router: FAR }], 1],
    ['lower proxy address, though it comes first', [{ proxy: 1 }, { proxy: 2, router: FAR }], 1],
    ['what names a proxy', [{ proxy: 0 }, { proxy: 2, router: FAR }], 2],
    ['what names a proxy, though it comes first', [{ proxy: 2 }, { proxy: 0, router: FAR }], 2],
    ['what names none, if that is all', [{ proxy: 0 }, { proxy: 0, router: FAR }], 0],
    ...(version === 3 ? METRICS : []),
  ])('D7: of what several routers of an area say is copied: the %s', (_what, offers, proxy) => {
    const scene = line(version);
    scene.net.agent(FAR, [1]);
    scene.net.run(SETTLED);
    hear(scene, offers);
    scene.border.pass(SETTLED);
    expect(entriesOf(scene.border, 0).map((entry) => entry.proxy && formatAddress(entry.proxy))).toEqual([
      proxy > 0 ? proxyAddress(version, proxy) : undefined,
    ]);
  });

  test('intra-area comes before inter-area, whatever the proxy (RFC 2328 §11)', () => {
    const net = new ContentNet(version);
    const [leaf, far, other] = [net.agent(LEAF, [1]), net.agent(FAR, [2]), net.agent(0x07070707, [3])];
    // It copies into the backbone before the border does, which has the higher router ID.
    net.agent(0x01800000, [0, 3]);
    const border = net.agent(BORDER, [0, 1, 2]);
    net.declare(other, declaration(version, [1], 7));
    net.run(2 * SETTLED);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, BORDER)} ${proxyAddress(version, 7)}`]);
    net.declare(leaf, declaration(version, [1], 9));
    net.run(2 * SETTLED);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, BORDER)} ${proxyAddress(version, 9)}`]);
    expect(entriesOf(border, 0)).toEqual([]);
  });

  test.each<[Offer['route'] & string, number, readonly number[]]>([
    ['intra-area', 1, [0, 2]],
    ['intra-area', 0, [1, 2]],
    ['inter-area', 1, []],
    ['inter-area', 0, [1, 2]],
  ])('A15: what is %s in area %i is copied into %j (RFC 2328 §12.4.3)', (route, from, into) => {
    const { net, border } = line(version, [0, 1, 2]);
    net.agent(FAR, [2]);
    net.run(SETTLED);
    hear({ net, border }, [{ areaId: from, router: from === 0 ? CORE : LEAF, route, proxy: 3 }]);
    border.pass(3 * SETTLED);
    expect([0, 1, 2].filter((areaId) => entriesOf(border, areaId).length > 0)).toEqual(into);
  });

  test('of two routers that advertise a prefix one withdraws it: it is copied as the other advertises it, and goes with that one', () => {
    const scene = line(version);
    const { net, border } = scene;
    net.agent(FAR, [1]);
    net.run(SETTLED);
    hear(scene, [{ proxy: 1 }, { proxy: 2, router: FAR }]);
    border.pass(SETTLED);
    const copied = (): string[] => entriesOf(border, 0).map(({ proxy }) => formatAddress(proxy!));
    expect(copied()).toEqual([proxyAddress(version, 1)]);
    for (const [router, left] of [
      [LEAF, [proxyAddress(version, 2)]],
      [FAR, []],
    ] as const) {
      const [, lsa] = [...border.content.areas.get(1)!.lsas].find(
        ([, { key, content }]) => key.advertisingRouter === router && prefixesOf(content).some(({ pnc }) => pnc),
      )!;
      border.event({ type: 'database', areaId: 1, key: lsa.key });
      border.pass(SETTLED);
      expect(copied()).toEqual(left);
    }
    expect({
      carried: border.count('carry.carried'),
      withdrawn: border.count('carry.withdrawn'),
      offered: border.content.interArea.offered.get(1)!.size,
      offers: border.content.interArea.offers.get(1)!.size,
    }).toEqual({ carried: 1, withdrawn: 1, offered: 0, offers: 0 });
  });

  test('D6: what names no proxy is copied with the address that its router has for traffic engineering', () => {
    const scene = line(version);
    hear(scene, [{ proxy: 0 }]);
    const router = new ContentAgent(contentConfig(version, LEAF, [1]));
    router.declares(origination({ routerAddresses: [address(proxyAddress(version, 9))] }));
    const [te] = router.advertised.get(1)!;
    scene.border.hears(1, LEAF, te!);
    scene.border.pass(SETTLED);
    expect(entriesOf(scene.border, 0).map(({ proxy }) => formatAddress(proxy!))).toEqual([proxyAddress(version, 9)]);
  });

  test.each([
    ['higher', FAR],
    ['lower', LEAF],
  ])(
    'A15: what a router of the target area advertises itself is not copied there, be its router ID %s than ours',
    (_which, router) => {
      const net = new ContentNet(version);
      const [leaf, core, border] = [net.agent(router, [1]), net.agent(router + 1, [0]), net.agent(BORDER, [0, 1])];
      net.declare(leaf, declaration(version, [1], 7));
      net.declare(core, declaration(version, [1], 8));
      net.run(3 * SETTLED);
      expect({ area0: entriesOf(border, 0), area1: entriesOf(border, 1) }).toEqual({ area0: [], area1: [] });
      // The leaf ceases to: what the backbone's own router advertises is no echo, and need not wait.
      net.declare(leaf, declaration(version, []));
      net.run(3000);
      expect(entriesOf(border, 1).map(({ proxy }) => formatAddress(proxy!))).toEqual([proxyAddress(version, 8)]);
    },
  );

  test('a border agent with a higher router ID gives way when one with a lower one comes', () => {
    const net = new ContentNet(version);
    const [leaf, second] = [net.agent(LEAF, [1]), net.agent(SECOND, [0, 1])];
    net.declare(leaf, declaration(version, [1], 7));
    net.run(2 * SETTLED);
    expect(entriesOf(second, 0)).toHaveLength(1);
    const border = net.agent(BORDER, [0, 1]);
    net.run(3 * SETTLED);
    expect({ border: entriesOf(border, 0).length, second: entriesOf(second, 0).length }).toEqual({
      border: 1,
      second: 0,
    });
  });

  test('a copy of a copy is taken over as soon: it is no echo of what the area advertises itself', () => {
    const { net, leaf } = line(version);
    const [second, third, far] = [net.agent(SECOND, [0, 2]), net.agent(FAR, [0, 2]), net.agent(0x06060606, [2])];
    net.declare(leaf, declaration(version, [1], 7));
    net.run(3 * SETTLED);
    expect({ second: entriesOf(second, 2).length, third: entriesOf(third, 2).length }).toEqual({ second: 1, third: 0 });
    net.kill(second);
    net.run(SETTLED);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, FAR)} ${proxyAddress(version, 7)}`]);
  });

  test('a neighbor that comes late gets what other areas advertised before', () => {
    const net = new ContentNet(version);
    const border = net.agent(BORDER, [0, 1], {}, [0]);
    const [core, leaf] = [net.agent(CORE, [0]), net.agent(LEAF, [1])];
    net.declare(core, declaration(version, [1], 8));
    net.run(3 * SETTLED);
    expect(entriesOf(border, 1)).toEqual([]);
    net.join(border, 1);
    net.run(2 * SETTLED);
    expect(leaf.learned(senderPrefix(version, 1))).toEqual([`${named(1, BORDER)} ${proxyAddress(version, 8)}`]);
  });

  test('an agent in one area keeps nothing to copy, whatever it hears and whoever is lost', () => {
    const net = new ContentNet(version);
    const [leaf, core] = [net.agent(LEAF, [0]), net.agent(CORE, [0])];
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    net.kill(leaf);
    core.hears(0, LEAF, routerLsa(version, LEAF, []));
    net.declare(core, declaration(version, [2], 7));
    net.declare(core, declaration(version, []));
    net.run(3 * SETTLED);
    expect({
      offersSize: core.content.interArea.offers.size,
      offeredSize: core.content.interArea.offered.size,
      dueAt: core.content.interArea.queue.dueAt,
    }).toEqual({ offersSize: 0, offeredSize: 0, dueAt: Infinity });
  });
});
