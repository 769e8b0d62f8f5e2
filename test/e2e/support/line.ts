// The intents of the routers in topologies/line, with timers short enough for tests.
import { type Network, type Router, anyUp } from './network.ts';
import { until } from '../../support/until.ts';

export const H1 = { v6: '2001:db8:1::2', v4: '198.51.100.2' } as const;
export const H2 = { v6: '2001:db8:2::2', v4: '203.0.113.2' } as const;
export const SENDERS6 = '2001:db8:1::/64';
export const SENDERS4 = '198.51.100.0/24';
export const LOOPBACK = {
  leaf: { ipv6: '2001:db8:ffff::1', ipv4: '192.0.2.1' },
  p: { ipv6: '2001:db8:ffff::2', ipv4: '192.0.2.2' },
  far: { ipv6: '2001:db8:ffff::3', ipv4: '192.0.2.3' },
} as const;
export const SYSTEM = { leaf: '0000.0000.c001', p: '0000.0000.c002', far: '0000.0000.c003' } as const;

type RouterName = keyof typeof LOOPBACK;
/** Key of the map that senders are looked up in: prefix length of the IPv6-mapped form, little-endian, and address. */
export const KEY = {
  [SENDERS6]: '4000000020010db8000100000000000000000000',
  [SENDERS4]: '7800000000000000000000000000ffffc6336400',
} as const;

/** Identity and carrier. `isis` adds to the section. */
export const base = (name: RouterName, isis: object = {}): object => ({
  router: { name, loopback: LOOPBACK[name] },
  isis: {
    'system-id': SYSTEM[name],
    area: '49.0001',
    level: 2,
    interface: 'cnpd-isis',
    'hello-interval': '1s',
    ...isis,
  },
});

export const proxy = (name: RouterName, fields: object = {}): object => ({
  proxy: {
    address: LOOPBACK[name].ipv6,
    senders: [SENDERS6, SENDERS4].map((prefix) => ({ prefix, format: 'standard-cnp' })),
    'accept-from': ['2001:db8:ffff::/48', '192.0.2.0/24'],
    ...fields,
  },
});

export const watching = (fields: object = {}): object => ({
  ports: [{ interface: 'eth2', 'k-max': '20kB', ...fields }],
});

/** Waits until the routers' agents are neighbors of FRR. */
export const adjacent = (net: Network, ...names: string[]): Promise<unknown> =>
  Promise.all(names.map((name) => until(`${name} is a neighbor of FRR`, () => net.router(name).neighbors(), anyUp)));

/** The proxies that a router has learned for h1's prefixes, and whether it watches its port. */
export const proxiesAndPort = async (router: Router): Promise<object> => ({
  [SENDERS6]: (await router.sender(SENDERS6))?.['proxy'],
  [SENDERS4]: (await router.sender(SENDERS4))?.['proxy'],
  attached: (await router.get('ports'))[0]?.['attached'],
});
/** The same once the router has learned this proxy for both prefixes and watches its port. */
export const learnedProxy = (proxyAddress: string = LOOPBACK.leaf.ipv6): object => ({
  [SENDERS6]: proxyAddress,
  [SENDERS4]: proxyAddress,
  attached: true,
});

const ROUTES = [
  '2001:db8:1::/64',
  '2001:db8:2::/64',
  '198.51.100.0/24',
  '203.0.113.0/24',
  ...Object.values(LOOPBACK).flatMap(({ ipv6, ipv4 }) => [ipv6, ipv4]),
];

/** Waits until FRR has put every route into every router's kernel. */
export const routed = (net: Network): Promise<unknown> =>
  Promise.all(
    (['leaf', 'p', 'far'] as const).map((name) =>
      until(
        `${name} has all routes`,
        () => net.router(name).exec('sh', '-c', 'ip -6 route; ip route'),
        (table) => {
          const { ipv6, ipv4 } = LOOPBACK[name];
          return ROUTES.every((route) => route === ipv6 || route === ipv4 || table.includes(`${route} `));
        },
      ),
    ),
  );
