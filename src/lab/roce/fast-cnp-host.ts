// Takes Fast CNPs away from the kernel's IP stack for as long as an endpoint that understands them runs
// (bpf/fast-cnp-host.bpf.c). The program hangs on a TCX link that nothing pins: it goes with the process, however that
// ends. Below Linux 6.6 it is a clsact filter, which a killed process leaves behind.
import { join } from 'node:path';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../kernel/ffi/libc.ts';
import { type Netns, within } from '../../kernel/netns.ts';
import type { FastCnpOptionCodes } from '../../packet/ip/fast-cnp-option.ts';
import { packageRoot } from '../program.ts';

const PROGRAM = 'fast_cnp_host';

interface FastCnpHost {
  /** Idempotent. The kernel answers Fast CNPs with Parameter Problem again. */
  close(): void;
}

/** @throws KernelError ENODEV (no such interface), EPERM; BpfLoadError */
export function takeFastCnps(
  opts: { readonly interface: string; readonly netns?: Netns | undefined },
  codes: FastCnpOptionCodes,
): FastCnpHost {
  const object = openBpfObject(join(packageRoot(), 'dist/bpf/fast-cnp-host.bpf.o'), {
    rodata: (bytes) => bytes.set([codes.option, codes.ioamOption]),
  });
  try {
    const ifindex = within(opts.netns, () => interfaceIndex(opts.interface));
    const link = attachTcx({ program: object.program(PROGRAM), ifindex, direction: 'ingress', netns: opts.netns });
    return {
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
