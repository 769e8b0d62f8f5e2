// CO-RE objects (dist/bpf/*.bpf.o): opened and loaded by libbpf, with maps that survive the process. With a pin
// directory, every map of the C source is pinned there under its own name, and an existing pin is reused. So two
// objects that declare a map of one name share it. A pinned map of another shape belongs to another version and its
// content cannot be decoded. It is replaced by an empty one, and the caller is notified. Programs of that version that
// are still attached keep the old map until they are replaced.
import { existsSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { KernelError } from '../errors.ts';
import { close } from '../ffi/libc.ts';
import { libbpf } from '../ffi/libbpf.ts';
import { type Pointer, PinnedBuffer, viewMemory } from '../ffi.ts';
import { BpfMap } from './map.ts';
import { BpfProgram } from './program.ts';
import { mapInfo, mapTypeName, openPinned } from './syscall.ts';

/** Lines of the verifier's log shown in the message; the whole tail is in `log`. */
const SHOWN_LINES = 20;

interface BpfObjectOptions {
  /** A directory in a BPF file system. Without it no map outlives the object. */
  readonly pinDir?: string | undefined;
  /** Maps that are not state and need not survive: scratch buffers. */
  readonly unpinned?: readonly string[] | undefined;
  /** Sizes that the operator's configuration decides, by map name. */
  readonly maxEntries?: Readonly<Record<string, number>> | undefined;
  /** Changes the initial bytes of `.rodata` before loading. */
  readonly rodata?: ((bytes: Uint8Array) => void) | undefined;
  /** Programs to load; default all. */
  readonly programs?: readonly string[] | undefined;
}

/** A BPF object was refused. `log` ends with the verifier's output. */
export class BpfLoadError extends KernelError {
  override readonly name = 'BpfLoadError';
  readonly log: string;

  constructor(path: string, cause: KernelError) {
    const log = cause.detail ?? '';
    super(
      `load(${path})`,
      cause.errno,
      `the kernel refused the program; its last words:\n${log.split('\n').slice(-SHOWN_LINES).join('\n')}`,
    );
    this.log = log;
  }
}

/** A map that was pinned in another shape; its content is lost. */
interface ReplacedMap {
  readonly map: string;
  /** The differences, e.g. `value size 72 instead of 168`. */
  readonly differences: readonly string[];
}

export class BpfObject {
  readonly path: string;
  /** Names of the pinned maps that were reused with their content. */
  readonly reusedMaps: readonly string[];
  /** Maps that were pinned in the shape of another version, and replaced. */
  readonly replacedMaps: readonly ReplacedMap[];
  private readonly release: () => void;
  private readonly maps: ReadonlyMap<string, BpfMap>;
  private readonly programs: ReadonlyMap<string, BpfProgram>;
  private closed = false;

  constructor(opts: {
    path: string;
    /** Closes what the maps do not own. */
    release: () => void;
    maps: ReadonlyMap<string, BpfMap>;
    programs: ReadonlyMap<string, BpfProgram>;
    reusedMaps: readonly string[];
    replacedMaps: readonly ReplacedMap[];
  }) {
    this.path = opts.path;
    this.release = opts.release;
    this.maps = opts.maps;
    this.programs = opts.programs;
    this.reusedMaps = opts.reusedMaps;
    this.replacedMaps = opts.replacedMaps;
  }

  get mapNames(): string[] {
    return [...this.maps.keys()];
  }

  get programNames(): string[] {
    return [...this.programs.keys()];
  }

  /** @throws Error naming the existing programs */
  program(name: string): BpfProgram {
    return this.find(this.programs, 'program', name);
  }

  /** @throws Error naming the existing maps */
  map(name: string): BpfMap {
    return this.find(this.maps, 'map', name);
  }

  /** The content of an earlier run is known now: writes no longer look whether it is the same. */
  settle(): void {
    for (const map of this.maps.values()) map.settle();
  }

  /** Closes the descriptors of programs and maps; attached programs and pinned maps stay. Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const map of this.maps.values()) map.close();
    this.release();
  }

  private find<T>(table: ReadonlyMap<string, T>, kind: string, name: string): T {
    if (this.closed) throw new Error(`BPF object ${this.path} was closed`);
    const found = table.get(name);
    if (!found)
      throw new Error(`${this.path} has no ${kind} ${name}; it has ${[...table.keys()].join(', ') || 'none'}`);
    return found;
  }
}

/**
 * Opens and loads a BPF object. When it is refused, all pins stay unchanged.
 * @throws BpfLoadError (refused by the kernel, with the verifier's log), KernelError ENOENT (no such file)
 */
export function openBpfObject(path: string, opts: BpfObjectOptions = {}): BpfObject {
  const lib = libbpf();
  const handle = lib.checked(`open(${path})`, () => lib.openFile(path, null));
  const pins = new FoundPins();
  try {
    prepareMaps(handle, opts, pins);
    selectPrograms(handle, path, opts.programs);
    try {
      lib.checked(`load(${path})`, () => lib.load(handle));
    } catch (error) {
      throw error instanceof KernelError ? new BpfLoadError(path, error) : error;
    }
    pins.discardReplaced();
    return new BpfObject({
      path,
      release: () => lib.closeObject(handle),
      maps: loadedMaps(handle, new Set(pins.reused)),
      programs: loadedPrograms(handle, opts.programs),
      reusedMaps: pins.reused,
      replacedMaps: pins.replaced,
    });
  } catch (error) {
    lib.closeObject(handle);
    pins.putBack();
    throw error;
  }
}

/**
 * The existing pins under the names of the object's maps. A map to be replaced is set aside until the object is
 * loaded.
 */
class FoundPins {
  readonly reused: string[] = [];
  readonly replaced: ReplacedMap[] = [];
  readonly #aside: { readonly path: string; readonly aside: string }[] = [];

  /** @throws KernelError */
  take(map: Pointer, name: string, path: string): void {
    const differences = differencesOf(map, path);
    if (differences.length === 0) {
      this.reused.push(name);
      return;
    }
    // A BPF file system allows no dots in names.
    const aside = `${path}_replaced`;
    renameSync(path, aside);
    this.#aside.push({ path, aside });
    this.replaced.push({ map: name, differences });
  }

  discardReplaced(): void {
    for (const { aside } of this.#aside.splice(0)) unlinkSync(aside);
  }

  /** Replaces pins that libbpf may have created before it failed. */
  putBack(): void {
    for (const { path, aside } of this.#aside.splice(0)) renameSync(aside, path);
  }
}

function* walk(next: (previous: Pointer | null) => Pointer | null): Generator<Pointer> {
  for (let item = next(null); item !== null; item = next(item)) yield item;
}

const mapsOf = (handle: Pointer): Generator<Pointer> => walk((previous) => libbpf().nextMap(handle, previous));
const programsOf = (handle: Pointer): Generator<Pointer> => walk((previous) => libbpf().nextProgram(handle, previous));

/** Sets sizes, pin paths and initial values. */
function prepareMaps(handle: Pointer, opts: BpfObjectOptions, pins: FoundPins): void {
  const lib = libbpf();
  const sizes = new Map(Object.entries(opts.maxEntries ?? {}));
  for (const map of mapsOf(handle)) {
    const name = lib.mapName(map);
    if (lib.mapIsInternal(map)) {
      if (opts.rodata && name.endsWith('.rodata')) changeInitialValue(map, name, opts.rodata);
      continue;
    }
    const size = sizes.get(name);
    sizes.delete(name);
    if (size !== undefined) lib.checked(`set size of map ${name}`, () => lib.setMaxEntries(map, size));
    const pin = opts.pinDir !== undefined && !opts.unpinned?.includes(name) ? join(opts.pinDir, name) : null;
    // Also without a pin path: otherwise a map declared LIBBPF_PIN_BY_NAME would be pinned in /sys/fs/bpf.
    lib.checked(`set pin path of map ${name}`, () => lib.setPinPath(map, pin));
    if (pin !== null && existsSync(pin)) pins.take(map, name, pin);
  }
  if (sizes.size > 0) throw new Error(`no map named ${[...sizes.keys()].join(', ')} to set the size of`);
}

/** Differences between the map pinned at `path` and the object's declaration. */
function differencesOf(map: Pointer, path: string): string[] {
  const lib = libbpf();
  const fd = openPinned(path);
  try {
    const found = mapInfo(`information(${path})`, fd);
    const pairs: [string, string | number, string | number][] = [
      ['type', mapTypeName(found.type), mapTypeName(lib.mapType(map))],
      ['key size', found.keySize, lib.mapKeySize(map)],
      ['value size', found.valueSize, lib.mapValueSize(map)],
      ['max entries', found.maxEntries, lib.mapMaxEntries(map)],
      ['flags', found.flags, lib.mapFlags(map)],
    ];
    return pairs
      .filter(([, is, required]) => is !== required)
      .map(([what, is, required]) => `${what} ${is} instead of ${required}`);
  } finally {
    close(fd);
  }
}

function changeInitialValue(map: Pointer, name: string, change: (bytes: Uint8Array) => void): void {
  const lib = libbpf();
  const size = new PinnedBuffer(8);
  const memory = lib.checked(`initial value of ${name}`, () => lib.initialValue(map, size.address));
  const bytes = new Uint8Array(viewMemory(memory, Number(size.view.getBigUint64(0, true)))).slice();
  change(bytes);
  lib.checked(`set initial value of ${name}`, () => lib.setInitialValue(map, bytes, bytes.length));
}

function selectPrograms(handle: Pointer, path: string, required: readonly string[] | undefined): void {
  if (!required) return;
  const lib = libbpf();
  const missing = new Set(required);
  for (const program of programsOf(handle)) {
    const name = lib.programName(program);
    missing.delete(name);
    lib.checked(`select program ${name}`, () => lib.setAutoload(program, required.includes(name)));
  }
  if (missing.size > 0) throw new Error(`${path} has no program ${[...missing].join(', ')}`);
}

function loadedMaps(handle: Pointer, reused: ReadonlySet<string>): Map<string, BpfMap> {
  const lib = libbpf();
  const maps = new Map<string, BpfMap>();
  for (const map of mapsOf(handle)) {
    const fd = lib.mapFd(map);
    const name = lib.mapName(map);
    if (fd >= 0) maps.set(name, new BpfMap({ name, fd, owned: false, reused: reused.has(name) }));
  }
  return maps;
}

function loadedPrograms(handle: Pointer, required: readonly string[] | undefined): Map<string, BpfProgram> {
  const lib = libbpf();
  const programs = new Map<string, BpfProgram>();
  for (const program of programsOf(handle)) {
    const name = lib.programName(program);
    if (!required || required.includes(name)) programs.set(name, new BpfProgram({ name, fd: lib.programFd(program) }));
  }
  return programs;
}
