// What cnpd reports to systemd, sd_notify(3): READY when its intent is in force, RELOADING, STOPPING, a text for
// `systemctl status`, and WATCHDOG from the event loop. Without NOTIFY_SOCKET in the environment nothing is sent.
import { sendUnixDatagram } from '../kernel/unix-datagram.ts';
import { type Clock, systemClock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';

/** A state that systemd waits for is sent again after this time when its queue was full. */
const RETRY_MS = 500;
const RUNNING = 'running';

interface Outcome {
  readonly ok: boolean;
  readonly errors: readonly string[];
}

export interface ServiceManager {
  /** The intent is in force. The watchdog begins. */
  ready(): void;
  /** Runs a reload between RELOADING and READY. */
  reloading<T extends Outcome>(reload: () => Promise<T>): Promise<T>;
  /** The stop begins, and the watchdog ends: the stop has a limit of its own (TimeoutStopSec=). */
  stopping(): void;
}

interface Dependencies {
  readonly log: Log;
  readonly clock?: Clock;
  /** @throws KernelError */
  readonly send?: (path: string, text: string) => void;
  /** CLOCK_MONOTONIC, which systemd compares with its own. */
  readonly monotonicUsec?: () => bigint;
  /** Calls back once the event loop has polled for input. */
  readonly afterPoll?: (run: () => void) => void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @param env NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID as systemd sets them */
export function serviceManager(env: Environment, pid: number, dependencies: Dependencies): ServiceManager {
  const socket = env['NOTIFY_SOCKET'];
  if (!socket) return { ready: () => {}, reloading: (reload) => reload(), stopping: () => {} };
  return new Systemd(socket, watchdogMs(env, pid), dependencies);
}

/** Half of the time within which systemd expects to hear from this process; undefined without a watchdog. */
function watchdogMs(env: Environment, pid: number): number | undefined {
  const usec = Number(env['WATCHDOG_USEC']);
  const isMine = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid;
  return isMine && usec > 0 ? usec / 2000 : undefined;
}

class Systemd implements ServiceManager {
  readonly #socket: string;
  readonly #everyMs: number | undefined;
  readonly #dependencies: Required<Dependencies>;
  #cancelWatchdog: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopping = false;

  constructor(socket: string, everyMs: number | undefined, dependencies: Dependencies) {
    this.#socket = socket;
    this.#everyMs = everyMs;
    this.#dependencies = {
      clock: systemClock,
      send: sendUnixDatagram,
      monotonicUsec: () => process.hrtime.bigint() / 1000n,
      afterPoll: (run) => void setImmediate(run),
      ...dependencies,
    };
  }

  ready(): void {
    this.#report(['READY=1', `STATUS=${RUNNING}`]);
    if (this.#everyMs !== undefined && !this.#stopping) this.#watch(this.#everyMs);
  }

  async reloading<T extends Outcome>(reload: () => Promise<T>): Promise<T> {
    this.#report([
      'RELOADING=1',
      `MONOTONIC_USEC=${this.#dependencies.monotonicUsec()}`,
      'STATUS=reading the configuration again',
    ]);
    let status = RUNNING;
    try {
      const outcome = await reload();
      status = statusAfter(outcome);
      return outcome;
    } catch (error) {
      status = `${RUNNING}; the last reload failed: ${messageOf(error)}`;
      throw error;
    } finally {
      this.#report(['READY=1', `STATUS=${oneLine(status)}`]);
    }
  }

  stopping(): void {
    this.#stopping = true;
    this.#cancelWatchdog?.();
    this.#cancelRetry?.();
    this.#send(['STOPPING=1', 'STATUS=withdrawing what was advertised; forwarding and notification stay']);
  }

  /** A state that systemd waits for. A newer one replaces one that could not be sent. */
  #report(lines: readonly string[]): void {
    // A stop is the last word: a reload that ends meanwhile must not make the service active again.
    if (this.#stopping) return;
    this.#cancelRetry?.();
    if (!this.#send(lines)) this.#cancelRetry = this.#dependencies.clock.after(RETRY_MS, () => this.#report(lines));
  }

  #watch(everyMs: number): void {
    this.#cancelWatchdog?.();
    this.#cancelWatchdog = this.#dependencies.clock.after(everyMs, () => {
      this.#watch(everyMs);
      // A loop that runs timers and never comes to its input does not count as alive.
      this.#dependencies.afterPoll(() => this.#stopping || this.#send(['WATCHDOG=1']));
    });
  }

  #send(lines: readonly string[]): boolean {
    try {
      this.#dependencies.send(this.#socket, lines.join('\n'));
      return true;
    } catch (error) {
      this.#dependencies.log.warn({ error: messageOf(error), state: lines[0] }, 'cannot report to the service manager');
      return false;
    }
  }
}

function statusAfter({ ok, errors }: Outcome): string {
  if (!ok) return `${RUNNING}; the last reload was refused, the former configuration stays in force: ${errors[0]}`;
  return errors.length === 0 ? RUNNING : `${RUNNING}; not in force: ${errors[0]}`;
}

/** A line break would end the text and begin an assignment. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
