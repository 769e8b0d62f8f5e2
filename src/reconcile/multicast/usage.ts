// What packets of groups use, by the states that the programs write. A root goes on with its tree while its agent is
// down or behind. So other routers need that tree, and what it refers to, whatever they plan by then.
import { u32Key } from '../../kernel/dataplane/layout.ts';
import { type MulticastRole, multicastStateIndex } from '../../kernel/dataplane/multicast-lists.ts';
import { decodeMulticastState } from '../../kernel/dataplane/multicast-state.ts';
import type { MulticastMaps } from './maps.ts';

/** A source that waits for a stalled branch only repeats packets, up to seconds apart. */
export const DATA_FLOWS_MS = 10_000;

/** What a role of a group has used last. */
export interface Used {
  /** Numbers in the kernel. `parent` 0: this router is the root. */
  readonly list: number;
  readonly parent: number;
  /** Since the last packet. */
  readonly silentMs: number;
}

/** All methods throw KernelError when the kernel cannot be read. */
export class Usage {
  readonly #maps: Pick<MulticastMaps, 'states'>;
  readonly #nowNs: () => bigint;

  /** @param nowNs CLOCK_MONOTONIC */
  constructor(maps: Pick<MulticastMaps, 'states'>, nowNs: () => bigint) {
    this.#maps = maps;
    this.#nowNs = nowNs;
  }

  /** By the group's number. Undefined: no packet has come yet. */
  of(group: number, role: MulticastRole): Used | undefined {
    const value = this.#maps.states.lookup(u32Key(multicastStateIndex(group, role)));
    const state = value && decodeMulticastState(value);
    if (!state?.current) return undefined;
    const { list, parent } = state.current;
    return { list, parent, silentMs: Number((this.#nowNs() - state.dataNs) / 1_000_000n) };
  }

  /** What packets have used within this time. */
  lately(group: number, withinMs: number): Used[] {
    return (['edge', 'branching'] as const)
      .flatMap((role) => this.of(group, role) ?? [])
      .filter(({ silentMs }) => silentMs < withinMs);
  }
}
