// Which router addresses are probed: the configured ones, then those learned from the IGP, at most MAX_TARGETS. A large
// network advertises more addresses than that, and most routers have no reflector. A learned target that has never
// answered gives its place to a waiting one, and queues up behind it. Pure.
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
  /** Waiting for a place, the next one first. */
  #waiting = new Map<string, Candidate>();

  /** Replaces the whole set. An address in both lists counts as configured. */
  replace(configured: readonly IpAddress[], learned: readonly IpAddress[]): TargetChanges {
    const candidates = new Map<string, Candidate>();
    for (const address of configured) candidates.set(formatAddress(address), { address, source: 'configured' });
    for (const address of [...learned].sort(compareAddresses)) {
      const key = formatAddress(address);
      if (!candidates.has(key)) candidates.set(key, { address, source: 'learned' });
    }
    const removed = [...this.#active].filter(([key, { source }]) => candidates.get(key)?.source !== source);
    for (const [key] of removed) this.#active.delete(key);
    // Targets that already waited stay in front; configured targets precede all.
    const kept = [...this.#waiting.keys()].filter((key) => candidates.has(key));
    const order = [...candidates]
      .sort(([, a], [, b]) => Number(a.source === 'learned') - Number(b.source === 'learned'))
      .map(([key]) => key);
    const configuredFirst = order.filter((key) => candidates.get(key)!.source === 'configured');
    this.#waiting = new Map(
      [...configuredFirst, ...kept, ...order]
        .filter((key) => !this.#active.has(key))
        .map((key) => [key, candidates.get(key)!]),
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

  /** Number of targets that wait for a place. */
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
