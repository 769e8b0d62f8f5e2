// A program at the interface of an endpoint, in front of its packet socket, for as long as the endpoint runs. It hangs
// on a TCX link that nothing pins: it goes with the process, however that ends. Below Linux 6.6 it is a clsact filter,
// which a killed process leaves behind.
import { join } from 'node:path';
import { type BpfObject, openBpfObject } from '../../kernel/bpf/object.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../kernel/ffi/libc.ts';
import { type Netns, within } from '../../kernel/netns.ts';
import { packageRoot } from '../program.ts';

export interface HostPort {
  readonly interface: string;
  readonly netns?: Netns | undefined;
}

interface HostProgram {
  readonly object: BpfObject;
  /** Idempotent. The program is gone from then on. */
  close(): void;
}

/**
 * @param name of the object and, with underscores, of its program
 * @param rodata sets its constants
 * @throws KernelError ENODEV (no such interface), EPERM; BpfLoadError
 */
export function attachHostProgram(name: string, port: HostPort, rodata: (bytes: Uint8Array) => void): HostProgram {
  const object = openBpfObject(join(packageRoot(), `dist/bpf/${name}.bpf.o`), { rodata });
  try {
    const ifindex = within(port.netns, () => interfaceIndex(port.interface));
    const program = object.program(name.replaceAll('-', '_'));
    const link = attachTcx({ program, ifindex, direction: 'ingress', netns: port.netns });
    return {
      object,
      close: () => {
        link.detach();
        object.close();
      },
    };
  } catch (error) {
    object.close();
    throw error;
  }
}
