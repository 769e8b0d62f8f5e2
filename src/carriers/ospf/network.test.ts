// What the link to FRR is made of in either version, and what the runner hears of it. Nothing is started: the link is
// the one of router-link.edge.ts, whose work the end-to-end tests show.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { manualClock } from '../../model/clock.ts';
import { silentLog } from '../../model/log.ts';
import type { Poller } from '../../kernel/poller.ts';
import { LINK_LOCAL_ONLY, NO_IPV6, OUR_END, ifindexOf, linkLocalOf } from '../router-link.edge.ts';
import { OspfNetwork, type OspfNetworkOptions } from './network.ts';
import type { OspfRunner } from './runner.edge.ts';
import { OSPFV2, OSPFV3 } from './version.ts';

const ADDRESSES = { router: address('169.254.89.0'), own: address('169.254.89.1'), length: 31 };
const OPTIONS: OspfNetworkOptions = {
  ...{ areaId: 5, index: 3, interface: 'cnpd-ospf3', mtu: 1400, addresses: ADDRESSES },
  suite: 'holo',
};

interface Inside {
  readonly link: {
    readonly opts: object;
    readonly dependencies: { open(netns: unknown): { close(): void }; onUp(): void; onDown(reason: string): void };
  };
}

function scene(version = OSPFV2, rest: Partial<OspfNetworkOptions> = {}) {
  const heard: unknown[] = [];
  const runner = {
    speaker: { config: { version } },
    linkUp: (what: object) => heard.push(what),
    linkDown: (...what: unknown[]) => heard.push(what),
  } as unknown as OspfRunner;
  const dependencies = { poller: {} as Poller, clock: manualClock(), log: silentLog, count: () => undefined };
  const network = new OspfNetwork({ ...OPTIONS, ...rest }, runner, dependencies);
  return { heard, ...(network as unknown as Inside).link };
}
const mac = (version: number, last: number): Uint8Array => Uint8Array.of(0x02, 0x63, 0x6e, 0x70, version, last);

describe('the link', () => {
  test('OSPFv2: has IPv4 addresses on both ends and no IPv6, and MAC addresses of its own', () => {
    expect(scene().opts).toEqual({
      ...{ protocol: 'OSPFv2', prefix: 'ospfv2', interface: 'cnpd-ospf3', mtu: 1400, netns: undefined },
      ...{ suite: 'holo', routerMac: mac(2, 7), ourMac: mac(2, 8), ourSysctls: NO_IPV6, addresses: ADDRESSES },
    });
  });

  test('OSPFv3: has link-local addresses alone', () => {
    const { opts } = scene(OSPFV3);
    expect(opts).toEqual({
      ...{ protocol: 'OSPFv3', prefix: 'ospfv3', interface: 'cnpd-ospf3', mtu: 1400, netns: undefined },
      ...{ suite: 'holo', routerMac: mac(3, 7), ourMac: mac(3, 8), ourSysctls: LINK_LOCAL_ONLY },
    });
    expect(opts).not.toHaveProperty('addresses');
  });

  test('OSPFv2 without addresses is a mistake of the caller, OSPFv3 has none', () => {
    expect(() => scene(OSPFV2, { addresses: undefined })).toThrow(RangeError);
    expect(() => scene(OSPFV3, { addresses: undefined })).not.toThrow();
  });
});

describe('the runner hears', () => {
  test.each([
    ['OSPFv2', OSPFV2, ADDRESSES.own, ADDRESSES],
    ['OSPFv3', OSPFV3, linkLocalOf(mac(3, 8)), undefined],
  ] as const)('%s: when our end is there, with which address', (_name, version, own, addresses) => {
    const { heard, dependencies } = scene(version, { addresses });
    const netns = {};
    dependencies.open(netns).close();
    dependencies.onUp();
    expect(heard).toEqual([{ areaId: 5, interface: OUR_END, netns, address: own, peer: addresses?.router }]);
  });

  test('when it is gone, and why', () => {
    const { heard, dependencies } = scene();
    dependencies.onDown('another program deleted it');
    expect(heard).toEqual([[5, 'another program deleted it']]);
  });
});

test('each link has an interface index of its own, always the same, that the kernel hands out to nobody', () => {
  const indexes = [mac(2, 1), mac(2, 3), mac(3, 1), Uint8Array.of(2, 0x63, 0x6e, 0x70, 0, 1)].map(ifindexOf);
  expect(indexes).toEqual([0x6e70_0201, 0x6e70_0203, 0x6e70_0301, 0x6e70_0001]);
});
