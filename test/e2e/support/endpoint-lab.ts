// Hosts that run the software RoCE endpoint, in a lab of their own, and what their endpoints report.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Lab, labDown, labUp } from '../../../src/lab/lab.ts';
import { program } from '../../../src/lab/program.ts';
import { until } from '../../support/until.ts';

const LIMIT_MS = 60_000;

export type EndpointEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** A line each. */
export const eventsOf = (stdout: string): EndpointEvent[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EndpointEvent);

export const eventIn = (events: readonly EndpointEvent[], name: string): EndpointEvent =>
  events.find(({ event }) => event === name)!;

export interface RunningEndpoint {
  /** So far. */
  readonly events: readonly EndpointEvent[];
  /** Waits for an event that is so. */
  seen(what: string, condition: (event: EndpointEvent) => boolean): Promise<EndpointEvent>;
  /** Asks it to end, and waits until it has. */
  end(): Promise<void>;
  /** Without asking. */
  kill(): Promise<void>;
}

interface Topology {
  /** Of every node, beside those that switch off duplicate address detection. */
  readonly sysctls?: string;
  /** Commands of each node. */
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  readonly links: readonly string[];
}

/** h1 and h2 behind the router r, with addresses of both families. @param delay of the link to h2 */
export const behindRouter = (
  delay: string,
  { sysctls = [] as string[], loopbacks = [] as string[] } = {},
): Topology => {
  const host = (n: number): string[] => [
    `ip address add 2001:db8:${n}::2/64 dev eth1`,
    `ip address add 10.0.${n}.2/24 dev eth1`,
    `ip route add default via 2001:db8:${n}::1`,
    `ip route add default via 10.0.${n}.1`,
  ];
  const routed = [1, 2].flatMap((n) => [
    `ip address add 2001:db8:${n}::1/64 dev eth${n}`,
    `ip address add 10.0.${n}.1/24 dev eth${n}`,
  ]);
  const own = loopbacks.map((address) => `ip address add ${address} dev lo`);
  return {
    sysctls: ['net.ipv6.conf.all.forwarding: 1', 'net.ipv4.ip_forward: 1', ...sysctls].join(', '),
    nodes: { h1: host(1), r: [...routed, ...own], h2: host(2) },
    links: [
      '{endpoints: ["h1:eth1", "r:eth1"], mtu: 1500}',
      `{endpoints: ["r:eth2", "h2:eth1"], mtu: 1500, vars: {delay: ${delay}}}`,
    ],
  };
};

const ENDPOINT = [process.execPath, program('roce-endpoint')];

export class EndpointLab {
  readonly lab: Lab;
  /** For the files of a test. */
  readonly directory: string;
  readonly #name: string;
  readonly #running: RunningEndpoint[] = [];

  private constructor(name: string, lab: Lab, directory: string) {
    this.#name = name;
    this.lab = lab;
    this.directory = directory;
  }

  /** @param name of ownLabName */
  static async up(name: string, { sysctls, nodes, links }: Topology): Promise<EndpointLab> {
    const directory = mkdtempSync(join(tmpdir(), 't-lab-'));
    const file = join(directory, 'x.clab.yml');
    const dad = 'net.ipv6.conf.default.accept_dad: 0, net.ipv6.conf.all.accept_dad: 0';
    const lines = [
      ...[`name: ${name}`, 'prefix: __lab-name', 'topology:', '  defaults:', '    kind: linux'],
      `    sysctls: {${[dad, sysctls].filter((some) => some !== undefined).join(', ')}}`,
      '  nodes:',
      ...Object.entries(nodes).map(([node, exec]) => `    ${node}: {exec: ${JSON.stringify(exec)}}`),
      '  links:',
      ...links.map((link) => `    - ${link}`),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    try {
      return new EndpointLab(name, await labUp(file), directory);
    } catch (error) {
      await labDown(name);
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs an endpoint at a node to its end. @throws if it fails */
  async mustExec(node: string, argv: readonly string[]): Promise<EndpointEvent[]> {
    return eventsOf(await this.lab.mustExec(node, [...ENDPOINT, ...argv]));
  }

  /** The same, however it ends. */
  async exec(node: string, argv: readonly string[]): Promise<EndpointEvent[]> {
    return eventsOf((await this.lab.exec(node, [...ENDPOINT, ...argv])).stdout);
  }

  /** Starts an endpoint at a node. */
  run(node: string, argv: readonly string[]): RunningEndpoint {
    const child = this.lab.spawn(node, [...ENDPOINT, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
    const running = endpointOf(child);
    this.#running.push(running);
    return running;
  }

  async killAll(): Promise<void> {
    for (const running of this.#running.splice(0)) await running.kill();
  }

  async down(): Promise<void> {
    await this.killAll();
    await labDown(this.#name);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function endpointOf(child: ChildProcess): RunningEndpoint {
  const events: EndpointEvent[] = [];
  let rest = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    events.push(...lines.map((line) => JSON.parse(line) as EndpointEvent));
  });
  const ended = once(child, 'close');
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  return {
    events,
    seen: (what, condition) =>
      until(
        what,
        () => events,
        (all) => all.find(condition),
        LIMIT_MS,
      ),
    end: () => stop('SIGTERM'),
    kill: () => stop('SIGKILL'),
  };
}
