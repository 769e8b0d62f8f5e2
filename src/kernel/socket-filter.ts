// Classic BPF programs on sockets (socket(7), SO_ATTACH_FILTER).
import { SOL, setOption } from './ffi/libc.ts';
import { PinnedBuffer } from './ffi.ts';

const SO_ATTACH_FILTER = 26;
/** struct sock_filter: code (2), jump if true, jump if false, constant (4). */
const INSTRUCTION = 8;

export type FilterInstruction = readonly [code: number, ifTrue: number, ifFalse: number, constant: number];

/** Packets for which the program returns 0 are dropped for this socket. @throws KernelError EINVAL (no such program) */
export function attachFilter(operation: string, fd: number, program: readonly FilterInstruction[]): void {
  const instructions = new PinnedBuffer(INSTRUCTION * program.length);
  program.forEach(([code, ifTrue, ifFalse, constant], i) => {
    instructions.view.setUint16(INSTRUCTION * i, code, true);
    instructions.view.setUint8(INSTRUCTION * i + 2, ifTrue);
    instructions.view.setUint8(INSTRUCTION * i + 3, ifFalse);
    instructions.view.setUint32(INSTRUCTION * i + 4, constant, true);
  });
  // struct sock_fprog: length, padding, address.
  const header = new PinnedBuffer(16);
  header.view.setUint16(0, program.length, true);
  header.view.setBigUint64(8, instructions.address, true);
  setOption(operation, fd, SOL.SOCKET, SO_ATTACH_FILTER, header.bytes);
}
