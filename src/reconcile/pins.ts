// The pins of the maps, and the BPF file system that holds them. Without its pin a map is lost with the agent, and the
// next run starts from nothing; who removes one (or unmounts the file system) does not take away what the programs use.
// So the periodic pass pins again what is not pinned any more.
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

/** A feature that is open, as far as its pins are concerned. */
export interface Opened {
  readonly object: BpfObject;
  readonly scratchMaps: readonly string[];
}

/** What should be pinned of the objects that are open. Maps of the compiler's have a dot in their name and no pin. */
export const mapPins = (opened: readonly Opened[]): MapPin[] => {
  const names = opened.flatMap(({ object, scratchMaps }) =>
    object.mapNames.filter((name) => !name.includes('.') && !scratchMaps.includes(name)),
  );
  return [...new Set(names)].map((map) => ({ id: `pin ${map}`, map }));
};

/**
 * Maps that several objects share are one map. Nothing is ever pruned: what is pinned by an earlier run may be wanted
 * by a later one.
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
