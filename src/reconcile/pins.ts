// The pins of the maps, and the BPF file system that holds them. Without its pin a map is lost when the agent ends, and
// the next run starts from nothing. Removing a pin, or unmounting the file system, does not affect running programs. So
// the periodic full pass pins missing maps again.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mountBpffs } from '../kernel/bpf/bpffs.ts';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { pinObject } from '../kernel/bpf/syscall.ts';
import type { Operations } from './operations.ts';

export interface MapPin {
  /** `pin NAME` */
  readonly id: string;
  readonly map: string;
}

/** The part of an open feature that pinning needs. */
export interface Opened {
  readonly object: BpfObject;
  readonly scratchMaps: readonly string[];
}

/** The desired pins of the open objects. Maps made by the compiler have a dot in their name and are not pinned. */
export const mapPins = (opened: readonly Opened[]): MapPin[] => {
  const names = opened.flatMap(({ object, scratchMaps }) =>
    object.mapNames.filter((name) => !name.includes('.') && !scratchMaps.includes(name)),
  );
  return [...new Set(names)].map((map) => ({ id: `pin ${map}`, map }));
};

/**
 * Maps that several objects share are one map. Pins are never pruned: a later run may need the map of an earlier one.
 */
export function mapPinOperations(bpfDir: string, opened: () => readonly Opened[]): Operations<MapPin> {
  return {
    kind: 'map-pin',
    update: ({ map }) => {
      if (existsSync(join(bpfDir, map))) return;
      mountBpffs(bpfDir);
      const owner = opened().find(({ object }) => object.mapNames.includes(map));
      if (owner) pinObject(owner.object.map(map).fd, join(bpfDir, map));
    },
    delete: () => {},
    prune: () => [],
    verify: ({ map }) => existsSync(join(bpfDir, map)),
  };
}
