// Starts the two RoCE endpoints in the hosts of a scene and collects the JSON lines they print.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Lab } from '../lab/lab.ts';
import { program } from '../lab/program.ts';
import type { Host, RunSpec, Scene } from './scene.ts';

export interface EndpointEvent {
  readonly event: string;
  readonly t: number;
  readonly [field: string]: unknown;
}

export interface Endpoint {
  readonly events: readonly EndpointEvent[];
  /** The first event of this name, past or to come. Rejects when the endpoint ends without one. */
  waitFor(event: string): Promise<EndpointEvent>;
  /** Asks a source to complete what is under way, and to end then. */
  finish(): void;
  /** Asks it to end in order, and waits until it has. */
  stop(): Promise<void>;
  readonly ended: Promise<number>;
}

function follow(child: ChildProcess, name: string): Endpoint {
  const events: EndpointEvent[] = [];
  const waiting: { event: string; done: (e: EndpointEvent) => void; failed: (error: Error) => void }[] = [];
  let stderr = '';
  /** Once it has ended. */
  let withoutSaying: ((event: string) => Error) | undefined;
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const event = JSON.parse(line) as EndpointEvent;
    events.push(event);
    for (const w of waiting) if (w.event === event.event) w.done(event);
  });
  const ended = new Promise<number>((done) => {
    child.on('error', (error) => (stderr += error.message));
    child.on('close', (code, signal) => {
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      const last = stderr.slice(-500) || (events.length > 0 ? JSON.stringify(events.at(-1)) : 'it printed nothing');
      withoutSaying = (event) => new Error(`${name} ended ${how} without saying ${event}: ${last}`);
      for (const w of waiting) w.failed(withoutSaying(w.event));
      done(code ?? 1);
    });
  });
  return {
    events,
    ended,
    waitFor(event) {
      const past = events.find((e) => e.event === event);
      if (past) return Promise.resolve(past);
      if (withoutSaying) return Promise.reject(withoutSaying(event));
      return new Promise((done, failed) => waiting.push({ event, done, failed }));
    },
    finish() {
      child.kill('SIGUSR2');
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** @param argv of the role, besides the host's interface and address */
export const startEndpoint = (lab: Lab, host: Host, role: string, argv: readonly string[]): Endpoint => {
  const where = ['--interface', host.interface, '--address', host.address];
  return follow(
    lab.spawn(host.node, [process.execPath, program('roce-endpoint'), role, ...where, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
    `${host.node}'s endpoint`,
  );
};

/** @param cnpInterval how soon after a CNP it sends the next @param report interval of its reports */
export const startListener = (
  lab: Lab,
  receiver: Host,
  cnpInterval: RunSpec['cnpInterval'],
  report = '100ms',
): Endpoint => startEndpoint(lab, receiver, 'listen', ['--cnp-interval', cnpInterval, '--report', report]);

export const startSender = (
  lab: Lab,
  { sender, receiver, sendingRateBps }: Pick<Scene, 'sender' | 'receiver' | 'sendingRateBps'>,
  spec: Pick<RunSpec, 'sender' | 'durationMs'>,
): Endpoint =>
  startEndpoint(lab, sender, 'send', [
    '--peer',
    receiver.address,
    '--rate',
    `${sendingRateBps}bit`,
    '--duration',
    `${spec.durationMs}ms`,
    '--report',
    '50ms',
    '--timeout',
    '1s',
    ...spec.sender,
  ]);
