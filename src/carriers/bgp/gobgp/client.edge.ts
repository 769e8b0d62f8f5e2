// The client of a gobgpd: one session after another (session.edge.ts), with a pause in between (reconnect.ts).
import type { Prefix } from '../../../model/prefix.ts';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { GobgpClient, GobgpOptions, OwnPath } from './gobgp.ts';
import { reasonOf } from './reason.ts';
import { FIRST_PAUSE_MS, nextPause, withJitter } from './reconnect.ts';
import { Session, type SessionModules } from './session.edge.ts';

export interface GobgpClientModules extends SessionModules {
  /** 0 … 1, for the jitter. */
  readonly random?: () => number;
}

export function createGobgpClient(options: GobgpOptions, modules: GobgpClientModules): GobgpClient {
  const { clock, listener, log, count, random = Math.random } = modules;
  let session: Session | undefined;
  let pause = FIRST_PAUSE_MS;
  let cancelRetry = (): void => {};
  let closed = false;

  const connect = (): void => {
    const mine = new Session(options, modules);
    session = mine;
    mine.run().catch((error: unknown) => {
      if (closed) return;
      session = undefined;
      if (mine.listed) pause = FIRST_PAUSE_MS;
      const wait = withJitter(pause, random());
      pause = nextPause(pause);
      const reason = reasonOf(error, options);
      count('bgp.gobgp.lost');
      log.info({ target: options.target, reason }, 'gobgpd is lost, or was never there');
      cancelRetry = clock.after(wait, connect);
      listener.lost(reason, clock.now() + wait);
    });
  };
  const refused = (cause: unknown): never => {
    throw new Error(reasonOf(cause, options), { cause });
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
    peers: async (): Promise<BgpPeerState[] | undefined> => {
      try {
        return await session?.peers();
      } catch (error) {
        count('bgp.gobgp.peers-failed');
        log.warn({ error }, 'gobgpd does not tell of its neighbours');
        return undefined;
      }
    },
    close: async () => {
      closed = true;
      cancelRetry();
      session?.close();
    },
  };
}
