// BPF objects whose programs outlive the process too. They are pinned beside their maps, in a directory whose name has
// a digest of the object's file. A process with the same file opens them and loads nothing. So a restart costs no
// verification, and the kernel's objects keep their numbers. Any other file, or a pin that is missing or of another
// map, makes the object be loaded anew. Its programs then replace those that are attached.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { close } from '../ffi/libc.ts';
import { makePinDirectory } from './bpffs.ts';
import { BpfMap } from './map.ts';
import { BpfObject, openBpfObject } from './object.ts';
import { BpfProgram } from './program.ts';
import { mapInfo, openPinned, pinObject } from './syscall.ts';

/** Where the kept objects are, in the BPF file system of the maps. */
export const keptDirectory = (bpfDir: string): string => join(bpfDir, 'programs');

/** NAME_DIGEST_PINS. The number of pins shows that none is missing. `_new`: the process was killed while it pinned. */
const KEPT = /^(.+)_([0-9a-f]{32})_(\d+)(_new)?$/;
export const isKept = (directory: string): boolean => KEPT.test(directory);

interface KeptOptions {
  /** A BPF file system: maps are pinned here. */
  readonly bpfDir: string;
  /** Maps that other objects and other versions need not find. */
  readonly unpinned: readonly string[];
  /** An earlier object cannot be opened, or this one cannot be kept: it is loaded anew, now or after a restart. */
  readonly onNotKept: (error: unknown) => void;
}

const nameOf = (path: string): string => basename(path).split('.')[0]!;
const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 32);

/**
 * Opens the object of an earlier process, or loads it and keeps it.
 * @throws like openBpfObject
 */
export function openKeptObject(path: string, opts: KeptOptions): BpfObject {
  const attempt = <T>(run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      opts.onNotKept(error);
      return undefined;
    }
  };
  const digest = existsSync(path) ? attempt(() => digestOf(path)) : undefined;
  const found = digest === undefined ? undefined : attempt(() => adopt(path, digest, opts));
  if (found) return found;
  const object = openBpfObject(path, { pinDir: opts.bpfDir, unpinned: opts.unpinned });
  if (digest !== undefined) attempt(() => keep(object, digest, opts.bpfDir));
  return object;
}

/** Removes the kept objects that no file of these names belongs to. @returns the removed directories */
export function removeKept(bpfDir: string, openPaths: readonly string[]): string[] {
  const names = new Set(openPaths.map(nameOf));
  return removeWhere(bpfDir, (name) => !names.has(name));
}

function removeWhere(bpfDir: string, isStray: (name: string, directory: string) => boolean): string[] {
  const kept = keptDirectory(bpfDir);
  const strays = (existsSync(kept) ? readdirSync(kept) : []).filter((directory) => {
    const name = KEPT.exec(directory)?.[1];
    return name !== undefined && isStray(name, directory);
  });
  for (const directory of strays) rmSync(join(kept, directory), { recursive: true });
  return strays;
}

/** Undefined: nothing is kept of this file, or not all of it. */
function adopt(path: string, digest: string, { bpfDir, unpinned }: KeptOptions): BpfObject | undefined {
  const kept = keptDirectory(bpfDir);
  const start = `${nameOf(path)}_${digest}_`;
  const directory = (existsSync(kept) ? readdirSync(kept) : []).find(
    (name) => name.startsWith(start) && KEPT.exec(name)?.[4] === undefined,
  );
  if (directory === undefined) return undefined;
  const at = { maps: join(kept, directory, 'maps'), programs: join(kept, directory, 'programs') };
  const [mapNames, programNames] = [readdirSync(at.maps), readdirSync(at.programs)];
  if (mapNames.length + programNames.length !== Number(KEPT.exec(directory)![3])) return undefined;
  const [maps, programs] = [new Map<string, BpfMap>(), new Map<string, BpfProgram>()];
  const release = (): void => programs.forEach(({ fd }) => close(fd));
  const object = new BpfObject({ path, release, maps, programs, reusedMaps: mapNames, replacedMaps: [] });
  let isWhole = false;
  try {
    for (const name of mapNames) maps.set(name, BpfMap.openPinned(join(at.maps, name), { reused: true }));
    if (mapNames.some((name) => !unpinned.includes(name) && pinnedId(join(bpfDir, name)) !== maps.get(name)!.info.id))
      return undefined;
    for (const name of programNames)
      programs.set(name, new BpfProgram({ name, fd: openPinned(join(at.programs, name)) }));
    isWhole = true;
    return object;
  } finally {
    if (!isWhole) object.close();
  }
}

/** Number of the map pinned at a path; undefined if there is none. */
function pinnedId(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const fd = openPinned(path);
  try {
    return mapInfo(`information(${path})`, fd).id;
  } finally {
    close(fd);
  }
}

/**
 * Pins the programs and the maps of a loaded object, in place of those of other versions.
 * @param digest of the file before it was loaded
 * @throws KernelError; Error when the file is another one by now
 */
function keep(object: BpfObject, digest: string, bpfDir: string): void {
  // An upgrade unpacks while cnpd runs. The programs of the former file would pass for those of the new one.
  if (digestOf(object.path) !== digest) throw new Error(`${object.path} has changed while it was loaded`);
  // The file system allows no dots in names. Maps with dots are made by the compiler and are not looked into.
  const maps = object.mapNames.filter((name) => !name.includes('.'));
  const [name, kept] = [nameOf(object.path), keptDirectory(bpfDir)];
  const directory = `${name}_${digest}_${maps.length + object.programNames.length}`;
  const fresh = join(kept, `${directory}_new`);
  removeWhere(bpfDir, (other) => other === name);
  makePinDirectory(bpfDir, join(fresh, 'maps'));
  makePinDirectory(bpfDir, join(fresh, 'programs'));
  for (const map of maps) pinObject(object.map(map).fd, join(fresh, 'maps', map));
  for (const program of object.programNames) pinObject(object.program(program).fd, join(fresh, 'programs', program));
  renameSync(fresh, join(kept, directory));
}
