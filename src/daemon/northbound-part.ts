// The northbound socket as declared in cnpd.yaml. A reload changes its group but not its path. The reload is requested
// through the socket, and a new path that fails would leave the operator without one.
import { groupWaits, socketWaits } from '../diagnosis/configuration.ts';
import type { Intent } from '../intent/intent.ts';
import { type Northbound, type NorthboundDependencies, startNorthbound } from '../northbound/server.ts';
import type { Problem } from '../model/problem.ts';
import { socketGroup } from './socket-group.ts';

type SocketSettings = Pick<Intent, 'gnmiSocket' | 'gnmiSocketGroup'>;

const groupOf = ({ gnmiSocketGroup: group }: SocketSettings): number | undefined =>
  group === undefined ? undefined : socketGroup(group);

export class NorthboundPart {
  #northbound: Northbound | undefined;
  #inForce: SocketSettings | undefined;
  #refusal: string | undefined;

  /** @throws SocketError if the socket cannot be opened, Error if the group does not exist */
  async open(desired: SocketSettings, dependencies: NorthboundDependencies): Promise<void> {
    this.#northbound = await startNorthbound({ socket: desired.gnmiSocket, group: groupOf(desired) }, dependencies);
    this.#inForce = desired;
  }

  /** Gives the socket to the group of the new intent. A failure is a problem. */
  reload(desired: SocketSettings): void {
    this.#refusal = undefined;
    if (!this.#inForce || desired.gnmiSocketGroup === this.#inForce.gnmiSocketGroup) return;
    try {
      this.#northbound?.giveTo(groupOf(desired));
      const { gnmiSocket } = this.#inForce;
      this.#inForce = {
        gnmiSocket,
        ...(desired.gnmiSocketGroup !== undefined && { gnmiSocketGroup: desired.gnmiSocketGroup }),
      };
    } catch (error) {
      this.#refusal = error instanceof Error ? error.message : String(error);
    }
  }

  /** Settings of the intent that take effect at the next start, as problems. */
  problems(desired: SocketSettings): Problem[] {
    if (!this.#inForce) return [];
    const { gnmiSocket } = this.#inForce;
    return [
      ...(gnmiSocket === desired.gnmiSocket ? [] : [socketWaits(gnmiSocket, desired.gnmiSocket)]),
      ...(this.#refusal === undefined ? [] : [groupWaits(this.#refusal)]),
    ];
  }

  async close(): Promise<void> {
    await this.#northbound?.close();
  }
}
