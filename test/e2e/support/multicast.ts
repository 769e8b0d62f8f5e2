// The scene containerlab/rdma-multicast for tests: its hosts play source and receivers, its routers are reconfigured,
// killed and cut off while a transfer goes on.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { type Endpoint, type EndpointEvent, startEndpoint } from '../../../src/demo/endpoints.ts';
import { violations } from '../../../src/demo/multicast/evaluate.ts';
import { waitForMembers, waitForTree } from '../../../src/demo/multicast/show.ts';
import { GROUP, MULTICAST, RECEIVERS, ROOT, ROUTERS, ROUTES, SOURCE } from '../../../src/demo/multicast/scene.ts';
import { daemonLogs, waitForRoutes } from '../../../src/demo/routers.ts';
import { type Lab, labUp } from '../../../src/lab/lab.ts';
import { mustRun } from '../../../src/lab/run.ts';
import { agentOf, askAgent, cnpctlAt } from './agents.ts';
import { until } from '../../support/until.ts';
import { AS_A_SERVICE, type Row, ownLabName } from './network.ts';

const never = new AbortController().signal;
const DAEMON = `${AS_A_SERVICE.join(' ')} /opt/cnpd/dist/cnpd.js -c /etc/cnpd/cnpd.yaml >>/var/log/cnpd.log 2>&1 &`;
/** Time for something to happen; more than any trouble lasts, and not much work for the hosts. */
const SLOWLY = '2mbit';
const ENDLESS = 2_000_000_000;
const GROUP_PEER = `${GROUP.proxyAddress}/${GROUP.designatedQpn}`;

export interface TransferOptions {
  readonly operation: 'send' | 'write';
  /** Each receiver over a connection of its own, instead of the group. */
  readonly unicast?: boolean;
  /** One of so many packets that arrive there is lost, by host. */
  readonly lose?: Readonly<Record<string, number>>;
  /** Hosts that take part from the start; default all. */
  readonly receivers?: readonly string[];
  /**
   * What happens meanwhile: called once the transfer makes progress. The source then takes its time, and ends with the
   * message under way. Otherwise 2 MB are transferred.
   */
  readonly meanwhile?: (stage: Transfer) => Promise<void>;
}

/** What one endpoint reported. */
export type Report = Readonly<Record<string, unknown>>;

const report = (endpoint: Endpoint, event: string): Report => {
  const found = endpoint.events.find((e) => e.event === event);
  if (!found) throw new Error(`no ${event} in ${JSON.stringify(endpoint.events.slice(-3))}`);
  return found;
};

export interface Transferred {
  readonly source: Report;
  readonly flows: readonly Readonly<Record<string, number>>[];
  readonly receivers: Readonly<Record<string, Report>>;
  /** The last word of each endpoint's port: what was lost, and what could not be read. */
  readonly ports: Readonly<Record<string, Report>>;
  /** RMC-5.3.1-a, RMC-5.3.2-a, for the receivers that took part from the start. */
  readonly violations: readonly string[];
}

/** A transfer that is under way. */
export class Transfer {
  readonly source: Endpoint;
  readonly receivers: Map<string, Endpoint>;
  readonly #start: (host: string, argv: readonly string[]) => Endpoint;

  constructor(source: Endpoint, receivers: Map<string, Endpoint>, start: Transfer['join']) {
    this.source = source;
    this.receivers = receivers;
    this.#start = start;
  }

  /** Packets that the source knows to be confirmed. */
  get acknowledged(): number {
    return Number(this.source.events.findLast(({ event }) => event === 'progress')?.['acknowledged'] ?? 0);
  }

  /** Until the source knows of more than before: the transfer goes on. */
  async goesOn(limitMs = 30_000): Promise<void> {
    const before = this.acknowledged;
    await until(`more than ${before} packets are confirmed`, () => this.acknowledged > before, limitMs);
  }

  /** Another receiver, which begins with whatever begins a message. */
  join(host: string, argv: readonly string[]): Endpoint {
    const endpoint = this.#start(host, argv);
    this.receivers.set(host, endpoint);
    return endpoint;
  }
}

export class MulticastScene {
  lab!: Lab;
  readonly #output = mkdtempSync(join(tmpdir(), 'cnpd-multicast-'));
  readonly #running: Endpoint[] = [];
  /** Ports that nodes have got, by node. */
  readonly #corePorts = new Map<string, string[]>();

  /** Up, with its routes; the members are known to every router that needs them. */
  async up(): Promise<void> {
    this.lab = await labUp(MULTICAST.file, { name: await ownLabName('t-multicast') });
    await waitForRoutes(this.lab, { routes: ROUTES }, never);
    await waitForMembers(this.lab, never);
  }

  /** Until the root sends into the tree. */
  tree(): Promise<void> {
    return waitForTree(this.lab, never);
  }

  async down(): Promise<void> {
    await this.endpointsStopped();
    await this.lab?.down();
    rmSync(this.#output, { recursive: true });
  }

  async endpointsStopped(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((endpoint) => endpoint.stop()));
  }

  logs(): Promise<string> {
    return daemonLogs(this.lab, ROUTERS);
  }

  #start(host: string, role: string, argv: readonly string[]): Endpoint {
    const place = [SOURCE, ...RECEIVERS].find(({ node }) => node === host)!;
    const endpoint = startEndpoint(this.lab, place, role, argv);
    this.#running.push(endpoint);
    return endpoint;
  }

  async transfer(opts: TransferOptions): Promise<Transferred> {
    // The same Queue Pairs as before begin with the same PSN again.
    if (!opts.unicast) await cnpctlAt(this.lab, ROOT, 'group', 'restart', GROUP.proxyAddress);
    const bytes = ['--bytes', `${opts.meanwhile ? ENDLESS : 2_000_000}b`];
    const hosts = RECEIVERS.filter(({ node }) => opts.receivers?.includes(node) ?? true);
    const lose = (host: string): string[] => (opts.lose?.[host] ? ['--lose', String(opts.lose[host])] : []);
    // s1 writes to address 0 with R_Key 1; what that is at each receiver its edge knows (cnpd.yaml).
    const write = opts.operation === 'write';
    const memory = (n: number): string[] =>
      write ? ['--r-key', String(4096 + n), '--virtual-address', String(n * 0x1000_0000)] : [];
    const receivers = new Map(
      hosts.map(({ node, qpn }, i) => {
        const from = opts.unicast ? `${SOURCE.address}/${SOURCE.qpn + i}` : GROUP_PEER;
        const argv = [
          '--qpn',
          String(qpn),
          '--from',
          from,
          ...(opts.meanwhile ? [] : bytes),
          ...lose(node),
          ...memory(qpn - 0x200),
        ];
        return [node, this.#start(node, 'receive', argv)];
      }),
    );
    await Promise.all([...receivers.values()].map((receiver) => receiver.waitFor('ready')));
    const to = opts.unicast ? hosts.map(({ address, qpn }) => `${address}/${qpn}`).join(',') : GROUP_PEER;
    const source = this.#start(SOURCE.node, 'source', [
      ...['--qpn', String(SOURCE.qpn), '--to', to, ...bytes, ...lose(SOURCE.node), ...(write ? ['--r-key', '1'] : [])],
      // Far longer than a round trip on a busy machine, and more of them than any trouble lasts.
      ...['--timeout', '500ms', '--retries', '600', ...(opts.meanwhile ? ['--rate', SLOWLY] : [])],
    ]);
    const first = [...receivers.keys()];
    const stage = new Transfer(source, receivers, (host, argv) => {
      const { qpn } = RECEIVERS.find(({ node }) => node === host)!;
      return this.#start(host, 'receive', ['--qpn', String(qpn), '--from', GROUP_PEER, '--start-psn', 'any', ...argv]);
    });
    if (opts.meanwhile) {
      await source.waitFor('progress');
      await stage.goesOn();
      await opts.meanwhile(stage);
      source.finish();
    }
    await source.waitFor('summary');
    await this.endpointsStopped();
    return this.#transferred(stage, first);
  }

  #transferred({ source, receivers }: Transfer, first: readonly string[]): Transferred {
    const all = <T>(read: (endpoint: Endpoint) => T): Record<string, T> =>
      Object.fromEntries([...receivers].map(([host, endpoint]) => [host, read(endpoint)]));
    const summary = report(source, 'summary');
    const heard = (report(source, 'confirmations') as unknown as { list: [number, number][] }).list;
    const events = new Map<string, readonly EndpointEvent[]>(first.map((host) => [host, receivers.get(host)!.events]));
    return {
      source: summary,
      flows: summary['flows'] as Record<string, number>[],
      receivers: all((endpoint) => report(endpoint, 'summary')),
      ports: { ...all((endpoint) => report(endpoint, 'port')), [SOURCE.node]: report(source, 'port') },
      violations: violations(heard, events),
    };
  }

  /** The rows of `cnpctl show … -o json`. */
  async show(node: string, ...subject: string[]): Promise<Row[]> {
    return JSON.parse(await cnpctlAt(this.lab, node, 'show', ...subject, '-o', 'json')) as Row[];
  }

  /** Another cnpd.yaml for a node, made from that of the scene, and a reload. */
  async reconfigure(node: string, change: (document: Document) => void = () => {}): Promise<void> {
    const document = parseDocument(readFileSync(join(dirname(MULTICAST.file), node, 'cnpd.yaml'), 'utf8'));
    for (const port of this.#corePorts.get(node) ?? []) document.addIn(['srv6', 'core-ports'], port);
    change(document);
    const file = join(this.#output, `${node}.yaml`);
    writeFileSync(file, document.toString());
    await this.lab.cover(node, file, '/etc/cnpd/cnpd.yaml');
    await cnpctlAt(this.lab, node, 'reload');
  }

  /** Until the root knows exactly these receivers. */
  async members(hosts: readonly string[], limitMs = 60_000): Promise<void> {
    const expected = RECEIVERS.filter(({ node }) => hosts.includes(node)).map(({ address }) => address);
    await until(
      `n6 knows ${hosts.join(', ')}`,
      async () =>
        ((await askAgent<Row[]>(this.lab, ROOT, 'groups', 'members')) ?? [])
          .filter((row) => row['role'] === 'receiver' && row['status'] === 'in force')
          .map((row) => String(row['address']))
          .sort(),
      (seen) => seen.join() === [...expected].sort().join(),
      limitMs,
    );
  }

  /** What the agent has made in the kernel stays, whichever signal it is. */
  async endAgent(node: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    process.kill(agentOf(this.lab, node)!, signal);
    await until(`${node}'s agent is gone`, () => agentOf(this.lab, node) === undefined);
  }

  /** Another link of the fabric, of one interface name at both ends, which FRR and cnpd know. */
  async addLink(a: string, b: string, name: string): Promise<void> {
    const netns = (node: string): string => basename(this.lab.netnsPath(node));
    const end = (node: string): string[] => ['name', name, 'mtu', '2000', 'netns', netns(node)];
    await mustRun(['ip', 'link', 'add', ...end(a), 'type', 'veth', 'peer', ...end(b)]);
    for (const node of [a, b]) {
      await this.lab.mustExec(node, ['ip', 'link', 'set', name, 'up']);
      await this.lab.mustExec(node, ['ethtool', '-K', name, 'tx', 'off']);
      const lines = [
        'configure terminal',
        `interface ${name}`,
        'ipv6 router isis fabric',
        'isis network point-to-point',
      ];
      await this.lab.mustExec(node, ['vtysh', ...lines.flatMap((line) => ['-c', line])]);
      this.#corePorts.set(node, [...(this.#corePorts.get(node) ?? []), name]);
      await this.reconfigure(node);
    }
    await until(`${a} and ${b} are neighbors on ${name}`, async () =>
      (await this.lab.mustExec(a, ['vtysh', '-c', 'show isis neighbor'])).includes(name),
    );
  }

  async startAgent(node: string): Promise<void> {
    await this.lab.mustExec(node, ['sh', '-c', DAEMON]);
    await until(`${node}'s agent runs`, () => askAgent(this.lab, node, 'status'));
  }
}
