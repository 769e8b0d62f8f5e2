// The northbound socket as cnpd.yaml wants it. Its group follows a reload; its path does not: who asks for the reload
// does so through it, and a path that cannot be had would leave the operator with none.
import { groupWaits, socketWaits } from '../diagnosis/configuration.ts';
import type { Intent } from '../intent/intent.ts';
import { type Northbound, type NorthboundModules, startNorthbound } from '../northbound/server.ts';
import type { Problem } from '../model/problem.ts';
import { socketGroup } from './socket-group.ts';

type Wanted = Pick<Intent, 'gnmiSocket' | 'gnmiSocketGroup'>;

const groupOf = ({ gnmiSocketGroup: group }: Wanted): number | undefined =>
  group === undefined ? undefined : socketGroup(group);

export class NorthboundPart {
  #northbound: Northbound | undefined;
  #inForce: Wanted | undefined;
  #refusal: string | undefined;

  /** @throws SocketError when the socket cannot be had, Error when there is no such group */
  async open(wanted: Wanted, dependencies: NorthboundModules): Promise<void> {
    this.#northbound = await startNorthbound({ socket: wanted.gnmiSocket, group: groupOf(wanted) }, dependencies);
    this.#inForce = wanted;
  }

  /** Gives the socket to the group of the new file, as far as this process can. */
  reload(wanted: Wanted): void {
    this.#refusal = undefined;
    if (!this.#inForce || wanted.gnmiSocketGroup === this.#inForce.gnmiSocketGroup) return;
    try {
      this.#northbound?.giveTo(groupOf(wanted));
      const { gnmiSocket } = this.#inForce;
      this.#inForce = {
        gnmiSocket,
        ...(wanted.gnmiSocketGroup !== undefined && { gnmiSocketGroup: wanted.gnmiSocketGroup }),
      };
    } catch (error) {
      this.#refusal = error instanceof Error ? error.message : String(error);
    }
  }

  /** What of the file in force waits for the next start. */
  problems(wanted: Wanted): Problem[] {
    if (!this.#inForce) return [];
    const { gnmiSocket } = this.#inForce;
    return [
      ...(gnmiSocket === wanted.gnmiSocket ? [] : [socketWaits(gnmiSocket, wanted.gnmiSocket)]),
      ...(this.#refusal === undefined ? [] : [groupWaits(this.#refusal)]),
    ];
  }

  async close(): Promise<void> {
    await this.#northbound?.close();
  }
}
