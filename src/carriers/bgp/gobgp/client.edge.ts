// The client of a gobgpd: one session after another (session.edge.ts), with a pause in between (reconnect.ts).
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { Clock } from '../../../model/clock.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { GobgpError } from './fault.ts';
import type { GobgpClient, GobgpOptions, OwnPath, PolicyReport } from './gobgp.ts';
import { faultOf } from './reason.ts';
import { FIRST_PAUSE_MS, nextPause, withJitter } from './reconnect.ts';
import { Session, type SessionDependencies } from './session.edge.ts';

/** A view of the state waits no longer for gobgpd, milliseconds. */
const PEERS_MS = 500;
/** Nor does a stop. */
const REMOVE_MS = 5000;

export interface GobgpClientDependencies extends Omit<SessionDependencies, 'members'> {
  /** 0 … 1, for the jitter. */
  readonly random?: () => number;
}

export const createGobgpClient = (options: GobgpOptions, dependencies: GobgpClientDependencies): GobgpClient =>
  new Client(options, dependencies);

class Client implements GobgpClient {
  readonly #options: GobgpOptions;
  readonly #dependencies: GobgpClientDependencies;
  #session: Session | undefined;
  #pause = FIRST_PAUSE_MS;
  #cancelRetry = (): void => {};
  #closed = false;
  #members: ReadonlySet<number> = new Set();

  constructor(options: GobgpOptions, dependencies: GobgpClientDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  start(): void {
    const session = new Session(this.#options, { ...this.#dependencies, members: () => this.#members });
    this.#session = session;
    session.run().catch((error: unknown) => this.#lost(session, error));
  }

  #lost({ listed }: Session, error: unknown): void {
    if (this.#closed) return;
    const { clock, listener, log, count, random = Math.random } = this.#dependencies;
    this.#session = undefined;
    if (listed) this.#pause = FIRST_PAUSE_MS;
    const wait = withJitter(this.#pause, random());
    this.#pause = nextPause(this.#pause);
    const fault = faultOf(error, this.#options);
    count('bgp.gobgp.lost');
    log.info({ target: this.#options.target, reason: fault.reason }, 'gobgpd is lost, or never answered');
    this.#cancelRetry = clock.after(wait, () => this.start());
    listener.lost(fault, clock.now() + wait);
  }

  async add(paths: readonly OwnPath[]): Promise<void> {
    const session = this.#connected();
    await session.add(paths).catch((cause: unknown) => this.#refuse(cause));
  }

  async withdraw(prefixes: readonly Prefix[]): Promise<void> {
    const session = this.#connected();
    await session.withdraw(prefixes).catch((cause: unknown) => this.#refuse(cause));
  }

  async look(prefixes: readonly Prefix[]): Promise<void> {
    await this.#connected().look(prefixes);
  }

  peers(): Promise<BgpPeerState[] | undefined> {
    const session = this.#session;
    if (!session) return Promise.resolve(undefined);
    const { clock, count, log } = this.#dependencies;
    return new Promise((resolve) => {
      const cancel = clock.after(PEERS_MS, () => resolve(session.lastPeers));
      session.listPeers().then(
        (peers) => (cancel(), resolve(peers)),
        (error: unknown) => {
          cancel();
          count('bgp.gobgp.peers-failed');
          log.warn({ error }, 'gobgpd does not report its neighbors');
          resolve(undefined);
        },
      );
    });
  }

  setMembers(members: ReadonlySet<number>): void {
    this.#members = members;
    this.#session?.lookAtPolicy();
  }

  policy(): PolicyReport {
    return this.#session?.policy ?? { state: this.#dependencies.guard?.policy ? 'pending' : 'off' };
  }

  silentMs(): number {
    return this.#session?.silentMs ?? 0;
  }

  async close(keepPolicy = true): Promise<void> {
    const { clock, log } = this.#dependencies;
    if (!this.#closed && !keepPolicy && this.#session)
      await within(REMOVE_MS, clock, this.#session.removePolicy()).catch((error: unknown) =>
        log.warn({ error }, "cnpd's policies stay in gobgpd"),
      );
    this.#closed = true;
    this.#cancelRetry();
    this.#session?.close();
  }

  #connected(): Session {
    if (!this.#session) throw new Error('gobgpd is not connected');
    return this.#session;
  }

  #refuse(cause: unknown): never {
    const { code, reason } = faultOf(cause, this.#options);
    throw new GobgpError(code, reason, { cause });
  }
}

function within(ms: number, clock: Clock, what: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () =>
      reject(new GobgpError('no-answer', `gobgpd does not answer (within ${ms / 1000} s)`)),
    );
    what.then(resolve, reject).finally(cancel);
  });
}
