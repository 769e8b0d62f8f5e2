// OSPF speakers in the test process, each on a link of its own to a router with real ospfd or ospf6d.
import { address } from '../../../src/model/address.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { silentLog } from '../../../src/model/log.ts';
import { LSDB_LIMIT } from '../../../src/carriers/ospf/constants.ts';
import { OspfNetwork } from '../../../src/carriers/ospf/network.ts';
import { OspfRunner } from '../../../src/carriers/ospf/runner.edge.ts';
import type { AreaConfig } from '../../../src/carriers/ospf/state.ts';
import { OSPFV2, OSPFV3, type OspfVersion, type OwnLsa } from '../../../src/carriers/ospf/version.ts';
import type { Poller } from '../../../src/kernel/poller.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../../src/packet/ospf/lsa.ts';
import { lsaKeyText, parseId } from '../../../src/packet/ospf/router-id.ts';
import type { FrrRouter } from './frr.ts';

/** FRR's end of the link to the agent. */
export const LINK = 'cnpd-ospf';
const ADDRESSES = { router: address('169.254.89.0'), own: address('169.254.89.1'), length: 31 };

export interface AgentOptions {
  readonly routerId: string;
  readonly areaId?: string;
  readonly area?: Partial<AreaConfig>;
  readonly mtu?: number;
  /** Of FRR's end, when it is not the same. */
  readonly frrMtu?: number;
}

/** Whoever has a namespace: FRR or BIRD. */
type AgentRouter = Pick<FrrRouter, 'netns' | 'ip'>;

export class OspfAgent {
  readonly runner: OspfRunner;
  readonly counters = new Map<string, number>();
  /** LSAs of others that are alive: key → contents in hexadecimal. */
  readonly learned = new Map<string, string>();
  private readonly network: OspfNetwork;
  private readonly areaId: number;

  private constructor(version: OspfVersion, router: AgentRouter, options: AgentOptions, poller: Poller) {
    const { routerId, areaId = '0.0.0.0', mtu = 1500 } = options;
    this.areaId = parseId(areaId)!;
    const config: AreaConfig = {
      areaId: this.areaId,
      instanceId: 0,
      mtu,
      ignoreMtu: false,
      interfaceId: 1,
      helloSeconds: 1,
      deadSeconds: 4,
      retransmitMs: 5000,
      keys: [],
      ...options.area,
    };
    const count = (name: string, by = 1): void => void this.counters.set(name, this.count(name) + by);
    const modules = { poller, clock: systemClock, work: eventLoopWork(), log: silentLog, count };
    this.runner = new OspfRunner(
      {
        version,
        routerId: parseId(routerId)!,
        areas: [config],
        privateTypes: DEFAULT_PRIVATE_TYPES,
        authenticationBase: Math.floor((Date.now() - Date.UTC(2020, 0)) / 100),
        seed: 1,
        lsdbLimit: LSDB_LIMIT,
      },
      {
        ...modules,
        onChange: (change) => {
          if (change.type === 'adjacency') return;
          const { key, lsa } = change;
          if (lsa) this.learned.set(lsaKeyText(key), toHex(lsa.raw.subarray(20)));
          else this.learned.delete(lsaKeyText(key));
        },
      },
    );
    this.network = new OspfNetwork(
      { areaId: this.areaId, index: 0, interface: LINK, mtu, addresses: ADDRESSES, netns: router.netns },
      this.runner,
      modules,
    );
  }

  static async start(
    version: OspfVersion,
    router: AgentRouter,
    options: AgentOptions,
    poller: Poller,
  ): Promise<OspfAgent> {
    const agent = new OspfAgent(version, router, options, poller);
    await agent.network.start();
    if (options.frrMtu !== undefined) router.ip('link', 'set', LINK, 'mtu', String(options.frrMtu));
    return agent;
  }

  originate(lsas: readonly OwnLsa[]): void {
    this.runner.event({ type: 'originate', areaId: this.areaId, lsas });
  }

  keys(keys: AreaConfig['keys']): void {
    this.runner.event({ type: 'keys', areaId: this.areaId, keys });
  }

  get state(): string {
    return this.runner.speaker.areas.get(this.areaId)!.neighbor?.state ?? 'none';
  }

  count(name: string): number {
    return this.counters.get(name) ?? 0;
  }

  /** Without a word to anybody, as when the process is killed: the link goes with it. */
  async remove(): Promise<void> {
    this.runner.close();
    await this.network.stop();
  }
}

/** Configuration of ospfd or ospf6d: point-to-point links, hellos every second. */
export function ospfConfig(
  version: OspfVersion,
  opts: {
    routerId: string;
    links: readonly string[];
    areas?: Readonly<Record<string, string>>;
    linkLines?: readonly string[];
    lines?: readonly string[];
  },
): string[] {
  const ip = version === OSPFV2 ? 'ip ospf' : 'ipv6 ospf6';
  const process = version === OSPFV2 ? 'ospf' : 'ospf6';
  return [
    ...opts.links.flatMap((link) => [
      `interface ${link}`,
      ` ${ip} area ${opts.areas?.[link] ?? '0.0.0.0'}`,
      ` ${ip} network point-to-point`,
      ` ${ip} hello-interval 1`,
      ` ${ip} dead-interval 4`,
      ` ${ip} retransmit-interval 1`,
      ...(link === LINK ? (opts.linkLines ?? []).map((line) => ` ${line}`) : []),
      'exit',
    ]),
    `router ${process}`,
    ` ${process} router-id ${opts.routerId}`,
    // FRR's own LSAs change several times while a network comes up: no router waits five seconds for the next.
    ' timers lsa min-arrival 0',
    ...(version === OSPFV2 ? [' timers throttle lsa all 0'] : []),
    ...(opts.lines ?? (version === OSPFV2 ? ['capability opaque'] : [])).map((line) => ` ${line}`),
    'exit',
  ];
}

export const DAEMON = (version: OspfVersion): 'ospfd' | 'ospf6d' => (version === OSPFV2 ? 'ospfd' : 'ospf6d');
export const VERSIONS: readonly (readonly [string, OspfVersion])[] = [
  ['OSPFv2', OSPFV2],
  ['OSPFv3', OSPFV3],
];
