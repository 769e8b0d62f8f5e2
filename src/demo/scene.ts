// What a scene of the demo is: a topology, a sender and a receiver, watched ports, the runs, and what they
// have to show. The scenes are in scenes/, their table in scenes.ts; everything else works on this description alone.
import { join } from 'node:path';
import type { Lab } from '../lab/lab.ts';
import { packageRoot } from '../lab/program.ts';
import type { Check } from './check.ts';
import type { Evidence, Mode, RunResult } from './results.ts';

export interface Port {
  readonly node: string;
  readonly interface: string;
}
export const portName = ({ node, interface: name }: Port): string => `${node} ${name}`;

/** A port with a TBF that cnpd watches. */
export interface WatchedPort extends Port {
  /** As in the topology: bit/s and bytes. */
  readonly rateBps: number;
  readonly limitBytes: number;
}

export interface Host extends Port {
  readonly address: string;
}

export interface RunSpec {
  readonly mode: Mode;
  readonly title: string;
  /**
   * How cnpd is configured for the watched ports: nothing; K_min alone, so that it marks; everything that the node's
   * cnpd.yaml says.
   */
  readonly ports: 'unwatched' | 'mark' | 'as-configured';
  /**
   * The receiver's CNPs: the least time between two. `off` in the cnpd run, so that every notification on the sender's
   * wire is cnpd's.
   */
  readonly cnpInterval: 'off' | '50us' | '20ms';
  /** Arguments of the sending endpoint besides the scene's. */
  readonly sender: readonly string[];
  readonly durationMs: number;
}

export interface Scene {
  readonly name: string;
  readonly title: string;
  /** For a line of text: who is connected to whom. */
  readonly path: string;
  /** The topology file. */
  readonly file: string;
  readonly sender: Host;
  readonly receiver: Host;
  readonly sendingRateBps: number;
  /** The first is the one from which feedback is measured. */
  readonly watched: readonly [WatchedPort, ...WatchedPort[]];
  /** Nodes on which cnpd runs. */
  readonly routers: readonly string[];
  /**
   * What routing must have reported to whom before there is a path: a prefix, or the address of one, and the protocol
   * by iproute2's name (`isis` unless given).
   */
  readonly routes: readonly (readonly [node: string, to: string, protocol?: string])[];
  /** Where notifications pass inside a tunnel, and the END.CON SID that is their destination there. */
  readonly tunnel?: { readonly at: Port; readonly endCon: string };
  readonly runs: readonly RunSpec[];
  /** How often all runs are made; default: once. */
  readonly repetitions?: number;
  /** Names for the addresses from which notifications come. */
  readonly names: Readonly<Record<string, string>>;
  /** Sends standard CNPs in the receiver's name. */
  readonly proxy?: string;
  /**
   * Asks the routers what they have to know before the first run, and waits until they do.
   * @throws Error when they do not
   */
  learn(lab: Lab, signal: AbortSignal): Promise<Evidence>;
  /** Did the runs show what the scene claims? Each failure is a sentence. Pure. */
  verdict(runs: readonly RunResult[]): string[];
  /** The verdict claim by claim, where the report is to list it. */
  checks?(runs: readonly RunResult[]): readonly Check[];
}

const sceneDirectory = (name: string): string => join(packageRoot(), 'containerlab', name);
export const topologyFile = (name: string): string => join(sceneDirectory(name), `${name}.clab.yml`);

/** Of each kind of run, ms. */
interface Durations {
  readonly uncontrolled: number;
  readonly controlled: number;
}
const ONCE: Durations = { uncontrolled: 6000, controlled: 20_000 };
/** With repetitions. Feedback, peak and settling are over within two seconds. */
const SHORT: Durations = { uncontrolled: 4000, controlled: 8000 };

interface Cnpd {
  readonly title: string;
  readonly understands?: readonly string[];
  /** What the sender makes of CNPs; default: DCQCN's reaction. */
  readonly reaction?: 'none';
}

const none = (durationMs: number): RunSpec => ({
  mode: 'none',
  title: 'no congestion control',
  ports: 'unwatched',
  cnpInterval: 'off',
  sender: ['--reaction', 'none'],
  durationMs,
});

const fromReceiver = (durationMs: number): RunSpec => ({
  mode: 'receiver',
  title: 'CNPs from the receiver, at most one in 50 µs',
  ports: 'mark',
  cnpInterval: '50us',
  sender: ['--reaction', 'dcqcn'],
  durationMs,
});

const fromCnpd = (cnpd: Cnpd, durationMs: number): RunSpec => ({
  mode: 'cnpd',
  title: cnpd.title,
  ports: 'as-configured',
  cnpInterval: 'off',
  sender: ['--reaction', cnpd.reaction ?? 'dcqcn', ...(cnpd.understands ?? [])],
  durationMs,
});

/**
 * The three runs: the same sender, network and overload. What differs is who speaks, and what the sender understands.
 */
export const threeRuns = (cnpd: Cnpd): readonly RunSpec[] => [
  none(ONCE.uncontrolled),
  fromReceiver(ONCE.controlled),
  fromCnpd(cnpd, ONCE.controlled),
];

/** With a receiver that may speak no more often than cnpd does: then only the place of the feedback differs. */
export const fourRuns = (cnpd: Cnpd): readonly RunSpec[] => [
  none(SHORT.uncontrolled),
  fromReceiver(SHORT.controlled),
  {
    ...fromReceiver(SHORT.controlled),
    mode: 'paced',
    title: 'CNPs from the receiver, at most one in 20 ms, as cnpd',
    cnpInterval: '20ms',
  },
  fromCnpd(cnpd, SHORT.controlled),
];
