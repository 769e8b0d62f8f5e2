// One run of a scene: traffic, observation, result.
import type { Poller } from '../kernel/poller.ts';
import type { Lab } from '../lab/lab.ts';
import { type Endpoint, startListener, startSender } from './endpoints.ts';
import { evaluate } from './evaluate.ts';
import { Opened } from './opened.ts';
import { type QueueObserver, observeQueue } from './queue.ts';
import type { NotificationSeen, RunResult } from './results.ts';
import { configure, portStates } from './routers.ts';
import type { RunSpec, Scene } from './scene.ts';
import { type WireDependencies, type WireTap, tapNotifications, tapTunneled } from './wire.ts';

const PROGRESS_MS = 1000;
const SAMPLING = { intervalMs: 2 };

/** What is looked at, in the order of the scene's watched ports. */
export interface Observers {
  readonly queues: readonly QueueObserver[];
  readonly notifications: WireTap<NotificationSeen>;
  /** Notifications inside tunnels, where the scene has any. */
  readonly tunneled: WireTap<Uint8Array> | undefined;
  close(): void;
}

export async function openObservers(
  lab: Lab,
  scene: Scene,
  dependencies: { readonly poller: Poller; readonly onError: (error: Error) => void },
): Promise<Observers> {
  const wire: WireDependencies = { ...dependencies, netnsPath: (node) => lab.netnsPath(node) };
  const opened = new Opened();
  try {
    const queues: QueueObserver[] = [];
    for (const port of scene.watched)
      queues.push(
        opened.keep(await observeQueue(lab.netnsPath(port.node), port.interface, SAMPLING, dependencies.poller)),
      );
    const notifications = opened.keep(tapNotifications(scene.sender, wire));
    const tunneled = scene.tunnel && opened.keep(tapTunneled(scene.tunnel.at, scene.tunnel.endCon, wire));
    return { queues, notifications, tunneled, close: () => opened.close() };
  } catch (error) {
    opened.close();
    throw error;
  }
}

interface RunDependencies {
  readonly lab: Lab;
  readonly observers: Observers;
  /** K_min of the watched ports as configured, bytes. */
  readonly kMin: readonly number[];
  /** Where the configurations of the run are written. */
  readonly output: string;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

export async function makeRun(scene: Scene, spec: RunSpec, dependencies: RunDependencies): Promise<RunResult> {
  const { lab, observers, kMin } = dependencies;
  await configure(lab, scene, spec, kMin, dependencies.output);
  const before = await portStates(lab, scene.watched);
  const ends = await traffic(scene, spec, dependencies);
  const after = await portStates(lab, scene.watched);
  return evaluate(scene, spec, {
    ...ends,
    ports: scene.watched.map((port, i) => ({
      port,
      queue: observers.queues[i]!.samples,
      drops: observers.queues[i]!.drops,
      before: before[i]!,
      after: after[i]!,
      kMin: kMin[i]!,
    })),
    notifications: observers.notifications.seen,
    tunneled: observers.tunneled?.seen,
  });
}

async function traffic(
  scene: Scene,
  spec: RunSpec,
  { lab, observers, signal, progress }: RunDependencies,
): Promise<{ sender: Endpoint['events']; listener: Endpoint['events'] }> {
  const listener = startListener(lab, scene.receiver, spec.cnpInterval);
  await listener.waitFor('ready');
  observers.notifications.clear();
  observers.tunneled?.clear();
  await Promise.all(observers.queues.map((queue) => queue.start()));
  const sender = startSender(lab, scene, spec);
  const abort = (): void => void sender.stop();
  signal.addEventListener('abort', abort);
  const ticker = setInterval(() => progress(progressLine(scene, sender, observers)), PROGRESS_MS);
  try {
    await sender.waitFor('summary');
    await sender.ended;
    signal.throwIfAborted();
  } finally {
    clearInterval(ticker);
    signal.removeEventListener('abort', abort);
    await Promise.all(observers.queues.map((queue) => queue.stop()));
    await listener.stop();
  }
  return { sender: sender.events, listener: listener.events };
}

function progressLine(scene: Scene, sender: Endpoint, { queues, notifications }: Observers): string {
  const rate = sender.events.findLast((e) => e.event === 'rate');
  const mbit = rate ? (Number(rate['sentBps']) / 1e6).toFixed(0) : '0';
  const held = scene.watched.map(
    ({ node }, i) =>
      `${node}'s queue holds ${((queues[i]!.samples.at(-1)?.[1] ?? 0) / 1000).toFixed(0)} kB ` +
      `(${queues[i]!.drops} drops)`,
  );
  return (
    `${scene.sender.node} sends ${mbit} Mbit/s, ${held.join(', ')}, ` +
    `${notifications.seen.length} notifications on ${scene.sender.node}'s wire`
  );
}
