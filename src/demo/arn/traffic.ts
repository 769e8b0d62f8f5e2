// One run of the scene `arn`: B sends alone, then A as well. Queues and wires are watched meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import type { Poller } from '../../kernel/poller.ts';
import type { Lab } from '../../lab/lab.ts';
import { type Endpoint, startListener, startEndpoint } from '../endpoints.ts';
import { Opened } from '../opened.ts';
import { type QueueObserver, observeQueue } from '../queue.ts';
import { until } from '../routers.ts';
import type { WireDependencies, WireTap } from '../wire.ts';
import type { ArnObservations } from './evaluate.ts';
import type { ArnSeen } from './results.ts';
import { configureArn, grown, routerCounts } from './routers.ts';
import { type ArnRun, PAYLOAD_BYTES, PORTS, SERVICES, type ServiceName, WIRES } from './scene.ts';
import { tapArns } from './wire.ts';

/** The queues are for a plot; the CPU belongs to the hosts and routers. */
const SAMPLING = { intervalMs: 10, onsetMs: 0 };
const REPORT = '50ms';
/** B ends behind A, so that its last interval is whole. */
const MARGIN_MS = 300;

export interface ArnObservers {
  readonly queues: readonly QueueObserver[];
  readonly taps: readonly WireTap<ArnSeen>[];
  close(): void;
}

export async function openArnObservers(
  lab: Lab,
  dependencies: { readonly poller: Poller; readonly onError: (error: Error) => void },
): Promise<ArnObservers> {
  const wire: WireDependencies = { ...dependencies, netnsPath: (node) => lab.netnsPath(node) };
  const opened = new Opened();
  try {
    const queues: QueueObserver[] = [];
    for (const { node, interface: name } of PORTS)
      queues.push(opened.keep(await observeQueue(lab.netnsPath(node), name, SAMPLING, dependencies.poller)));
    return { queues, taps: WIRES.map((each) => opened.keep(tapArns(each, wire))), close: () => opened.close() };
  } catch (error) {
    opened.close();
    throw error;
  }
}

interface ArnRunDependencies {
  readonly lab: Lab;
  readonly observers: ArnObservers;
  /** Where the configurations of the run are written. */
  readonly output: string;
  readonly signal: AbortSignal;
}

export async function makeArnRun(run: ArnRun, dependencies: ArnRunDependencies): Promise<ArnObservations> {
  const { lab, observers, output, signal } = dependencies;
  await configureArn(lab, run, output, signal);
  const before = await routerCounts(lab);
  for (const tap of observers.taps) tap.clear();
  await Promise.all(observers.queues.map((queue) => queue.start()));
  let services: ArnObservations['services'];
  try {
    services = await traffic(lab, run, signal);
    await waitUntilEmpty(observers.queues, signal);
  } finally {
    await Promise.all(observers.queues.map((queue) => queue.stop()));
  }
  return {
    services,
    ports: observers.queues.map(({ samples, drops }) => ({ samples, drops })),
    arns: observers.taps.flatMap(({ seen }) => seen),
    routers: grown(before, await routerCounts(lab)),
  };
}

/** What is still in the network would be in the way of the next run. */
const waitUntilEmpty = (queues: readonly QueueObserver[], signal: AbortSignal): Promise<object> =>
  until('the end of what waits in the routers', signal, () => {
    const left = queues.reduce((sum, { samples }) => sum + (samples.at(-1)?.[1] ?? 0), 0);
    return Promise.resolve(left === 0 ? {} : `${left} bytes`);
  });

/** Sends until it is stopped, or for a time. */
const startService = (lab: Lab, name: ServiceName, argv: readonly string[]): Endpoint => {
  const { sender, receiver, sendingRateBps } = SERVICES[name];
  return startEndpoint(lab, sender, 'send', [
    ...['--peer', receiver.address, '--rate', `${sendingRateBps}bit`, '--payload', String(PAYLOAD_BYTES)],
    ...['--report', REPORT, '--timeout', '2s', ...argv],
  ]);
};

async function traffic(lab: Lab, run: ArnRun, signal: AbortSignal): Promise<ArnObservations['services']> {
  const started: Endpoint[] = [];
  const keep = (endpoint: Endpoint): Endpoint => {
    started.push(endpoint);
    return endpoint;
  };
  const abort = (): void => started.forEach((endpoint) => void endpoint.stop());
  signal.addEventListener('abort', abort);
  try {
    const receivers = [SERVICES.A, SERVICES.B].map(({ receiver }) => keep(startListener(lab, receiver, 'off', REPORT)));
    await Promise.all(receivers.map((receiver) => receiver.waitFor('ready')));
    const b = keep(startService(lab, 'B', ['--duration', '60s']));
    await b.waitFor('connected');
    await delay(run.aloneMs, undefined, { signal });
    const a = keep(startService(lab, 'A', ['--duration', `${run.togetherMs}ms`]));
    await a.waitFor('connected');
    await delay(run.togetherMs + MARGIN_MS, undefined, { signal });
    await Promise.all([b.stop(), a.ended]);
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    signal.throwIfAborted();
    return {
      A: { sender: a.events, receiver: receivers[0]!.events },
      B: { sender: b.events, receiver: receivers[1]!.events },
    };
  } finally {
    signal.removeEventListener('abort', abort);
    await Promise.all(started.map((endpoint) => endpoint.stop()));
  }
}
