// gNMI over TCP as declared in cnpd.yaml. A listener is closed only when the next one listens. An address that cannot
// be had is a problem and is tried again; until then cnpd serves as before.
import { isDeepStrictEqual } from 'node:util';
import { InTurn } from '../coordinator/in-turn.ts';
import { tcpRefused } from '../diagnosis/configuration.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import type { NorthboundDependencies } from '../northbound/dependencies.ts';
import { type Northbound, startTcpNorthbound } from '../northbound/server.ts';
import { type TcpOptions, type TcpSettings, readTcpSettings } from '../northbound/tcp.ts';

const RETRY_MS = 5000;

interface Listener extends Pick<Northbound, 'close'> {
  readonly settings: TcpSettings;
}

export class NorthboundTcp {
  readonly #dependencies: NorthboundDependencies;
  readonly #clock: Clock;
  #listener: Listener | undefined;
  #refusal: string | undefined;
  /** What is tried again. */
  #awaited: TcpSettings | undefined;
  #cancelRetry: (() => void) | undefined;
  readonly #inTurn = new InTurn();

  constructor(dependencies: NorthboundDependencies, clock: Clock) {
    this.#dependencies = dependencies;
    this.#clock = clock;
  }

  /**
   * Opens, moves or closes the listener; the files of certificates are read. Clients are disconnected where anything
   * has changed. Never rejects: what cannot be done is a problem.
   */
  configure(declared: TcpOptions | undefined): Promise<void> {
    return this.#inTurn.run(async () => {
      this.#cancelRetry?.();
      this.#awaited = undefined;
      try {
        await this.#follow(declared && readTcpSettings(declared), false);
      } catch (error) {
        this.#refusal = messageOf(error);
      }
    });
  }

  problems(): Problem[] {
    return this.#refusal === undefined
      ? []
      : [tcpRefused(this.#refusal, { listens: this.#listener !== undefined, retries: this.#awaited !== undefined })];
  }

  close(): Promise<void> {
    return this.configure(undefined);
  }

  async #follow(settings: TcpSettings | undefined, isRetry: boolean): Promise<void> {
    try {
      if (!isDeepStrictEqual(settings, this.#listener?.settings)) await this.#replace(settings, isRetry);
      this.#refusal = this.#awaited = undefined;
    } catch (error) {
      this.#refusal = messageOf(error);
      this.#awaited = settings;
      this.#cancelRetry = this.#clock.after(RETRY_MS, () => void this.#inTurn.run(() => this.#retry()));
    }
  }

  async #retry(): Promise<void> {
    if (this.#awaited) await this.#follow(this.#awaited, true);
  }

  async #replace(settings: TcpSettings | undefined, isRetry: boolean): Promise<void> {
    const former = this.#listener;
    try {
      this.#listener = settings && (await this.#listen(settings));
    } catch (error) {
      // A retry leaves those in peace who are connected to the former.
      if (!settings || isRetry || former?.settings.port !== settings.port || !isTaken(error)) throw error;
      return this.#swap(former, settings);
    }
    await former?.close();
  }

  /** The former listener may be what holds the port: it makes room, and comes back if that was not enough. */
  async #swap(former: Listener, settings: TcpSettings): Promise<void> {
    await former.close();
    this.#listener = undefined;
    try {
      this.#listener = await this.#listen(settings);
    } catch (error) {
      this.#listener = await this.#listen(former.settings).catch((again: unknown) => {
        this.#dependencies.log.error({ error: again }, 'gNMI over TCP cannot be served as before either');
        return undefined;
      });
      throw error;
    }
  }

  async #listen(settings: TcpSettings): Promise<Listener> {
    const { close } = await startTcpNorthbound(settings, this.#dependencies);
    return { settings, close };
  }
}

const isTaken = (error: unknown): boolean =>
  ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
