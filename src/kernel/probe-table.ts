// The kernel features that cnpd needs, what for, how each is found, and the remedy where it is missing.
import { readFileSync } from 'node:fs';
import { kernelHasTcx } from './bpf/tcx.ts';
import { CAPABILITIES_REMEDY } from './capabilities.ts';
import { libbpf } from './ffi/libbpf.ts';
import { O, close, open } from './ffi/libc.ts';
import { encodeFq } from './netlink/fq.ts';
import { encodeLinkOfKind, encodeVeth } from './netlink/link.ts';
import { attribute, u32 } from './netlink/message.ts';
import { encodeHtb, encodeTbf } from './netlink/traffic-control.ts';
import {
  type Context,
  LOOPBACK,
  capabilities,
  clsact,
  link,
  loads,
  packetMemory,
  qdisc,
  seg6,
  seg6local,
  typeInformation,
} from './probe-attempts.ts';

/** `look` and `attempt` return what was found. @throws Error with the reason why the feature is missing */
export type Probe = {
  readonly name: string;
  readonly required: boolean;
  readonly neededFor: string;
  readonly remedy: string;
} & (Look | { readonly attempt: (context: Context) => string | Promise<string> });
/** Costs little, changes nothing, and may find something else for another process. */
export interface Look {
  readonly look: () => string;
}

const IFLA_VRF_TABLE = 1;

export const PROBES: readonly Probe[] = [
  {
    name: 'capabilities',
    required: true,
    neededFor: 'everything',
    remedy: CAPABILITIES_REMEDY,
    look: capabilities,
  },
  {
    name: 'libbpf',
    required: true,
    neededFor: 'the dataplane',
    remedy: 'apt install libbpf1',
    look: () => (libbpf(), 'libbpf.so.1'),
  },
  {
    name: 'btf',
    required: true,
    neededFor: 'the dataplane (CO-RE)',
    remedy: 'boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of Debian are',
    look: typeInformation,
  },
  {
    name: 'bpffs',
    required: true,
    neededFor: 'maps and programs that outlive cnpd',
    remedy: 'boot a kernel built with CONFIG_BPF_SYSCALL=y',
    look: () => {
      if (!/\bbpf$/m.test(readFileSync('/proc/filesystems', 'utf8')))
        throw new Error('/proc/filesystems does not list bpf');
      return 'known to the kernel';
    },
  },
  {
    name: 'coarse-clock',
    required: true,
    neededFor: 'all programs: the time at the price of a load (bpf_ktime_get_coarse_ns)',
    remedy: 'boot Linux 5.11 or newer',
    attempt: loads('coarse_clock'),
  },
  {
    name: 'atomics',
    required: true,
    neededFor: 'all programs: atomic instructions that return what was there',
    remedy: 'boot Linux 5.12 or newer',
    attempt: loads('atomics'),
  },
  {
    name: 'function-memory',
    required: true,
    neededFor: 'all programs: functions that take pointers to memory',
    remedy: 'boot Linux 5.12 or newer',
    attempt: loads('function_memory'),
  },
  {
    name: 'absent-function',
    required: false,
    neededFor: 'monitored ports, held flows, flow control, SRv6 and groups: calls that newer kernels have',
    remedy: 'boot Linux 5.16 or newer',
    attempt: loads('absent_function'),
  },
  {
    name: 'stack-memory',
    required: false,
    neededFor: 'monitored ports, the proxy, held flows, flow control and SRv6: reading the stack before it is written',
    remedy: 'boot Linux 6.8 or newer, or a long-term one from 6.1.100 or 6.6.14 on',
    attempt: loads('stack_memory'),
  },
  {
    name: 'loop',
    required: false,
    neededFor: 'monitored ports: loops by a function (bpf_loop)',
    remedy: 'boot Linux 5.17 or newer',
    attempt: loads('loop'),
  },
  {
    name: 'percpu-lookup',
    required: false,
    neededFor: 'monitored ports: what other CPUs have counted (bpf_map_lookup_percpu_elem)',
    remedy: 'boot Linux 5.19 or newer',
    attempt: loads('percpu_lookup'),
  },
  {
    name: 'packet-memory',
    required: true,
    neededFor: 'monitored ports: reading the depth of the queue',
    remedy: 'boot Linux 6.2 or newer, or without lockdown=confidentiality',
    attempt: packetMemory,
  },
  {
    name: 'tcx',
    required: false,
    neededFor: 'attaching programs; without it clsact filters are used',
    remedy: 'boot Linux 6.6 or newer for pinned TCX links',
    look: () => {
      if (!kernelHasTcx()) throw new Error('the kernel does not know the attach type');
      return 'supported';
    },
  },
  {
    name: 'clsact',
    required: false,
    neededFor: 'attaching programs where there is no TCX',
    remedy: 'modprobe sch_ingress cls_bpf, or a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF',
    attempt: clsact,
  },
  {
    name: 'tbf',
    required: false,
    neededFor: 'monitored ports: a root qdisc whose backlog can be read',
    remedy: 'modprobe sch_tbf, or a kernel with CONFIG_NET_SCH_TBF; or use HTB',
    attempt: qdisc('tbf', encodeTbf({ ifindex: LOOPBACK, rate: 1_000_000n, burst: 100_000, limit: 100_000 })),
  },
  {
    name: 'htb',
    required: false,
    neededFor: 'monitored ports with classes',
    remedy: 'modprobe sch_htb, or a kernel with CONFIG_NET_SCH_HTB; or use TBF',
    attempt: qdisc('htb', encodeHtb({ ifindex: LOOPBACK, defaultClass: 1 })),
  },
  {
    name: 'fq',
    required: false,
    neededFor: 'held flows: departure times in place of classes (source.enforce.queueing)',
    remedy: 'modprobe sch_fq, or a kernel with CONFIG_NET_SCH_FQ; HTB holds flows too',
    attempt: qdisc('fq', encodeFq({ ifindex: LOOPBACK, flowLimit: 1000 })),
  },
  {
    name: 'veth',
    required: true,
    neededFor: 'the interface between cnpd and FRR',
    remedy: 'modprobe veth, or a kernel with CONFIG_VETH',
    attempt: link('veth', encodeVeth({ name: 'probe0' }, { name: 'probe1' })),
  },
  {
    name: 'tap',
    required: false,
    neededFor: 'the lab: links with delay',
    remedy: 'modprobe tun, or a kernel with CONFIG_TUN, and the device node /dev/net/tun',
    look: () => {
      close(open('/dev/net/tun', O.RDWR));
      return '/dev/net/tun';
    },
  },
  {
    name: 'seg6',
    required: false,
    neededFor: 'SRv6 tunnels that begin at this router',
    remedy: 'boot a kernel with CONFIG_IPV6_SEG6_LWTUNNEL',
    attempt: seg6,
  },
  {
    name: 'seg6local',
    required: false,
    neededFor: 'END.CON',
    remedy: 'boot a kernel with CONFIG_IPV6_SEG6_LWTUNNEL',
    attempt: seg6local,
  },
  {
    name: 'vrf',
    required: false,
    neededFor: 'End.DT4 and End.DT46',
    remedy: 'modprobe vrf, or a kernel with CONFIG_NET_VRF',
    attempt: link('vrf', encodeLinkOfKind('probe2', 'vrf', attribute(IFLA_VRF_TABLE, u32(100)))),
  },
];
