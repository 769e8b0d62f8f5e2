// The client of a gobgpd: one session after another (session.edge.ts), with a pause in between (reconnect.ts).
import type { Clock } from '../../../model/clock.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { GobgpError } from './fault.ts';
import type { GobgpClient, GobgpOptions, OwnPath } from './gobgp.ts';
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

export function createGobgpClient(options: GobgpOptions, dependencies: GobgpClientDependencies): GobgpClient {
  const { clock, listener, log, count, guard, random = Math.random } = dependencies;
  let session: Session | undefined;
  let pause = FIRST_PAUSE_MS;
  let cancelRetry = (): void => {};
  let closed = false;
  let members: ReadonlySet<number> = new Set();

  const connect = (): void => {
    const mine = new Session(options, { ...dependencies, members: () => members });
    session = mine;
    mine.run().catch((error: unknown) => {
      if (closed) return;
      session = undefined;
      if (mine.listed) pause = FIRST_PAUSE_MS;
      const wait = withJitter(pause, random());
      pause = nextPause(pause);
      const fault = faultOf(error, options);
      count('bgp.gobgp.lost');
      log.info({ target: options.target, reason: fault.reason }, 'gobgpd is lost, or never answered');
      cancelRetry = clock.after(wait, connect);
      listener.lost(fault, clock.now() + wait);
    });
  };
  const refused = (cause: unknown): never => {
    const { code, reason } = faultOf(cause, options);
    throw new GobgpError(code, reason, { cause });
  };
  const connected = (): Session => {
    if (!session) throw new Error('gobgpd is not connected');
    return session;
  };

  return {
    start: connect,
    add: async (paths: readonly OwnPath[]) => connected().add(paths).catch(refused),
    withdraw: async (prefixes: readonly Prefix[]) => connected().withdraw(prefixes).catch(refused),
    look: async (prefixes: readonly Prefix[]) => connected().look(prefixes),
    peers: () =>
      new Promise((resolve) => {
        const mine = session;
        if (!mine) return resolve(undefined);
        const cancel = clock.after(PEERS_MS, () => resolve(mine.lastPeers));
        mine.listPeers().then(
          (peers) => (cancel(), resolve(peers)),
          (error: unknown) => {
            cancel();
            count('bgp.gobgp.peers-failed');
            log.warn({ error }, 'gobgpd does not report its neighbors');
            resolve(undefined);
          },
        );
      }),
    setMembers: (now) => {
      members = now;
      session?.lookAtPolicy();
    },
    policy: () => session?.policy ?? (guard?.policy ? { state: 'pending' } : { state: 'off' }),
    silentMs: () => session?.silentMs ?? 0,
    close: async (keepPolicy = true) => {
      if (!closed && !keepPolicy && session)
        await within(REMOVE_MS, clock, session.removePolicy()).catch((error: unknown) =>
          log.warn({ error }, "cnpd's policies stay in gobgpd"),
        );
      closed = true;
      cancelRetry();
      session?.close();
    },
  };
}

function within(ms: number, clock: Clock, what: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () =>
      reject(new GobgpError('no-answer', `gobgpd does not answer (within ${ms / 1000} s)`)),
    );
    what.then(resolve, reject).finally(cancel);
  });
}
