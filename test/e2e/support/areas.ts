// The intents of the routers in topologies/areas, for one version of OSPF at a time, with timers short enough for
// tests.
import type { Network, Router, Row } from './network.ts';
import { until } from '../../support/until.ts';

export type AreaRouter = 'leaf' | 'abr1' | 'abr2' | 'core';

/** cnpd's, not FRR's: abr1 has the lower one of the two border routers. */
export const ROUTER_ID: Readonly<Record<AreaRouter, string>> = {
  leaf: '192.0.2.201',
  abr1: '192.0.2.211',
  abr2: '192.0.2.212',
  core: '192.0.2.202',
};
const BACKBONE = '0.0.0.0';
export const AREA = '0.0.0.1';
const AREAS: Readonly<Record<AreaRouter, readonly string[]>> = {
  leaf: [AREA],
  abr1: [BACKBONE, AREA],
  abr2: [BACKBONE, AREA],
  core: [BACKBONE],
};

/** What is named differently in the two versions. */
export interface Protocol {
  /** Of the section in cnpd.yaml, of the carrier, and of its counters. */
  readonly name: 'ospfv2' | 'ospfv3';
  /** After `cnpctl show`. */
  readonly command: 'ospfv2' | 'ospfv3';
  readonly daemon: 'ospfd' | 'ospf6d';
  /** FRR's end of the link to cnpd, of the nth area. */
  link(n: number): string;
  readonly proxy: Readonly<Record<AreaRouter, string>>;
  readonly acceptFrom: string;
  /** Where leaf's senders are: an ordinary prefix of its FRR. */
  readonly senders: string;
  /** Another ordinary prefix of leaf's FRR, which no agent flags. */
  readonly plain: string;
  /** The nth prefix that FRR knows nothing of. */
  prefix(n: number): string;
}

export const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'ospfv2',
    command: 'ospfv2',
    daemon: 'ospfd',
    link: (n) => `cnpd-ospf${n}`,
    proxy: { leaf: '192.0.2.1', abr1: '192.0.2.11', abr2: '192.0.2.12', core: '192.0.2.2' },
    acceptFrom: '192.0.2.0/24',
    senders: '198.51.100.0/24',
    plain: '192.0.2.1/32',
    prefix: (n) => `10.${n}.0.0/16`,
  },
  {
    name: 'ospfv3',
    command: 'ospfv3',
    daemon: 'ospf6d',
    link: (n) => `cnpd-ospf6-${n}`,
    proxy: { leaf: '2001:db8:ffff::1', abr1: '2001:db8:ffff::11', abr2: '2001:db8:ffff::12', core: '2001:db8:ffff::2' },
    acceptFrom: '2001:db8:ffff::/48',
    senders: '2001:db8:1::/64',
    plain: '2001:db8:ffff::1/128',
    prefix: (n) => `2001:db8:${n}::/48`,
  },
];

interface OspfFields {
  /** Of the section. */
  readonly section?: object;
  /** Of every area. */
  readonly area?: object;
  /** Instead of all in which the router is. */
  readonly areas?: readonly string[];
}

/** Identity and carrier. */
export const ospf = (
  p: Protocol,
  name: AreaRouter,
  { section, area, areas = AREAS[name] }: OspfFields = {},
): object => ({
  router: { name },
  [p.name]: {
    'router-id': ROUTER_ID[name],
    areas: areas.map((id) => ({ area: id, interface: p.link(AREAS[name].indexOf(id)), ...area })),
    'hello-interval': '1s',
    'dead-interval': '4s',
    'retransmit-interval': '1s',
    'hold-unreachable': '1min',
    ...section,
  },
});

export const proxying = (
  p: Protocol,
  name: AreaRouter,
  senders: readonly string[],
  address = p.proxy[name],
): object => ({
  proxy: {
    address,
    senders: senders.map((prefix) => ({ prefix, format: 'standard-cnp' })),
    'accept-from': [p.acceptFrom],
  },
});

export const neighbors = (p: Protocol, r: Router): Promise<Row[]> => r.get(p.name, 'neighbors');
/** Whether there are neighbors, and all are full. */
export const allFull = (rows: readonly Row[]): boolean =>
  rows.length > 0 && rows.every(({ state }) => state === 'full');
export const isFull = async (p: Protocol, r: Router): Promise<boolean> => allFull(await neighbors(p, r));

/** Starts cnpd on these routers and waits until FRR is a full neighbor of each in every area. */
export async function startFull(
  net: Network,
  p: Protocol,
  intents: Partial<Record<AreaRouter, object>>,
): Promise<void> {
  const rows = Object.entries(intents);
  await Promise.all(rows.map(([name, intent]) => net.router(name).start(intent)));
  await Promise.all(
    rows.map(([name]) => until(`${name} is full`, () => neighbors(p, net.router(name)), allFull, 60_000)),
  );
}

/** What the network advertises to a router about a prefix with the flag, as `area originator proxy`. */
export const flagged = async (r: Router, prefix: string): Promise<string[]> =>
  (await learned(r, prefix))
    .filter(({ pnc }) => pnc === true)
    .map(({ originator, proxy }) => `${String(originator)} ${String(proxy)}`);

/** The rows of a prefix, without what the router itself declares. */
export const learned = async (r: Router, prefix: string): Promise<Row[]> =>
  (await r.get('senders')).filter((row) => row['prefix'] === prefix && row['carrier'] !== 'local');
