// The maps of End.MT as reconcile uses them: bytes by key. BpfMap fits.
import type { BpfObject } from '../../kernel/bpf/object.ts';
import { MULTICAST_MAPS } from '../../kernel/dataplane/multicast.ts';

/** The part of a kernel map that is needed. */
export interface MulticastMap {
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array): void;
  updateBatch(entries: Iterable<readonly [Uint8Array, Uint8Array]>): void;
  /** Returns false if there was no such entry. */
  delete(key: Uint8Array): boolean;
  keys(): Iterable<Uint8Array>;
  entries(): Iterable<readonly [Uint8Array, Uint8Array]>;
}

export type MulticastMaps = Readonly<Record<keyof typeof MULTICAST_MAPS, MulticastMap>>;

export const multicastMaps = (object: BpfObject): MulticastMaps =>
  Object.fromEntries(
    Object.entries(MULTICAST_MAPS).map(([name, map]) => [name, object.map(map)]),
  ) as unknown as MulticastMaps;
