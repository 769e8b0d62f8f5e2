// A firewall for the SRv6 tests, without a firewall's tools: a netfilter hook (BPF_LINK_TYPE_NETFILTER, Linux 6.4) that
// drops what it is shown, or lets all of it pass.
import { PinnedBuffer } from '../../../src/kernel/ffi.ts';
import { BPF_CMD, attributes, bpf } from '../../../src/kernel/bpf/syscall.ts';
import { close } from '../../../src/kernel/ffi/libc.ts';
import type { Netns } from '../../../src/kernel/netns.ts';

const BPF_PROG_TYPE_NETFILTER = 32;
const BPF_NETFILTER = 45;
const FAMILY = { 4: 2, 6: 10 } as const;
/** enum nf_inet_hooks. */
export const NF_HOOK = { preRouting: 0, forward: 2, postRouting: 4 } as const;

const NF_DROP = 0;
const NF_ACCEPT = 1;

/** `r0 = verdict; exit`. Returns a descriptor. */
function verdictProgram(verdict: number): number {
  const code = new PinnedBuffer(16);
  code.bytes.set([0xb7, 0, 0, 0, verdict, 0, 0, 0, 0x95]);
  const license = new PinnedBuffer(4);
  license.bytes.set(new TextEncoder().encode('GPL'));
  const attr = attributes(128);
  attr.view.setUint32(0, BPF_PROG_TYPE_NETFILTER, true);
  attr.view.setUint32(4, 2, true); // instructions
  attr.view.setBigUint64(8, code.address, true);
  attr.view.setBigUint64(16, license.address, true);
  attr.view.setUint32(68, BPF_NETFILTER, true); // expected_attach_type
  return bpf('load(firewall)', BPF_CMD.PROG_LOAD, attr);
}

/** Drops every packet at one hook of a namespace until the returned function is called. @throws KernelError */
export const dropAt = (netns: Netns, family: 4 | 6, hook: number): (() => void) => hookAt(netns, family, hook, NF_DROP);

/** As a firewall that has nothing against anything. @throws KernelError */
export const acceptAt = (netns: Netns, family: 4 | 6, hook: number): (() => void) =>
  hookAt(netns, family, hook, NF_ACCEPT);

function hookAt(netns: Netns, family: 4 | 6, hook: number, verdict: number): () => void {
  const program = verdictProgram(verdict);
  try {
    const attr = attributes(48);
    attr.view.setUint32(0, program, true);
    attr.view.setUint32(8, BPF_NETFILTER, true);
    attr.view.setUint32(16, FAMILY[family], true);
    attr.view.setUint32(20, hook, true);
    attr.view.setInt32(24, 100, true); // priority; the first and the last are the kernel's own
    const link = netns.run(() => bpf('attach(firewall)', BPF_CMD.LINK_CREATE, attr));
    return () => close(link);
  } finally {
    close(program);
  }
}
