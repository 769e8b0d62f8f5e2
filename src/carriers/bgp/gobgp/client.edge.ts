// The client of a gobgpd: one session after another (session.edge.ts), with a pause in between that grows and is never quite the same, so that many cnpd do not fall upon a gobgpd that
// comes back at the same moment.
import { status } from '@grpc/grpc-js';
import type { Prefix } from '../../../model/prefix.ts';
import type { BgpPeerState } from '../../../model/state.ts';
import { CallError } from './channel.edge.ts';
import type { GobgpClient, GobgpOptions, OwnPath } from './gobgp.ts';
import { Session, type SessionModules } from './session.edge.ts';

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;

export interface GobgpClientModules extends SessionModules {
  /** 0 … 1, for the jitter. */
  readonly random?: () => number;
}

export function createGobgpClient(options: GobgpOptions, modules: GobgpClientModules): GobgpClient {
  const { clock, listener, log, count, random = Math.random } = modules;
  let session: Session | undefined;
  let pause = FIRST_RETRY_MS;
  let cancelRetry = (): void => {};
  let closed = false;

  const connect = (): void => {
    const mine = new Session(options, modules);
    session = mine;
    mine.run().catch((error: unknown) => {
      if (closed) return;
      session = undefined;
      if (mine.listed) pause = FIRST_RETRY_MS;
      const wait = pause * (0.75 + random() / 2);
      pause = Math.min(pause * 2, LAST_RETRY_MS);
      const reason = reasonOf(error, options);
      count('bgp.gobgp.lost');
      log.info({ target: options.target, reason }, 'gobgpd is lost, or was never there');
      cancelRetry = clock.after(wait, connect);
      listener.lost(reason, clock.now() + wait);
    });
  };
  const connected = (): Session => {
    if (!session) throw new Error('gobgpd is not connected');
    return session;
  };

  return {
    start: connect,
    add: async (paths: readonly OwnPath[]) => connected().add(paths),
    withdraw: async (prefixes: readonly Prefix[]) => connected().withdraw(prefixes),
    peers: async (): Promise<BgpPeerState[]> => {
      try {
        return (await session?.peers()) ?? [];
      } catch (error) {
        count('bgp.gobgp.peers-failed');
        log.warn({ error }, 'gobgpd does not tell of its neighbours');
        return [];
      }
    },
    close: async () => {
      closed = true;
      cancelRetry();
      session?.close();
    },
  };
}

/** What an operator can do something about comes first. */
function reasonOf(error: unknown, { maxMessageBytes }: GobgpOptions): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof CallError ? error.code : undefined;
  if (code === status.DEADLINE_EXCEEDED) return `gobgpd accepts the connection and does not answer (${message})`;
  if (code === status.RESOURCE_EXHAUSTED) return `gobgpd sent a message of more than ${maxMessageBytes} bytes, or refused one of ours as too long (${message})`;
  // The library's words around the kernel's: `No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:50051. Resolution note: `.
  return message.replace(/^No connection established\. Last error: (?:Error: )?/, '').replace(/\. Resolution note: .*$/s, '');
}
