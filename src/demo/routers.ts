// The routers of a scene as the demo uses them: asked through cnpctl, instructed by a changed file and a reload, as an
// operator would.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDocument } from 'yaml';
import type { Lab } from '../lab/lab.ts';
import type { PortCounts } from './results.ts';
import { type RunSpec, type Scene, type WatchedPort } from './scene.ts';

const CNPCTL = '/opt/cnpd/dist/cnpctl.js';
const PATIENCE_MS = 60_000;

/**
 * Asks again until there is an answer; a string is the reason why there is none.
 * @throws Error with `what`, and the last reason, after a minute
 */
export async function until<T extends object>(
  what: string,
  signal: AbortSignal,
  ask: () => Promise<T | string>,
): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    const asked = performance.now();
    const answer = await ask();
    if (typeof answer !== 'string') return answer;
    if (performance.now() > end) throw new Error(`${what} did not come within ${PATIENCE_MS / 1000} s: ${answer}`);
    // A look mostly starts a program, which takes CPU away from what is waited for: most of the time none runs.
    await delay(Math.max(200, 3 * (performance.now() - asked)));
  }
}

/** A row of `cnpctl show … -o json`. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of `cnpctl show …` at a node; a string: why there are none. */
export async function show(lab: Lab, node: string, ...subject: string[]): Promise<readonly Row[] | string> {
  const result = await lab.exec(node, [CNPCTL, '-o', 'json', 'show', ...subject]);
  return result.code === 0
    ? (JSON.parse(result.stdout) as Row[])
    : result.stderr.trim() || `cnpctl ended with status ${result.code}`;
}

/** What is found in the rows of `cnpctl show …`, as soon as it is there. */
export const waitForRows = <T extends object>(
  lab: Lab,
  node: string,
  subject: readonly string[],
  find: (rows: readonly Row[]) => T | undefined,
  signal: AbortSignal,
): Promise<T> =>
  until(`${node}: \`cnpctl show ${subject.join(' ')}\` as expected`, signal, async () => {
    const rows = await show(lab, node, ...subject);
    return typeof rows === 'string' ? rows : (find(rows) ?? `it lists ${JSON.stringify(rows).slice(0, 500)}`);
  });

/** The first row that will do. */
export const waitForRow = (
  lab: Lab,
  node: string,
  subject: readonly string[],
  suits: (row: Row) => boolean,
  signal: AbortSignal,
): Promise<Row> => waitForRows(lab, node, subject, (rows) => rows.find(suits), signal);

/** Until the sender has a path to the receiver, and the routers one to each other. */
export async function waitForRoutes(lab: Lab, { routes }: Pick<Scene, 'routes'>, signal: AbortSignal): Promise<void> {
  for (const [node, to, protocol = 'isis'] of routes) {
    await until(`the route from ${node} to ${to}`, signal, async () => {
      const { stdout } = await lab.exec(node, ['ip', '-6', 'route', 'show', 'proto', protocol, to]);
      return stdout.trim() === '' ? `${node} has no route to ${to} from ${protocol}` : {};
    });
  }
}

/** A watched port as its cnpd shows it. */
export interface PortState {
  readonly kMin: number | null;
  readonly kMax: number | null;
  readonly rttMs: number | null;
  readonly explanation: readonly string[];
  readonly counts: PortCounts;
}

const UNWATCHED: PortState = {
  kMin: null,
  kMax: null,
  rttMs: null,
  explanation: [],
  counts: { ceMarked: 0, triggers: 0, notifications: 0, deferred: 0 },
};
/** 0: there is none. */
const numberOrNull = (value: unknown): number | null => Number(value ?? 0) || null;

export function portState(row: Row | undefined): PortState {
  if (!row) return UNWATCHED;
  return {
    kMin: numberOrNull(row['k-min']),
    kMax: numberOrNull(row['k-max']),
    rttMs: numberOrNull(row['rtt-ms']),
    explanation: (row['explanation'] as string[] | undefined) ?? [],
    counts: {
      ceMarked: Number(row['ce-marked']),
      triggers: Number(row['triggers']),
      notifications: Number(row['notifications']),
      deferred: Number(row['deferred']),
    },
  };
}

/** @throws Error when cnpd does not answer */
export async function portStates(lab: Lab, watched: readonly WatchedPort[]): Promise<readonly PortState[]> {
  return Promise.all(
    watched.map(async ({ node, interface: name }) => {
      const rows = await show(lab, node, 'ports');
      if (typeof rows === 'string') throw new Error(`${node}: ${rows}`);
      return portState(rows.find((row) => row['interface'] === name));
    }),
  );
}

/**
 * The node's cnpd.yaml in the repository, with what this run says of its port.
 * @param kMin of the port as configured, bytes
 */
export function configuration(text: string, port: WatchedPort, how: RunSpec['ports'], kMin: number): string {
  if (how === 'as-configured') return text;
  const document = parseDocument(text);
  if (how === 'unwatched') document.delete('ports');
  else document.set('ports', document.createNode([{ interface: port.interface, 'k-min': kMin }]));
  return document.toString();
}

/**
 * Gives the cnpds of the watched ports the configuration of this run. The repository's files are covered, not changed.
 * @param kMin of each, as configured
 */
export async function configure(
  lab: Lab,
  scene: Scene,
  spec: Pick<RunSpec, 'mode' | 'ports'>,
  kMin: readonly number[],
  output: string,
): Promise<void> {
  mkdirSync(output, { recursive: true });
  for (const [i, port] of scene.watched.entries()) {
    const original = readFileSync(join(dirname(scene.file), port.node, 'cnpd.yaml'), 'utf8');
    const file = join(output, `${port.node}-${spec.mode}.yaml`);
    writeFileSync(file, configuration(original, port, spec.ports, kMin[i]!));
    await lab.cover(port.node, file, '/etc/cnpd/cnpd.yaml');
    await lab.mustExec(port.node, [CNPCTL, 'reload']);
  }
}

/** What went wrong is usually in these. */
export async function daemonLogs(lab: Lab, nodes: readonly string[]): Promise<string> {
  const tail = async (node: string): Promise<string> =>
    `${node}: ${(await lab.exec(node, ['tail', '-n', '5', '/var/log/cnpd.log'])).stdout.trim() || '(nothing)'}`;
  return (await Promise.all(nodes.map(tail))).join('\n');
}
