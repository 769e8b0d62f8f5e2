// The SRv6 domain (topologies/wan) and the intents of its routers, with timers short enough for tests.
import { CongestedNetwork } from './congested.ts';
import { Network, type Router } from './network.ts';
import type { Port } from './port.ts';
import { until } from '../../support/until.ts';

export const LOOPBACK = { pe1: '2001:db8:ffff::4', p: '2001:db8:ffff::5', pe2: '2001:db8:ffff::6' } as const;
/** Of pe1, for its main table and for table 100; of pe2. */
export const END_CON = { main: '2001:db8:c::1', other: '2001:db8:c::100', pe2: '2001:db8:c2::1' } as const;
/** Where pe2's tunnels end: End.DT6, which the lab has configured. */
export const PE2_SID = '2001:db8:e2::d6';
const SYSTEM = { pe1: '0000.0000.c004', p: '0000.0000.c005', pe2: '0000.0000.c006' } as const;

export const identity = (name: keyof typeof SYSTEM): object => ({
  router: { name, loopback: { ipv6: LOOPBACK[name], ...(name === 'p' && { ipv4: '192.0.2.5' }) } },
  isis: { 'system-id': SYSTEM[name], area: '49.0001', level: 2, interface: 'cnpd-isis', 'hello-interval': '1s' },
});

const SIDS = [
  { sid: END_CON.main, locator: '2001:db8:c::/48', interfaces: ['eth1'] },
  { sid: END_CON.other, locator: '2001:db8:c::/48', table: 100, interfaces: ['eth3'] },
];
export const PE1 = { ...identity('pe1'), srv6: { 'end-con': SIDS, 'core-ports': ['eth2'] } };
export const PE2 = {
  ...identity('pe2'),
  srv6: { 'end-con': [{ sid: END_CON.pe2, locator: '2001:db8:c2::/48' }], 'core-ports': ['eth2'] },
};
/** The congested node. */
export const P = (senders: readonly object[], port: object = {}, rest: object = {}): object => ({
  ...identity('p'),
  ports: [{ interface: 'eth2', 'k-max': '20kB', 'per-flow-interval': '5ms', ...port }],
  notifications: { senders },
  ...rest,
});

export class Wan extends CongestedNetwork {
  protected override readonly receiver = { v6: '2001:db8:2::2', v4: '10.2.0.2' };
  readonly pe1 = this.net.router('pe1');
  readonly pe2 = this.net.router('pe2');
  h3!: Port;

  static async up(): Promise<Wan> {
    const wan = new Wan(await Network.up('wan'));
    wan.h1 = await wan.port('h1:eth1', 'pe1:eth1');
    wan.h2 = await wan.port('h2:eth1', 'pe2:eth1');
    wan.h3 = await wan.port('h3:eth1', 'pe1:eth3');
    return wan;
  }

  /** Makes the wires of h1 and h3 the place of senders that neither kernel answers for. */
  async silentSenders(...addresses: string[]): Promise<void> {
    for (const [host, to] of [
      ['h1', 'eth1'],
      ['h3', 'eth3'],
    ] as const) {
      const mac = (await this.net.lab.mustExec(host, ['cat', '/sys/class/net/eth1/address'])).trim();
      for (const each of addresses.filter((a) => host === 'h1' || a.includes(':')))
        await this.pe1.exec('ip', 'neigh', 'replace', each, 'lladdr', mac, 'dev', to, 'nud', 'permanent');
    }
  }

  /** Waits until FRR has given each of these routers the routes. */
  async routes(expected: readonly (readonly [Router, string])[]): Promise<void> {
    for (const [router, to] of expected)
      await until(
        `${router.name} has a route to ${to}`,
        async () => (await router.exec('ip', '-6', 'route', 'show', 'root', to, 'proto', 'isis')).trim(),
        (text) => text !== '',
      );
  }

  /** Until tunnels and their ends are reachable. */
  underlay(): Promise<void> {
    return this.routes([
      [this.pe1, '2001:db8:e2::d6'],
      [this.pe2, '2001:db8:e1::d6'],
      [this.p, '2001:db8:e2::d6'],
      [this.p, '2001:db8:e1::d6'],
      [this.pe1, LOOPBACK.p],
      [this.pe2, LOOPBACK.p],
    ]);
  }

  /** Until p has learned END.CON and can reach it. */
  async endConKnown(...sids: string[]): Promise<void> {
    for (const sid of sids) {
      await until(
        `p has learned ${sid}`,
        () => this.p.get('sids'),
        (all) => all.some((row) => row['sid'] === sid && row['status'] === 'reachable'),
      );
      await until(
        `p's kernel has ${sid}`,
        () => this.p.mapEntries('end_con_sids'),
        (entries) => entries?.some((entry) => entry.startsWith(keyOf(sid))),
      );
    }
    await this.routes(sids.map((sid) => [this.p, sid]));
  }
}

/** An IPv6 address in network byte order, as bpftool shows it; `::` may occur once. */
function keyOf(text: string): string {
  const [head, tail] = text.split('::').map((part) =>
    part
      .split(':')
      .filter((group) => group !== '')
      .map((group) => group.padStart(4, '0')),
  );
  return [...head!, ...Array<string>(8 - head!.length - tail!.length).fill('0000'), ...tail!].join('');
}
