// holod in a node of a lab, and the configurations of the line. Its core links and passive interfaces are configured
// here; what concerns cnpd is left to `cnpd --configure`.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Lab } from '../../src/lab/lab.ts';
import { until } from '../support/until.ts';

/** CNPD_HOLOD: a holod that is there already. Else build.sh makes one. */
export const HOLOD = process.env['CNPD_HOLOD'] ?? join(homedir(), '.cache', 'cnpd', 'holo', 'holod');
export const missing = existsSync(HOLOD) ? undefined : `no ${HOLOD}`;

const NORTHBOUND = new URL('northbound.mjs', import.meta.url).pathname;
const FILE = `user = "root"
group = "root"
[logging.file]
enabled = false
[logging.stdout]
enabled = true
style = "compact"
[plugins.grpc]
enabled = true
address = "127.0.0.1:50051"
[plugins.gnmi]
enabled = false
`;

export class Holod {
  readonly #lab: Lab;
  readonly #node: string;
  #daemon: ChildProcess | undefined;
  log = '';

  constructor(lab: Lab, node: string) {
    this.#lab = lab;
    this.#node = node;
  }

  /** A holod without configuration, then this one. */
  async start(config: object): Promise<void> {
    await this.stop();
    const script = 'mkdir -p /var/opt/holo && printf %s "$1" > /etc/holod.toml && exec "$0" -c /etc/holod.toml';
    const child = this.#lab.spawn(this.#node, ['sh', '-c', script, HOLOD, FILE], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.log = (this.log + text).slice(-20_000)));
    this.#daemon = child;
    await this.commit(config);
  }

  async stop(): Promise<void> {
    const child = this.#daemon;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  get running(): boolean {
    return this.#daemon?.exitCode === null && this.#daemon.signalCode === null;
  }

  async commit(config: object): Promise<void> {
    await this.#lab.mustExec(this.#node, [process.execPath, NORTHBOUND, 'commit'], { input: JSON.stringify(config) });
  }

  /** What runs, cnpd's part with it. */
  async config(): Promise<object> {
    return JSON.parse(await this.#lab.mustExec(this.#node, [process.execPath, NORTHBOUND, 'config'])) as object;
  }

  async hasRoute(destination: string): Promise<void> {
    await until(
      `${this.#node} has a route to ${destination}`,
      () => this.#lab.mustExec(this.#node, ['sh', '-c', 'ip route; ip -6 route']),
      (table) => table.includes(`${destination} `),
    );
  }
}

export type RouterName = 'leaf' | 'p' | 'far';
const NUMBER = { leaf: 1, p: 2, far: 3 } as const;
/** Towards hosts, and between routers. */
const PASSIVE = { leaf: ['lo', 'eth1'], p: ['lo'], far: ['lo', 'eth1'] } as const;
const CORE = { leaf: ['eth2'], p: ['eth1', 'eth2'], far: ['eth2'] } as const;

const interfaces = (name: RouterName): object => ({
  'ietf-interfaces:interfaces': {
    interface: [...PASSIVE[name], ...CORE[name]].map((one) => ({
      name: one,
      type: one === 'lo' ? 'iana-if-type:softwareLoopback' : 'iana-if-type:ethernetCsmacd',
      'ietf-ip:ipv4': { enabled: true },
      'ietf-ip:ipv6': { enabled: true },
    })),
  },
  'ietf-system:system': { hostname: name },
});

const routing = (...protocols: object[]): object => ({
  'ietf-routing:routing': { 'control-plane-protocols': { 'control-plane-protocol': protocols } },
});

type LevelType = 'level-1' | 'level-2' | 'level-all';

/** @param levels of the router; of its core links, where that is not the same */
export function isis(
  name: RouterName,
  level: LevelType = 'level-2',
  area = '49.0001',
  links: Record<string, LevelType> = {},
): object {
  const families = {
    'address-families': { 'address-family-list': ['ipv4', 'ipv6'].map((f) => ({ 'address-family': f })) },
  };
  return {
    ...interfaces(name),
    ...routing({
      type: 'ietf-isis:isis',
      name: 'core',
      'ietf-isis:isis': {
        'level-type': level,
        'system-id': `0000.0000.000${NUMBER[name]}`,
        'area-address': [area],
        'metric-type': { value: 'wide-only' },
        interfaces: {
          interface: [
            ...PASSIVE[name].map((one) => ({ name: one, passive: true, ...families })),
            ...CORE[name].map((one) => ({
              name: one,
              'interface-type': 'point-to-point',
              'hello-interval': { value: 1 },
              ...(links[one] && { 'level-type': links[one] }),
              ...families,
            })),
          ],
        },
      },
    }),
  };
}

/** Both versions. @param areas of interfaces; default: the backbone */
export function ospf(
  name: RouterName,
  { areas = {}, extended = false }: { areas?: Record<string, string>; extended?: boolean } = {},
): object {
  const areaOf = (one: string): string => areas[one] ?? '0.0.0.0';
  const all = [...PASSIVE[name], ...CORE[name]];
  const numbers = [...new Set([...all.map(areaOf), ...Object.values(areas)])];
  const protocol = (version: 2 | 3): object => ({
    type: `ietf-ospf:ospfv${version}`,
    name: 'core',
    'ietf-ospf:ospf': {
      'explicit-router-id': `192.0.2.${NUMBER[name]}`,
      ...(extended && version === 3 && { 'ietf-ospfv3-extended-lsa:extended-lsa-support': true }),
      areas: {
        area: numbers.map((area) => ({
          'area-id': area,
          interfaces: {
            interface: all
              .filter((one) => areaOf(one) === area)
              .map((one) => ({
                name: one,
                ...((PASSIVE[name] as readonly string[]).includes(one)
                  ? { passive: true }
                  : { 'interface-type': 'point-to-point', 'hello-interval': 1, 'dead-interval': 4 }),
              })),
          },
        })),
      },
    },
  });
  return { ...interfaces(name), ...routing(protocol(2), protocol(3)) };
}
