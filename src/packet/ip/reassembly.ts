// Puts fragmented datagrams together again (RFC 791 §3.2; RFC 8200 §4.5). Bounded in place of a timer: when too many
// are begun, the oldest is forgotten. Fragments that overlap make the datagram unusable (RFC 5722).
import { concat } from '../bytes.ts';

export interface Fragment {
  /** Bytes from the start of the datagram's payload, a multiple of 8. */
  readonly offset: number;
  /** Not the last. */
  readonly more: boolean;
  readonly payload: Uint8Array;
}

interface Begun {
  readonly parts: Fragment[];
  /** Bytes that have come. */
  size: number;
  /** Of the whole payload, when the last fragment has come. */
  total: number | undefined;
}

const MAX_PAYLOAD = 0xffff;

export class Reassembly {
  private readonly begun = new Map<string, Begun>();
  private readonly limit: number;

  /** @param limit of datagrams that are begun at a time */
  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Takes a fragment; its payload is copied.
   * @param key of its datagram: addresses, protocol and identification
   * @returns the whole payload when nothing is missing any more
   */
  add(key: string, { offset, more, payload }: Fragment): Uint8Array | undefined {
    const datagram = this.begun.get(key) ?? this.begin(key);
    const end = offset + payload.length;
    const overlaps = datagram.parts.some((part) => offset < part.offset + part.payload.length && part.offset < end);
    const misfit =
      (more && payload.length % 8 !== 0) ||
      end > MAX_PAYLOAD ||
      (datagram.total !== undefined && (!more || end > datagram.total));
    if (overlaps || misfit || payload.length === 0) {
      this.begun.delete(key);
      return undefined;
    }
    datagram.parts.push({ offset, more, payload: payload.slice() });
    datagram.size += payload.length;
    if (!more) datagram.total = end;
    if (datagram.size !== datagram.total) return undefined;
    this.begun.delete(key);
    return concat(...datagram.parts.sort((a, b) => a.offset - b.offset).map((part) => part.payload));
  }

  private begin(key: string): Begun {
    const [oldest] = this.begun.keys();
    if (this.begun.size >= this.limit && oldest !== undefined) this.begun.delete(oldest);
    const datagram: Begun = { parts: [], size: 0, total: undefined };
    this.begun.set(key, datagram);
    return datagram;
  }
}
