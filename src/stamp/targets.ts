// Which router addresses are probed: the configured ones, then those learned from the IGP, at most MAX_TARGETS. A large
// network teaches more addresses than that, and most of their owners have no reflector: a learned target that never
// answered gives its place to one that waits, and queues up behind it. Pure.
import { type IpAddress, compareAddresses, formatAddress } from '../model/address.ts';

/** Probed at a time. */
export const MAX_TARGETS = 64;

export interface Candidate {
  readonly address: IpAddress;
  readonly source: 'configured' | 'learned';
}

interface TargetChanges {
  readonly added: readonly Candidate[];
  readonly removed: readonly IpAddress[];
}

export class TargetSet {
  /** Being probed, by address text. */
  readonly #active = new Map<string, Candidate>();
  /** Waiting for a place, in the order in which they will get one. */
  #waiting = new Map<string, Candidate>();

  /** The whole set as it is now; an address that is in both lists is a configured one. */
  replace(configured: readonly IpAddress[], learned: readonly IpAddress[]): TargetChanges {
    const wanted = new Map<string, Candidate>();
    for (const address of configured) wanted.set(formatAddress(address), { address, source: 'configured' });
    for (const address of [...learned].sort(compareAddresses)) {
      const key = formatAddress(address);
      if (!wanted.has(key)) wanted.set(key, { address, source: 'learned' });
    }
    const removed = [...this.#active].filter(([key, { source }]) => wanted.get(key)?.source !== source);
    for (const [key] of removed) this.#active.delete(key);
    // Who waited already stays in front; configured targets are in front of all.
    const kept = [...this.#waiting.keys()].filter((key) => wanted.has(key));
    const order = [...wanted]
      .sort(([, a], [, b]) => Number(a.source === 'learned') - Number(b.source === 'learned'))
      .map(([key]) => key);
    const configuredFirst = order.filter((key) => wanted.get(key)!.source === 'configured');
    this.#waiting = new Map(
      [...configuredFirst, ...kept, ...order]
        .filter((key) => !this.#active.has(key))
        .map((key) => [key, wanted.get(key)!]),
    );
    return { added: this.#fill(), removed: removed.map(([, { address }]) => address) };
  }

  /**
   * A learned target has not answered for long: the next one that waits takes its place. Undefined: none waits, or it
   * has to stay.
   */
  yieldPlace(address: IpAddress): Candidate | undefined {
    const key = formatAddress(address);
    const candidate = this.#active.get(key);
    if (candidate?.source !== 'learned' || this.#waiting.size === 0) return undefined;
    this.#active.delete(key);
    const [next] = this.#fill();
    this.#waiting.set(key, candidate);
    return next;
  }

  /** Known, but not probed now for want of places. */
  get waiting(): number {
    return this.#waiting.size;
  }

  #fill(): Candidate[] {
    const added: Candidate[] = [];
    for (const [key, candidate] of this.#waiting) {
      if (this.#active.size >= MAX_TARGETS) break;
      this.#waiting.delete(key);
      this.#active.set(key, candidate);
      added.push(candidate);
    }
    return added;
  }
}
