// Probes the kernel for the features that cnpd needs, and names the remedy for each missing one. The host is not
// changed: attempts are made in a temporary network namespace (a kernel module that an attempt loads stays loaded).
import { readFileSync } from 'node:fs';
import { kernelHasTcx } from './bpf/tcx.ts';
import { CAPABILITIES_REMEDY } from './capabilities.ts';
import { libbpf } from './ffi/libbpf.ts';
import { O, close, open } from './ffi/libc.ts';
import { Netns } from './netns.ts';
import { NetlinkClient } from './netlink/client.ts';
import { encodeFq } from './netlink/fq.ts';
import { encodeLinkOfKind, encodeVeth } from './netlink/link.ts';
import { attribute, u32 } from './netlink/message.ts';
import { encodeHtb, encodeTbf } from './netlink/traffic-control.ts';
import type { Poller } from './poller.ts';
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
import { messageOf } from '../model/error-text.ts';

export interface KernelFeature {
  /** Stable: `tcx`, `btf`, … */
  readonly name: string;
  readonly ok: boolean;
  /** Whether cnpd cannot work without it. Otherwise there is a substitute, or one feature is missing. */
  readonly required: boolean;
  readonly neededFor: string;
  /** What was found, or why it is missing. */
  readonly detail: string;
  /** What to do; empty when ok. */
  readonly remedy: string;
}

interface Probe {
  readonly name: string;
  readonly required: boolean;
  readonly neededFor: string;
  readonly remedy: string;
  /** Returns what was found. @throws Error with the reason why the feature is missing */
  readonly test: (context: Context) => string | Promise<string>;
}

const IFLA_VRF_TABLE = 1;

const PROBES: readonly Probe[] = [
  {
    name: 'capabilities',
    required: true,
    neededFor: 'everything',
    remedy: CAPABILITIES_REMEDY,
    test: capabilities,
  },
  {
    name: 'libbpf',
    required: true,
    neededFor: 'the dataplane',
    remedy: 'apt install libbpf1',
    test: () => (libbpf(), 'libbpf.so.1'),
  },
  {
    name: 'btf',
    required: true,
    neededFor: 'the dataplane (CO-RE)',
    remedy: 'boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of Debian are',
    test: typeInformation,
  },
  {
    name: 'bpffs',
    required: true,
    neededFor: 'maps and programs that outlive cnpd',
    remedy: 'boot a kernel built with CONFIG_BPF_SYSCALL=y',
    test: () => {
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
    test: loads('coarse_clock'),
  },
  {
    name: 'atomics',
    required: true,
    neededFor: 'all programs: atomic instructions that return what was there',
    remedy: 'boot Linux 5.12 or newer',
    test: loads('atomics'),
  },
  {
    name: 'function-memory',
    required: true,
    neededFor: 'all programs: functions that take pointers to memory',
    remedy: 'boot Linux 5.12 or newer',
    test: loads('function_memory'),
  },
  {
    name: 'absent-function',
    required: false,
    neededFor: 'monitored ports, held flows, flow control, SRv6 and groups: calls that newer kernels have',
    remedy: 'boot Linux 5.16 or newer',
    test: loads('absent_function'),
  },
  {
    name: 'stack-memory',
    required: false,
    neededFor: 'monitored ports, the proxy, held flows, flow control and SRv6: reading the stack before it is written',
    remedy: 'boot Linux 6.8 or newer, or a long-term one from 6.1.100 or 6.6.14 on',
    test: loads('stack_memory'),
  },
  {
    name: 'loop',
    required: false,
    neededFor: 'monitored ports: loops by a function (bpf_loop)',
    remedy: 'boot Linux 5.17 or newer',
    test: loads('loop'),
  },
  {
    name: 'percpu-lookup',
    required: false,
    neededFor: 'monitored ports: what other CPUs have counted (bpf_map_lookup_percpu_elem)',
    remedy: 'boot Linux 5.19 or newer',
    test: loads('percpu_lookup'),
  },
  {
    name: 'packet-memory',
    required: true,
    neededFor: 'monitored ports: reading the depth of the queue',
    remedy: 'boot Linux 6.2 or newer, or without lockdown=confidentiality',
    test: packetMemory,
  },
  {
    name: 'tcx',
    required: false,
    neededFor: 'attaching programs; without it clsact filters are used',
    remedy: 'boot Linux 6.6 or newer for pinned TCX links',
    test: () => {
      if (!kernelHasTcx()) throw new Error('the kernel does not know the attach type');
      return 'supported';
    },
  },
  {
    name: 'clsact',
    required: false,
    neededFor: 'attaching programs where there is no TCX',
    remedy: 'modprobe sch_ingress cls_bpf, or a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF',
    test: clsact,
  },
  {
    name: 'tbf',
    required: false,
    neededFor: 'monitored ports: a root qdisc whose backlog can be read',
    remedy: 'modprobe sch_tbf, or a kernel with CONFIG_NET_SCH_TBF; or use HTB',
    test: qdisc('tbf', encodeTbf({ ifindex: LOOPBACK, rate: 1_000_000n, burst: 100_000, limit: 100_000 })),
  },
  {
    name: 'htb',
    required: false,
    neededFor: 'monitored ports with classes',
    remedy: 'modprobe sch_htb, or a kernel with CONFIG_NET_SCH_HTB; or use TBF',
    test: qdisc('htb', encodeHtb({ ifindex: LOOPBACK, defaultClass: 1 })),
  },
  {
    name: 'fq',
    required: false,
    neededFor: 'held flows: departure times in place of classes (source.enforce.queueing)',
    remedy: 'modprobe sch_fq, or a kernel with CONFIG_NET_SCH_FQ; HTB holds flows too',
    test: qdisc('fq', encodeFq({ ifindex: LOOPBACK, flowLimit: 1000 })),
  },
  {
    name: 'veth',
    required: true,
    neededFor: 'the interface between cnpd and FRR',
    remedy: 'modprobe veth, or a kernel with CONFIG_VETH',
    test: link('veth', encodeVeth({ name: 'probe0' }, { name: 'probe1' })),
  },
  {
    name: 'tap',
    required: false,
    neededFor: 'the lab: links with delay',
    remedy: 'modprobe tun, or a kernel with CONFIG_TUN, and the device node /dev/net/tun',
    test: () => {
      close(open('/dev/net/tun', O.RDWR));
      return '/dev/net/tun';
    },
  },
  {
    name: 'seg6',
    required: false,
    neededFor: 'SRv6 tunnels that begin at this router',
    remedy: 'boot a kernel with CONFIG_IPV6_SEG6_LWTUNNEL',
    test: seg6,
  },
  {
    name: 'seg6local',
    required: false,
    neededFor: 'END.CON',
    remedy: 'boot a kernel with CONFIG_IPV6_SEG6_LWTUNNEL',
    test: seg6local,
  },
  {
    name: 'vrf',
    required: false,
    neededFor: 'End.DT4 and End.DT46',
    remedy: 'modprobe vrf, or a kernel with CONFIG_NET_VRF',
    test: link('vrf', encodeLinkOfKind('probe2', 'vrf', attribute(IFLA_VRF_TABLE, u32(100)))),
  },
];

interface Dependencies {
  readonly poller: Poller;
  /** Of the compiled programs. */
  readonly objectDir: string;
}

/** Probes every feature, one after another. Resolves even when some, or all, are missing. */
export async function probeKernel(dependencies: Dependencies): Promise<KernelFeature[]> {
  let netns: Netns;
  try {
    netns = Netns.create();
  } catch (error) {
    // Without a namespace nothing can be tried. The cause is a missing privilege, which the first row reports.
    const detail = messageOf(error);
    return PROBES.map((probe, i) => ({
      ...row(probe),
      ok: false,
      detail: `no network namespace to try it in: ${detail}`,
      remedy: i === 0 ? probe.remedy : 'see capabilities',
    }));
  }
  return askAll(PROBES, netns, dependencies);
}

/** One of them, if it is missing; undefined: it is there, or cannot be tried. */
export async function missingFeature(name: string, dependencies: Dependencies): Promise<KernelFeature | undefined> {
  let netns: Netns;
  try {
    netns = Netns.create();
  } catch {
    return undefined;
  }
  const probes = PROBES.filter((probe) => probe.name === name);
  return (await askAll(probes, netns, dependencies)).find(({ ok }) => !ok);
}

/** Closes the namespace. */
async function askAll(
  probes: readonly Probe[],
  netns: Netns,
  { poller, objectDir }: Dependencies,
): Promise<KernelFeature[]> {
  const client = NetlinkClient.open({ netns }, { poller });
  try {
    const features: KernelFeature[] = [];
    for (const probe of probes) features.push(await ask(probe, { netns, client, objectDir }));
    return features;
  } finally {
    client.close();
    netns.close();
  }
}

const row = ({ name, required, neededFor }: Probe): Pick<KernelFeature, 'name' | 'required' | 'neededFor'> => ({
  name,
  required,
  neededFor,
});
async function ask(probe: Probe, context: Context): Promise<KernelFeature> {
  try {
    return { ...row(probe), ok: true, detail: await probe.test(context), remedy: '' };
  } catch (error) {
    return { ...row(probe), ok: false, detail: messageOf(error), remedy: probe.remedy };
  }
}
