// The northbound sockets as declared in cnpd.yaml. A reload changes their groups but not their path. The reload is
// requested through the socket, and a new path that fails would leave the operator without one. The socket of Set
// exists only on a router that takes part in groups: everything is off until the file turns it on (PNC-6-e).
import { isDeepStrictEqual } from 'node:util';
import { groupWaits, setSocketRefused, socketWaits, tcpRefused } from '../diagnosis/configuration.ts';
import type { Intent, NorthboundIntent } from '../intent/intent.ts';
import { messageOf } from '../model/error-text.ts';
import { setSocketOf } from '../model/paths.ts';
import type { NorthboundDependencies } from '../northbound/dependencies.ts';
import { type Northbound, startNorthbound, startTcpNorthbound } from '../northbound/server.ts';
import { type TcpOptions, type TcpSettings, readTcpSettings } from '../northbound/tcp.ts';
import { removeStale } from '../northbound/socket.ts';
import { Subscriptions } from '../northbound/subscribe/service.ts';
import type { Problem } from '../model/problem.ts';
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

/** Where nothing can be changed, no right to do so counts. */
const tcpOptions = (declared: NorthboundIntent, maySet: boolean): TcpOptions => ({
  ...declared,
  rights: declared.rights.map((right) => (maySet ? right : { ...right, write: [] })),
});

export class NorthboundPart {
  #northbound: Northbound | undefined;
  #dependencies: NorthboundDependencies | undefined;
  #inForce: SocketSettings | undefined;
  #refusal: string | undefined;
  #setter: Northbound | undefined;
  #setGroup: string | undefined;
  #setRefusal: string | undefined;
  #tcp: Pick<Northbound, 'close'> | undefined;
  #tcpSettings: TcpSettings | undefined;
  #tcpRefusal: string | undefined;

  /** @throws SocketError if the socket cannot be opened, Error if the group does not exist */
  async open(desired: SocketSettings, parts: NorthboundDependencies): Promise<void> {
    // What is subscribed to is compared once, whichever socket it is asked on.
    const dependencies = { ...parts, subscriptions: new Subscriptions(parts) };
    this.#northbound = await startNorthbound({ socket: desired.gnmiSocket, group: groupOf(desired) }, dependencies);
    this.#dependencies = dependencies;
    this.#inForce = desired;
  }

  /**
   * Opens or closes the socket of Set, and the port. A failure is a problem. Called once members can be taken, and
   * after each reload.
   */
  async serve(desired: SocketSettings): Promise<void> {
    await this.#serveSet(desired);
    await this.#serveTcp(desired);
  }

  /** The files of certificates are read each time. Clients are disconnected where anything has changed. */
  async #serveTcp(desired: SocketSettings): Promise<void> {
    this.#tcpRefusal = undefined;
    if (!this.#dependencies) return;
    try {
      const settings = desired.northbound && readTcpSettings(tcpOptions(desired.northbound, takesPart(desired)));
      if (this.#tcp && isDeepStrictEqual(settings, this.#tcpSettings)) return;
      await this.#tcp?.close();
      this.#tcp = undefined;
      if (settings) this.#tcp = await startTcpNorthbound(settings, this.#dependencies);
      this.#tcpSettings = settings;
    } catch (error) {
      this.#tcpRefusal = messageOf(error);
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
        const socket = setSocketOf(this.#inForce.gnmiSocket);
        this.#setter = await startNorthbound({ socket, group: setGroupOf(desired), maySet: true }, this.#dependencies);
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
      ...(this.#tcpRefusal === undefined ? [] : [tcpRefused(this.#tcpRefusal, this.#tcp !== undefined)]),
    ];
  }

  async close(): Promise<void> {
    await this.#tcp?.close();
    await this.#setter?.close();
    await this.#northbound?.close();
  }
}
