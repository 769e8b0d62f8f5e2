// How clang makes eBPF of bpf/, from the root of the repository. The tests compile theirs likewise.
export const CLANG_FLAGS = [
  '-target',
  'bpf',
  '-mcpu=v3',
  '-O2',
  '-g',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wno-unused-parameter',
  '-Ibpf/lib',
];
