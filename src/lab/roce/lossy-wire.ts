// A wire that loses packets, for as long as an endpoint runs: one of every so many RoCEv2 packets that arrive at its
// interface goes nowhere (bpf/lossy-wire.bpf.c). The endpoint's packet socket is behind the program. The program hangs
// on a TCX link that nothing pins, as that of fast-cnp-host.ts does.
import { join } from 'node:path';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { interfaceIndex } from '../../kernel/ffi/libc.ts';
import { type Netns, within } from '../../kernel/netns.ts';
import { packageRoot } from '../program.ts';

interface LossyWire {
  /** Packets lost so far. */
  lost(): number;
  /** Idempotent. Nothing is lost from then on. */
  close(): void;
}

/**
 * @param oneIn at least 2
 * @throws KernelError ENODEV (no such interface), EPERM; BpfLoadError
 */
export function loseOneIn(
  oneIn: number,
  opts: { readonly interface: string; readonly netns?: Netns | undefined },
): LossyWire {
  const object = openBpfObject(join(packageRoot(), 'dist/bpf/lossy-wire.bpf.o'), {
    rodata: (bytes) => new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, oneIn, true),
  });
  try {
    const ifindex = within(opts.netns, () => interfaceIndex(opts.interface));
    const link = attachTcx({ program: object.program('lossy_wire'), ifindex, direction: 'ingress', netns: opts.netns });
    const counts = object.map('lossy_wire_counts');
    const key = new Uint8Array(4);
    return {
      lost: () => new DataView(new Uint8Array(counts.lookup(key)!).buffer).getUint32(4, true),
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
