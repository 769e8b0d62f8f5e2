// Where connections over TCP come from. One source cannot take all of them: also who has no certificate keeps one open,
// for as long as the handshake may last.
import type { Socket } from 'node:net';
import { parseAddress } from '../model/address.ts';

/** Half of all. */
const MOST_OF_SOURCE = 128;

export class ConnectionSources {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most = MOST_OF_SOURCE) {
    this.#most = most;
  }

  /** @returns false: its source has as many as it may have. A unix socket has no source. */
  enter(connection: Pick<Socket, 'remoteAddress' | 'once'>): boolean {
    const { remoteAddress } = connection;
    if (remoteAddress === undefined) return true;
    const source = sourceOf(remoteAddress);
    const open = this.#open.get(source) ?? 0;
    if (open >= this.#most) return false;
    this.#open.set(source, open + 1);
    connection.once('close', () => {
      const left = this.#open.get(source)! - 1;
      if (left > 0) this.#open.set(source, left);
      else this.#open.delete(source);
    });
    return true;
  }
}

/** A host has a /64 of IPv6 to itself. */
function sourceOf(remote: string): string {
  const address = parseAddress(remote.replace(/%.*$/, ''));
  return address?.family === 6 && !remote.includes('.') ? `${address.value >> 64n}` : remote;
}
