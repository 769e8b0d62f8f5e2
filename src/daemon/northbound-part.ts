// The northbound sockets as declared in cnpd.yaml, and the one for the configuration, which is always there. A reload
// changes their groups but not their path. The reload is requested through the socket, and a new path that fails would
// leave the operator without one. The socket of Set exists only on a router that takes part in groups: everything is
// off until the file turns it on (PNC-6-e).
import { configSocketRefused, groupWaits, setSocketRefused, socketWaits } from '../diagnosis/configuration.ts';
import type { Intent, NorthboundIntent } from '../intent/intent.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import { setSocketOf } from '../model/paths.ts';
import type { NorthboundDependencies } from '../northbound/dependencies.ts';
import { type Northbound, startNorthbound } from '../northbound/server.ts';
import { removeStale } from '../northbound/socket.ts';
import { Subscriptions } from '../northbound/subscribe/service.ts';
import type { TcpOptions } from '../northbound/tcp.ts';
import { UnreadAnswers } from '../northbound/unread.ts';
import type { Problem } from '../model/problem.ts';
import { NorthboundTcp } from './northbound-tcp.ts';
import { socketGroup } from './socket-group.ts';

/** Of the file's intent: members declared at run time open nothing. */
type SocketSettings = Pick<
  Intent,
  'gnmiSocket' | 'gnmiSocketGroup' | 'gnmiSetGroup' | 'groups' | 'srv6' | 'source' | 'flowControl' | 'northbound'
>;

const groupOf = ({ gnmiSocketGroup: group }: SocketSettings): number | undefined =>
  group === undefined ? undefined : socketGroup(group);

const setGroupOf = ({ gnmiSetGroup: group }: SocketSettings): number | undefined =>
  group === undefined ? undefined : socketGroup(group, 'set-group');

/** Whether there is anything that somebody may change: members of groups, or holds. */
const takesPart = ({ groups, srv6, source, flowControl }: SocketSettings): boolean =>
  (groups ?? srv6?.endMt ?? srv6?.replication ?? source?.enforce ?? flowControl?.hold[0]) !== undefined;

/** What can be changed on any router: the configuration, and levels of the log. */
const ALWAYS_CHANGED = ['/cnpd/configuration', '/cnpd/status'];

/** Where there is nothing else that could be changed, no right to do so counts. */
const writeInForce = (path: string): string[] => {
  if (path === '/' || path === '/cnpd') return ALWAYS_CHANGED;
  return ALWAYS_CHANGED.some((known) => path === known || path.startsWith(`${known}/`)) ? [path] : [];
};

const tcpOptions = (desired: SocketSettings): TcpOptions | undefined => {
  const { northbound: declared } = desired;
  const inForce = (right: NorthboundIntent['rights'][number]) =>
    takesPart(desired) ? right : { ...right, write: right.write.flatMap(writeInForce) };
  return declared && { ...declared, rights: declared.rights.map(inForce) };
};

export class NorthboundPart {
  #northbound: Northbound | undefined;
  #dependencies: NorthboundDependencies | undefined;
  #inForce: SocketSettings | undefined;
  #refusal: string | undefined;
  #setter: Northbound | undefined;
  #setGroup: string | undefined;
  #setRefusal: string | undefined;
  #configurer: Northbound | undefined;
  #configRefusal: string | undefined;
  #tcp: NorthboundTcp | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws SocketError if the socket cannot be opened, Error if the group does not exist */
  async open(desired: SocketSettings, parts: NorthboundDependencies): Promise<void> {
    // What is subscribed to is compared once, whichever socket it is asked on, and memory is bounded for all of them.
    const dependencies = { ...parts, subscriptions: new Subscriptions(parts), unread: new UnreadAnswers(parts) };
    this.#northbound = await startNorthbound({ socket: desired.gnmiSocket, group: groupOf(desired) }, dependencies);
    this.#dependencies = dependencies;
    this.#tcp = new NorthboundTcp(dependencies, this.#clock);
    this.#inForce = desired;
  }

  /**
   * Opens or closes the socket of Set, and the port. A failure is a problem. Called once members can be taken, and
   * after each reload.
   */
  async serve(desired: SocketSettings): Promise<void> {
    await this.#serveSet(desired);
    await this.#serveConfig();
    await this.#tcp?.configure(tcpOptions(desired));
  }

  /** For root, who may write the file too. */
  async #serveConfig(): Promise<void> {
    this.#configRefusal = undefined;
    if (!this.#inForce || !this.#dependencies || this.#configurer) return;
    try {
      this.#configurer = await startNorthbound(
        { socket: this.#inForce.gnmiSocket, role: 'config' },
        this.#dependencies,
      );
    } catch (error) {
      this.#configRefusal = messageOf(error);
    }
  }

  async #serveSet(desired: SocketSettings): Promise<void> {
    this.#setRefusal = undefined;
    try {
      if (!this.#inForce || !this.#dependencies) return;
      if (!takesPart(desired)) {
        if (this.#setter) await this.#setter.close();
        else await removeStale(setSocketOf(this.#inForce.gnmiSocket));
        this.#setter = undefined;
      } else if (!this.#setter) {
        const options = { socket: this.#inForce.gnmiSocket, group: setGroupOf(desired), role: 'set' } as const;
        this.#setter = await startNorthbound(options, this.#dependencies);
        this.#setGroup = desired.gnmiSetGroup;
      } else if (this.#setGroup !== desired.gnmiSetGroup) {
        this.#setter.giveTo(setGroupOf(desired));
        this.#setGroup = desired.gnmiSetGroup;
      }
    } catch (error) {
      this.#setRefusal = messageOf(error);
    }
  }

  /** Gives the socket to the group of the new intent. A failure is a problem. */
  reload(desired: SocketSettings): void {
    this.#refusal = undefined;
    if (!this.#inForce || desired.gnmiSocketGroup === this.#inForce.gnmiSocketGroup) return;
    try {
      this.#northbound?.giveTo(groupOf(desired));
      const { gnmiSocketGroup: _, ...rest } = this.#inForce;
      this.#inForce = {
        ...rest,
        ...(desired.gnmiSocketGroup !== undefined && { gnmiSocketGroup: desired.gnmiSocketGroup }),
      };
    } catch (error) {
      this.#refusal = messageOf(error);
    }
  }

  /** Settings of the intent that take effect at the next start, as problems. */
  problems(desired: SocketSettings): Problem[] {
    if (!this.#inForce) return [];
    const { gnmiSocket } = this.#inForce;
    return [
      ...(gnmiSocket === desired.gnmiSocket ? [] : [socketWaits(gnmiSocket, desired.gnmiSocket)]),
      ...(this.#refusal === undefined ? [] : [groupWaits(this.#refusal)]),
      ...(this.#setRefusal === undefined ? [] : [setSocketRefused(this.#setRefusal)]),
      ...(this.#configRefusal === undefined ? [] : [configSocketRefused(this.#configRefusal)]),
      ...(this.#tcp?.problems() ?? []),
    ];
  }

  async close(): Promise<void> {
    await this.#tcp?.close();
    await this.#configurer?.close();
    await this.#setter?.close();
    await this.#northbound?.close();
  }
}
