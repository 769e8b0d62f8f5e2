// Brings a lab up, in containerlab's order: namespaces with binds and sysctls, links, FRR, `cmd`, `exec`. The state is
// on disk before the first namespace is made. When a step fails, or the caller gives up, everything made is taken down
// again.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Log } from '../model/log.ts';
import { takeDown } from './down.ts';
import { enterArguments, nodeEnvironment } from './enter.ts';
import { LabError } from './error.ts';
import { frrScript, otherFrr, parseDaemons } from './frr.ts';
import { holdNamespaces } from './holder.ts';
import { createLinks } from './links.ts';
import { bindProblem, machinePaths, nodeScript } from './node-script.ts';
import { type ProcessIdentity, identify } from './processes.ts';
import { mustRun } from './run.ts';
import { type LabState, type NodeState, labDirectory, logPath, netnsPath, readState, writeState } from './state.ts';
import type { NodeSpec, Topology } from './topology.ts';

interface UpDependencies {
  readonly log: Log;
  readonly onStep: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** @throws LabError; AbortError when `signal` is aborted */
export async function bringUp(topology: Topology, dependencies: UpDependencies): Promise<void> {
  refuse(topology);
  const up = new Up(topology, dependencies);
  try {
    await up.run();
  } catch (error) {
    await takeDown(topology.name);
    throw error;
  }
}

/** What can be seen to be wrong before anything is made. */
function refuse(topology: Topology): void {
  const state = readState(topology.name);
  if (state) {
    const how = state.status === 'up' ? 'is up' : 'was left half up';
    throw new LabError('already-up', `lab ${topology.name} ${how} (from ${state.file}): take it down first`);
  }
  const problems = topology.nodes.flatMap((n) =>
    n.binds.flatMap((b) => bindProblem(b, machinePaths) ?? []).map((p) => `${topology.file}: node ${n.name}: ${p}`),
  );
  for (const { container } of topology.nodes) {
    if (existsSync(netnsPath(container)))
      problems.push(`a network namespace ${container} exists already and is not this lab's`);
  }
  if (problems.length > 0) throw new LabError('bad-topology', problems.join('\n'));
}

class Up {
  readonly #topology: Topology;
  readonly #dependencies: UpDependencies;
  #state: LabState;

  constructor(topology: Topology, dependencies: UpDependencies) {
    this.#topology = topology;
    this.#dependencies = dependencies;
    const interfaces = (node: string): string[] =>
      topology.links.flatMap((l) => [l.a, l.b]).flatMap((e) => (e.node === node ? [e.interface] : []));
    this.#state = {
      version: 1,
      lab: topology.name,
      file: topology.file,
      status: 'starting',
      owner: identify(process.pid)!,
      nodes: topology.nodes.map((n) => ({
        name: n.name,
        container: n.container,
        env: n.env,
        interfaces: interfaces(n.name),
      })),
      helpers: [],
    };
  }

  async run(): Promise<void> {
    const { nodes, links, name } = this.#topology;
    await this.#prepare();
    this.#step(`namespaces: ${nodes.map((n) => n.container).join(' ')}`);
    for (const node of nodes) await this.#createNode(node);
    this.#step(`links: ${links.length}`);
    await createLinks(
      links,
      nodes.map((n) => n.name),
      {
        lab: name,
        container: (node) => nodes.find((n) => n.name === node)!.container,
        log: this.#dependencies.log,
        onHelper: (role, identity) => this.#addHelper(role, identity),
      },
    );
    for (const node of nodes) await this.#startFrr(node);
    for (const node of nodes) if (node.cmd) await this.#startCommand(node, node.cmd);
    for (const node of nodes) {
      for (const argv of node.exec) {
        this.#step(`${node.name}: ${argv.join(' ')}`);
        await this.#inNode(node, argv, `${node.name}: exec ${argv.join(' ')}`);
      }
    }
    this.#write({ ...this.#state, status: 'up' });
  }

  #step(text: string): void {
    this.#dependencies.signal?.throwIfAborted();
    this.#dependencies.onStep(text);
    this.#dependencies.log.debug({ lab: this.#topology.name }, text);
  }

  #write(state: LabState): void {
    this.#state = state;
    writeState(state);
  }

  #addHelper(role: string, identity: ProcessIdentity): void {
    this.#write({ ...this.#state, helpers: [...this.#state.helpers, { role, ...identity }] });
  }

  async #prepare(): Promise<void> {
    const directory = labDirectory(this.#topology.name);
    mkdirSync(directory, { recursive: true });
    await mustRun(['mount', '-t', 'tmpfs', '-o', 'mode=755', 'cnpd-lab', directory]);
    // What is mounted below it concerns no other namespace.
    await mustRun(['mount', '--make-private', directory]);
    for (const sub of ['log', 'fs']) mkdirSync(join(directory, sub), { recursive: true });
    this.#write(this.#state);
  }

  async #createNode(node: NodeSpec): Promise<void> {
    this.#dependencies.signal?.throwIfAborted();
    const lab = this.#topology.name;
    await mustRun(['ip', 'netns', 'add', node.container]);
    const script = nodeScript(node, labDirectory(lab), machinePaths, otherFrr(node.name, process.env));
    const holder = await holdNamespaces(lab, this.#nodeState(node), script);
    const nodes = this.#state.nodes.map((n) => (n.name === node.name ? { ...n, holder } : n));
    this.#write({ ...this.#state, nodes });
  }

  #nodeState(node: NodeSpec): NodeState {
    return this.#state.nodes.find((n) => n.name === node.name)!;
  }

  async #inNode(node: NodeSpec, argv: readonly string[], what: string, input?: string): Promise<string> {
    const { log, signal } = this.#dependencies;
    const state = this.#nodeState(node);
    const out = await mustRun(
      [...enterArguments(state), ...argv],
      {
        env: nodeEnvironment(this.#topology.name, state),
        ...(input !== undefined && { input }),
        ...(signal && { signal }),
        detached: true,
      },
      what,
    );
    if (out.trim()) log.debug({ node: node.name }, out.trim());
    return out;
  }

  async #startFrr(node: NodeSpec): Promise<void> {
    const daemons = node.binds.find((b) => b.target === '/etc/frr/daemons');
    if (!daemons) return;
    const plan = parseDaemons(readFileSync(daemons.source, 'utf8'));
    this.#step(`${node.name}: FRR ${plan.daemons.map((d) => d.name).join(' ')}`);
    await this.#inNode(node, ['sh', '-s'], `${node.name}: starting FRR`, frrScript(plan));
  }

  async #startCommand(node: NodeSpec, argv: readonly string[]): Promise<void> {
    this.#step(`${node.name}: cmd ${argv.join(' ')}`);
    const log = openSync(logPath(this.#topology.name, node.name), 'a');
    const state = this.#nodeState(node);
    const [nsenter, ...rest] = [...enterArguments(state), ...argv];
    const child = spawn(nsenter!, rest, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...nodeEnvironment(this.#topology.name, state) },
    });
    closeSync(log);
    await once(child, 'spawn');
    child.unref();
  }
}
