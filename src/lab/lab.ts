// A running lab, as a library: shared by the command line, the tests and the demo. It reads everything about a running
// lab from the state on disk (state.ts), so that another process than the one that brought it up can open it.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { silentLog, type Log } from '../model/log.ts';
import { takeDown } from './down.ts';
import { enterArguments, nodeEnvironment } from './enter.ts';
import { LabError } from './error.ts';
import { type RunOptions, type RunResult, mustRun, run } from './run.ts';
import { type LabState, type NodeState, netnsPath, readState } from './state.ts';
import { type Topology, parseTopology } from './topology.ts';
import { bringUp } from './up.ts';

interface LabOptions {
  /** Instead of the name in the file. */
  readonly name?: string;
  readonly log?: Log;
  /** Ends `labUp` early; everything made so far is taken down again. */
  readonly signal?: AbortSignal;
  /** Called with each step of `labUp`, for a person to read. */
  readonly onStep?: (text: string) => void;
}

export interface Lab {
  readonly name: string;
  readonly nodes: readonly string[];
  /** Runs a program in a node to its end. @throws LabError `no-such-node` */
  exec(node: string, argv: readonly string[], opts?: RunOptions): Promise<RunResult>;
  /** As exec, for programs that must succeed; returns their output. @throws LabError `command-failed` */
  mustExec(node: string, argv: readonly string[], opts?: RunOptions): Promise<string>;
  /**
   * Starts a program in a node, in a session of its own (Ctrl-C does not reach it). It ends with the lab at the latest.
   */
  spawn(node: string, argv: readonly string[], opts?: SpawnOptions): ChildProcess;
  /** Puts a file of this machine over one of the node, until the lab goes down; the last one covers the others. */
  cover(node: string, source: string, target: string): Promise<void>;
  netnsPath(node: string): string;
  /** Ends and removes everything. Idempotent. */
  down(): Promise<void>;
}

/** @throws LabError `bad-topology` that lists every problem with its line */
export function readTopology(file: string, name?: string): Topology {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new LabError('bad-topology', `cannot read ${file}: ${(error as Error).message}`);
  }
  const topology = parseTopology(text, file, name);
  if (topology.ok) return topology.value;
  throw new LabError(
    'bad-topology',
    topology.error.map((p) => `${file}:${p.line}:${p.column}: ${p.path}${p.path && ' '}${p.message}`).join('\n'),
  );
}

/** Runs a topology file. When anything fails, nothing is left. @throws LabError */
export async function labUp(file: string, opts: LabOptions = {}): Promise<Lab> {
  const topology = readTopology(file, opts.name);
  await bringUp(topology, {
    log: opts.log ?? silentLog,
    onStep: opts.onStep ?? (() => {}),
    ...(opts.signal && { signal: opts.signal }),
  });
  return openLab(topology.name);
}

/** A lab that runs already, by name. @throws LabError `not-up` */
export function openLab(name: string): Lab {
  const state = readState(name);
  if (!state) throw new LabError('not-up', `no lab named ${name} is up`);
  return new RunningLab(state);
}

/** Takes a lab down by name, whatever state it is in. Idempotent. */
export const labDown = (name: string): Promise<void> => takeDown(name);

class RunningLab implements Lab {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly #state: LabState;

  constructor(state: LabState) {
    this.#state = state;
    this.name = state.lab;
    this.nodes = state.nodes.map((n) => n.name);
  }

  #node(name: string): NodeState {
    const node = this.#state.nodes.find((n) => n.name === name);
    if (!node)
      throw new LabError(
        'no-such-node',
        `lab ${this.name} has no node ${JSON.stringify(name)}; it has ${this.nodes.join(', ')}`,
      );
    return node;
  }

  #environment(node: string, extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const all = { ...nodeEnvironment(this.name, this.#node(node)), ...extra };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  exec(node: string, argv: readonly string[], opts: RunOptions = {}): Promise<RunResult> {
    return run([...enterArguments(this.#node(node)), ...argv], {
      ...opts,
      env: this.#environment(node, opts.env),
    });
  }

  mustExec(node: string, argv: readonly string[], opts: RunOptions = {}): Promise<string> {
    const all = [...enterArguments(this.#node(node)), ...argv];
    return mustRun(all, { ...opts, env: this.#environment(node, opts.env) }, `${node}: ${argv.join(' ')}`);
  }

  spawn(node: string, argv: readonly string[], opts: SpawnOptions = {}): ChildProcess {
    const [nsenter, ...rest] = [...enterArguments(this.#node(node)), ...argv];
    return spawn(nsenter!, rest, {
      detached: true,
      ...opts,
      env: { ...process.env, ...this.#environment(node, opts.env) },
    });
  }

  async cover(node: string, source: string, target: string): Promise<void> {
    await this.mustExec(node, ['mount', '--bind', source, target]);
  }

  netnsPath(node: string): string {
    return netnsPath(this.#node(node).container);
  }

  down(): Promise<void> {
    return takeDown(this.name);
  }
}
