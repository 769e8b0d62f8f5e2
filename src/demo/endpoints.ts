// Starts the two RoCE endpoints in the hosts of the scene and collects the JSON lines they print.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Lab } from '../lab/lab.ts';
import { program } from '../lab/program.ts';
import type { Mode, ModeSpec } from './modes.ts';
import { SENDING_RATE } from './modes.ts';

export interface EndpointEvent {
  readonly event: string;
  readonly t: number;
  readonly [field: string]: unknown;
}

export interface Endpoint {
  readonly events: readonly EndpointEvent[];
  /** The first event of this name, past or to come. Rejects when the endpoint ends without one. */
  waitFor(event: string): Promise<EndpointEvent>;
  /** Asks it to end in order, and waits until it has. */
  stop(): Promise<void>;
  readonly ended: Promise<number>;
}

const H1 = '2001:db8:1::2';
const H2 = '2001:db8:2::2';

function follow(child: ChildProcess, name: string): Endpoint {
  const events: EndpointEvent[] = [];
  const waiting: { event: string; done: (e: EndpointEvent) => void; failed: (error: Error) => void }[] = [];
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const event = JSON.parse(line) as EndpointEvent;
    events.push(event);
    for (const w of waiting) if (w.event === event.event) w.done(event);
  });
  const ended = new Promise<number>((done) => {
    child.on('error', (error) => (stderr += error.message));
    child.on('close', (code) => {
      for (const w of waiting) w.failed(new Error(`${name} ended without saying ${w.event}: ${stderr.slice(-500) || JSON.stringify(events.at(-2) ?? {})}`));
      done(code ?? 1);
    });
  });
  return {
    events,
    ended,
    waitFor(event) {
      const past = events.find((e) => e.event === event);
      return past ? Promise.resolve(past) : new Promise((done, failed) => waiting.push({ event, done, failed }));
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const start = (lab: Lab, node: string, argv: readonly string[]): Endpoint =>
  follow(lab.spawn(node, [process.execPath, program('roce-endpoint'), ...argv], { stdio: ['ignore', 'pipe', 'pipe'] }), `${node}'s endpoint`);

export const startListener = (lab: Lab, receiverCnps: boolean): Endpoint =>
  start(lab, 'h2', ['listen', '--interface', 'eth1', '--address', H2, '--cnp-interval', receiverCnps ? '50us' : 'off']);

export const startSender = (lab: Lab, spec: Pick<ModeSpec, 'reaction' | 'durationMs'> & { readonly mode?: Mode }): Endpoint =>
  start(lab, 'h1', [
    'send', '--interface', 'eth1', '--address', H1, '--peer', H2, '--reaction', spec.reaction, '--rate', `${SENDING_RATE}bit`,
    '--duration', `${spec.durationMs}ms`, '--report', '50ms', '--timeout', '1s',
  ]);
