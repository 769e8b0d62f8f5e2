// Links between nodes: a veth pair born in its two namespaces, or, with a delay, two TAPs that one process joins
// (delay-line.process.ts). The process runs in the network namespace of the link's first end, so that ending the node's
// processes ends it too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { LabError } from './error.ts';
import type { Log } from '../model/log.ts';
import { type ProcessIdentity, identify } from './processes.ts';
import { program } from './program.ts';
import { mustRun, run } from './run.ts';
import { quoteWord } from './shell.ts';
import { logPath, netnsPath } from './state.ts';
import type { LinkSpec } from './topology.ts';

const linkName = (link: LinkSpec): string => `${link.a.node}:${link.a.interface}-${link.b.node}:${link.b.interface}`;

type ContainerOf = (node: string) => string;

/** Lines of `ip -batch` that create the veth pairs. */
function vethCommands(links: readonly LinkSpec[], container: ContainerOf): string[] {
  const end = (e: LinkSpec['a'], mtu: number): string =>
    `name ${e.interface}${e.mac ? ` address ${e.mac}` : ''} mtu ${mtu} netns ${container(e.node)}`;
  return links
    .filter((l) => l.delayMs === 0)
    .map((l) => `link add ${end(l.a, l.mtu)} type veth peer ${end(l.b, l.mtu)}`);
}

/**
 * Lines of `ip -batch`, by namespace, that set MTU and address of the TAPs and bring every interface up. The transmit
 * queue of a TAP is where frames wait for the delay line to be scheduled: as long as the line's own, so that a busy
 * machine delays and does not drop.
 */
function interfaceCommands(links: readonly LinkSpec[], node: string): string[] {
  return links.flatMap((l) =>
    [l.a, l.b]
      .filter((e) => e.node === node)
      .flatMap((e) => [
        ...(l.delayMs > 0
          ? [
              `link set ${e.interface} mtu ${l.mtu} txqueuelen ${l.limit}`,
              ...(e.mac ? [`link set ${e.interface} address ${e.mac}`] : []),
            ]
          : []),
        `link set ${e.interface} up`,
      ]),
  );
}

/**
 * A script that makes the veths of a node deliver in order, as a wire does. Packets that a veth receives wait in a
 * queue of the CPU that sent them. A shaper sends by its timer on one CPU and at once on another, and the second packet
 * overtakes the first. With receive packet steering one CPU receives all of them, including packets that two nodes of a
 * lab send one after the other.
 */
export function steeringScript(links: readonly LinkSpec[], node: string, cpu: number): string | undefined {
  const interfaces = links
    .flatMap((l) => (l.delayMs > 0 ? [] : [l.a, l.b]))
    .flatMap((e) => (e.node === node ? [e.interface] : []));
  if (interfaces.length === 0) return undefined;
  const files = interfaces.map((name) => `/sys/class/net/${quoteWord(name)}/queues/rx-*/rps_cpus`);
  return `set -e; for file in ${files.join(' ')}; do echo ${cpuMask(cpu)} > "$file"; done`;
}

/** One CPU as the kernel reads a set of them: hexadecimal, groups of 32 bits with commas between. */
const cpuMask = (cpu: number): string => (1n << BigInt(cpu)).toString(16).replace(/(?<=.)(?=(?:.{8})+$)/g, ',');

/** Labs that are up at the same time share the CPUs. */
const cpuOf = (lab: string): number =>
  [...lab].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % cpus().length;

interface LinkMaker {
  readonly lab: string;
  readonly container: ContainerOf;
  readonly log: Log;
  /** Called for every process as soon as it exists. */
  onHelper(role: string, process: ProcessIdentity): void;
}

export async function createLinks(
  links: readonly LinkSpec[],
  nodes: readonly string[],
  maker: LinkMaker,
): Promise<void> {
  const pairs = vethCommands(links, maker.container);
  if (pairs.length > 0) await mustRun(['ip', '-batch', '-'], { input: `${pairs.join('\n')}\n` }, 'creating the links');
  for (const link of links) if (link.delayMs > 0) await startLine(link, maker);
  for (const node of nodes) {
    const commands = interfaceCommands(links, node);
    if (commands.length > 0)
      await mustRun(
        ['ip', '-n', maker.container(node), '-batch', '-'],
        { input: `${commands.join('\n')}\n` },
        `bringing up the interfaces of ${node}`,
      );
    const steering = steeringScript(links, node, cpuOf(maker.lab));
    if (steering) await steer(maker, node, steering);
  }
}

/**
 * A kernel without receive packet steering has no such files: the lab works, and a flow may be reordered, which is
 * reported.
 */
async function steer(maker: LinkMaker, node: string, script: string): Promise<void> {
  const { code, stderr } = await run(['ip', 'netns', 'exec', maker.container(node), 'sh', '-c', script]);
  if (code !== 0)
    maker.log.warn(
      { node, error: stderr.trim() },
      'no receive packet steering: packets of a flow may overtake one another on the links of this node',
    );
}

/**
 * Starts one delay line and waits until both of its interfaces exist.
 * @throws LabError `helper-failed` with the end of its log
 */
async function startLine(link: LinkSpec, maker: LinkMaker): Promise<void> {
  const name = `line-${linkName(link).replaceAll(':', '.')}`;
  const file = logPath(maker.lab, name);
  const end = (e: LinkSpec['a']): string => `${netnsPath(maker.container(e.node))}:${e.interface}`;
  const line = [
    process.execPath,
    program('delay-line'),
    end(link.a),
    end(link.b),
    String(link.delayMs),
    String(link.mtu),
    String(link.limit),
  ];
  const log = openSync(file, 'a');
  const child = spawn('nsenter', [`--net=${netnsPath(maker.container(link.a.node))}`, '--', ...line], {
    stdio: ['ignore', 'pipe', log],
    detached: true,
  });
  closeSync(log);
  try {
    await once(child, 'spawn');
    const identity = identify(child.pid!);
    if (identity) maker.onHelper(`delay-line ${linkName(link)}`, identity);
    const outcome = await Promise.race([
      once(child.stdout!, 'data').then(() => 'ready'),
      once(child, 'exit').then(() => 'exit'),
    ]);
    if (outcome !== 'ready')
      throw new LabError(
        'helper-failed',
        `the delay line ${linkName(link)} ended at once:\n${readFileSync(file, 'utf8').slice(-2000)}`,
      );
    maker.log.debug({ link: linkName(link), delayMs: link.delayMs, pid: child.pid }, 'delay line runs');
  } finally {
    child.stdout!.destroy();
    child.unref();
  }
}
