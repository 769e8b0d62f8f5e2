// libbpf as the adapters use it: opening and loading CO-RE objects, and tc filters on kernels without TCX. It is loaded
// on first use, so that a process without BPF (cnpctl, the lab's endpoints) runs where libbpf is not installed. The
// output of libbpf is captured: after a refused load it contains the verifier's log for the operator.
import { KernelError, ERRNO } from '../errors.ts';
import {
  type Library,
  type Memory,
  type Native,
  type Pointer,
  PinnedBuffer,
  lastErrno,
  nativeCallback,
  openLibrary,
  textAt,
} from '../ffi.ts';

const LEVEL_DEBUG = 2;
/** Characters of log kept, from the end. */
const KEPT = 64 * 1024;

const declare = (lib: Library) => ({
  ...declareObject(lib),
  ...declareMap(lib),
  ...declareTc(lib),
  ...declareBtf(lib),
});

function declareObject(lib: Library) {
  return {
    openFile: lib.bind<(path: string, opts: Memory) => Pointer | null>(
      'void *bpf_object__open_file(const char *path, const void *opts)',
    ),
    load: lib.bind<(object: Pointer) => number>('int bpf_object__load(void *object)'),
    closeObject: lib.bind<(object: Pointer) => void>('void bpf_object__close(void *object)'),
    nextProgram: lib.bind<(object: Pointer, previous: Pointer | null) => Pointer | null>(
      'void *bpf_object__next_program(const void *object, void *previous)',
    ),
    programName: lib.bind<(program: Pointer) => string>('const char *bpf_program__name(const void *program)'),
    programFd: lib.bind<(program: Pointer) => number>('int bpf_program__fd(const void *program)'),
    setAutoload: lib.bind<(program: Pointer, load: boolean) => number>(
      'int bpf_program__set_autoload(void *program, bool load)',
    ),
    setPrint: lib.bind<(print: Pointer) => Pointer | null>('void *libbpf_set_print(void *print)'),
  };
}

function declareMap(lib: Library) {
  return {
    nextMap: lib.bind<(object: Pointer, previous: Pointer | null) => Pointer | null>(
      'void *bpf_object__next_map(const void *object, const void *previous)',
    ),
    mapName: lib.bind<(map: Pointer) => string>('const char *bpf_map__name(const void *map)'),
    mapFd: lib.bind<(map: Pointer) => number>('int bpf_map__fd(const void *map)'),
    mapType: lib.bind<(map: Pointer) => number>('int bpf_map__type(const void *map)'),
    mapKeySize: lib.bind<(map: Pointer) => number>('unsigned int bpf_map__key_size(const void *map)'),
    mapValueSize: lib.bind<(map: Pointer) => number>('unsigned int bpf_map__value_size(const void *map)'),
    mapMaxEntries: lib.bind<(map: Pointer) => number>('unsigned int bpf_map__max_entries(const void *map)'),
    mapFlags: lib.bind<(map: Pointer) => number>('unsigned int bpf_map__map_flags(const void *map)'),
    mapIsInternal: lib.bind<(map: Pointer) => boolean>('bool bpf_map__is_internal(const void *map)'),
    setMaxEntries: lib.bind<(map: Pointer, count: number) => number>(
      'int bpf_map__set_max_entries(void *map, unsigned int count)',
    ),
    setPinPath: lib.bind<(map: Pointer, path: string | null) => number>(
      'int bpf_map__set_pin_path(void *map, const char *path)',
    ),
    initialValue: lib.bind<(map: Pointer, size: Memory) => Pointer | null>(
      'void *bpf_map__initial_value(void *map, void *size)',
    ),
    setInitialValue: lib.bind<(map: Pointer, value: Memory, size: number) => number>(
      'int bpf_map__set_initial_value(void *map, const void *value, size_t size)',
    ),
  };
}

function declareTc(lib: Library) {
  return {
    tcHookCreate: lib.bind<(hook: Memory) => number>('int bpf_tc_hook_create(void *hook)'),
    tcAttach: lib.bind<(hook: Memory, opts: Memory) => number>('int bpf_tc_attach(const void *hook, void *opts)'),
    tcDetach: lib.bind<(hook: Memory, opts: Memory) => number>('int bpf_tc_detach(const void *hook, const void *opts)'),
    tcQuery: lib.bind<(hook: Memory, opts: Memory) => number>('int bpf_tc_query(const void *hook, void *opts)'),
  };
}

function declareBtf(lib: Library) {
  return {
    vmlinuxBtf: lib.bind<() => Pointer | null>('void *btf__load_vmlinux_btf()'),
    /** The type's number, or a negative errno. */
    btfFind: lib.bind<(btf: Pointer, name: string, kind: number) => number>(
      'int btf__find_by_name_kind(const void *btf, const char *name, unsigned int kind)',
    ),
    btfFree: lib.bind<(btf: Pointer) => void>('void btf__free(void *btf)'),
  };
}

type Libbpf = ReturnType<typeof declare> & {
  /** Runs `fn`; a negative result or a null becomes a KernelError with the text that libbpf printed meanwhile. */
  checked<T extends number | Pointer | null>(operation: string, fn: () => T): NonNullable<T>;
  /** Output of libbpf since the last call of checked() began, newest at the end. */
  printed(): string;
};

let loaded: Libbpf | undefined;

/** @throws Error that names the package when libbpf is not installed */
export function libbpf(): Libbpf {
  loaded ??= load();
  return loaded;
}

function load(): Libbpf {
  const lib = openLibrary(['libbpf.so.1'], 'Install it: apt install libbpf1');
  const functions = declare(lib);
  const log = captureLog(functions.setPrint);
  const checked = <T extends number | Pointer | null>(operation: string, fn: () => T): NonNullable<T> => {
    log.clear();
    const result = fn();
    if (result === null) throw new KernelError(operation, lastErrno(), log.text().trim());
    // libbpf returns -errno and sets errno; -1 would be EPERM either way.
    if (typeof result === 'number' && result < 0)
      throw new KernelError(operation, result === -1 ? lastErrno() || ERRNO.EPERM : -result, log.text().trim());
    return result;
  };
  return { ...functions, checked, printed: log.text };
}

/**
 * Formats libbpf's output with libc's own vasprintf: a va_list parameter is passed as a pointer on x86-64, arm64 and
 * riscv64. The callback runs on the main thread, inside the libbpf call that prints.
 */
function captureLog(setPrint: Native<(print: Pointer) => Pointer | null>): { clear(): void; text(): string } {
  const libc = openLibrary(['libc.so.6'], 'cnpd needs glibc on Linux.');
  const vasprintf = libc.bind<(out: Memory, format: Pointer, args: Pointer) => number>(
    'int vasprintf(void *out, void *format, void *args)',
  );
  const free = libc.bind<(memory: Pointer) => void>('void free(void *memory)');
  const out = new PinnedBuffer(8);
  let text = '';
  const print = (level: number, format: Pointer, args: Pointer): number => {
    if (level >= LEVEL_DEBUG || vasprintf(out.address, format, args) < 0) return 0;
    const formatted = out.view.getBigUint64(0, true);
    text = (text + textAt(formatted)).slice(-KEPT);
    free(formatted);
    return 0;
  };
  setPrint(nativeCallback('int cnpd_libbpf_print(int level, void *format, void *args)', print));
  return { clear: () => void (text = ''), text: () => text };
}
