// How clang makes eBPF of bpf/, from the root of the repository. The tests compile theirs likewise.
export const CLANG_FLAGS = [
  '-target',
  'bpf',
  '-mcpu=v3',
  '-O2',
  // Else a loop may end with an instruction that falls through to its beginning. Linux 6.1 refuses that: there, only a
  // jump may close a loop.
  ...['-mllvm', '-disable-block-placement'],
  '-g',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wno-unused-parameter',
  '-Ibpf/lib',
];
