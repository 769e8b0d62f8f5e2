// What this kernel can do of what cnpd needs, each asked of the kernel itself, and what an operator can do where it
// cannot. Nothing on the host is changed: what has to be tried is tried in a network namespace that vanishes afterwards
// (a kernel module that the attempt loads stays loaded).
import { existsSync, readFileSync } from 'node:fs';
import { address, addressBytes } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { kernelHasTcx } from './bpf/tcx.ts';
import { CAPABILITIES_REMEDY, NEEDED, missingCapabilities } from './capabilities.ts';
import { libbpf } from './ffi/libbpf.ts';
import { O, close, open } from './ffi/libc.ts';
import { PinnedBuffer } from './ffi.ts';
import { Netns } from './netns.ts';
import { encodeAddress, encodeRoute, RTM_ADDRESS, RTM_ROUTE } from './netlink/address.ts';
import { NetlinkClient } from './netlink/client.ts';
import { RTM_LINK, encodeLinkChange, encodeLinkOfKind, encodeVeth } from './netlink/link.ts';
import { NLM_F, attribute, concat, nested, struct, u32 } from './netlink/message.ts';
import { encodeSeg6LocalRoute } from './netlink/seg6local.ts';
import { RTM_QDISC, encodeHtb, encodeTbf } from './netlink/traffic-control.ts';
import type { Poller } from './poller.ts';

export interface KernelFeature {
  /** Stable: `tcx`, `btf`, … */
  readonly name: string;
  readonly ok: boolean;
  /**
   * Whether cnpd cannot do its work without it; otherwise something else takes its place, or one feature is missing.
   */
  readonly required: boolean;
  readonly neededFor: string;
  /** What was found, or why not. */
  readonly detail: string;
  /** What to do; empty when ok. */
  readonly remedy: string;
}

interface Context {
  readonly netns: Netns;
  readonly client: NetlinkClient;
}

interface Probe {
  readonly name: string;
  readonly required: boolean;
  readonly neededFor: string;
  readonly remedy: string;
  /** Returns what was found. @throws Error saying why the feature is not there */
  readonly test: (context: Context) => string | Promise<string>;
}

const LOOPBACK = 1;
const CREATE = NLM_F.CREATE | NLM_F.EXCL;
const BTF_KIND_FUNC = 12;
const RTA_ENCAP_TYPE = 21;
const RTA_ENCAP = 22;
const LWTUNNEL_ENCAP_SEG6 = 5;
const SEG6_IPTUNNEL_SRH = 1;
const SEG6_IPTUN_MODE_ENCAP = 1;
const ROUTING_TYPE_SRH = 4;
const RT_TABLE_MAIN = 254;
const RTPROT_STATIC = 4;
const IFLA_VRF_TABLE = 1;

function capabilities(): string {
  // CAP_SYS_ADMIN, which mounting the BPF file system takes, is CAP_BPF and CAP_PERFMON too (capabilities(7)).
  const missing = missingCapabilities();
  if (missing.length > 0) throw new Error(`this process lacks ${missing.join(', ')}`);
  return `held: ${Object.keys(NEEDED).join(', ')}`;
}

function typeInformation(): string {
  if (!existsSync('/sys/kernel/btf/vmlinux')) throw new Error('/sys/kernel/btf/vmlinux does not exist');
  return '/sys/kernel/btf/vmlinux';
}

function kernelFunction(name: string): string {
  const lib = libbpf();
  const btf = lib.checked('load kernel type information', () => lib.vmlinuxBtf());
  try {
    if (lib.btfFind(btf, name, BTF_KIND_FUNC) < 0) throw new Error(`this kernel has no ${name}`);
    return `${name} is there`;
  } finally {
    lib.btfFree(btf);
  }
}

function clsact({ netns }: Context): string {
  // struct bpf_tc_hook: size, ifindex, attach point (ingress).
  const hook = new PinnedBuffer(24);
  hook.view.setBigUint64(0, 24n, true);
  hook.view.setInt32(8, LOOPBACK, true);
  hook.view.setUint32(12, 1, true);
  netns.run(() => libbpf().checked('create clsact', () => libbpf().tcHookCreate(hook.address)));
  return 'created';
}

const loopbackUp = ({ client }: Context): Promise<unknown> =>
  client.request({ operation: 'loopback up', type: RTM_LINK.NEW, body: encodeLinkChange(LOOPBACK, { up: true }) });

async function seg6local(context: Context): Promise<string> {
  const { client } = context;
  await loopbackUp(context);
  await client.request({
    operation: 'address',
    type: RTM_ADDRESS.NEW,
    flags: CREATE,
    body: encodeAddress(LOOPBACK, address('2001:db8::1'), 64, { nodad: true }),
  });
  const body = encodeSeg6LocalRoute({
    sid: address('2001:db8:1::1'),
    action: 'end.dt6',
    table: RT_TABLE_MAIN,
    ifindex: LOOPBACK,
    protocol: RTPROT_STATIC,
  });
  await client.request({ operation: 'route seg6local End.DT6', type: RTM_ROUTE.NEW, flags: CREATE, body });
  return 'a seg6local End.DT6 route was accepted';
}

/** H.Encaps with one segment. struct seg6_iptunnel_encap: mode, then a segment routing header. */
async function seg6(context: Context): Promise<string> {
  await loopbackUp(context);
  const srh = concat([Uint8Array.of(0, 2, ROUTING_TYPE_SRH, 0, 0, 0, 0, 0), addressBytes(address('2001:db8:2::1'))]);
  const body = concat([
    encodeRoute({ destination: prefix('2001:db8:3::/64'), ifindex: LOOPBACK, protocol: RTPROT_STATIC }),
    attribute(
      RTA_ENCAP_TYPE,
      struct(2, (view) => view.setUint16(0, LWTUNNEL_ENCAP_SEG6, true)),
    ),
    nested(RTA_ENCAP, attribute(SEG6_IPTUNNEL_SRH, concat([u32(SEG6_IPTUN_MODE_ENCAP), srh]))),
  ]);
  await context.client.request({ operation: 'route seg6 encap', type: RTM_ROUTE.NEW, flags: CREATE, body });
  return 'a seg6 encap route was accepted';
}

const qdisc =
  (kind: string, body: Uint8Array) =>
  async ({ client }: Context): Promise<string> => {
    await client.request({
      operation: `root qdisc ${kind}`,
      type: RTM_QDISC.NEW,
      flags: NLM_F.CREATE | NLM_F.REPLACE,
      body,
    });
    return 'accepted as root qdisc';
  };
const link =
  (kind: string, body: Uint8Array) =>
  async ({ client }: Context): Promise<string> => {
    await client.request({ operation: `create ${kind}`, type: RTM_LINK.NEW, flags: CREATE, body });
    return 'created';
  };

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
    name: 'cast-to-kern-ctx',
    required: true,
    neededFor: 'monitored ports: reading the depth of the queue',
    remedy: 'boot Linux 6.2 or newer (Debian 12: apt install -t bookworm-backports linux-image-amd64)',
    test: () => kernelFunction('bpf_cast_to_kern_ctx'),
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

/** Asks for every feature, one after another. Resolves also when some, or all, are missing. */
export async function probeKernel(dependencies: { poller: Poller }): Promise<KernelFeature[]> {
  let netns: Netns;
  try {
    netns = Netns.create();
  } catch (error) {
    // Without a namespace nothing can be tried; that is about privilege, and the first line says so.
    const detail = reasonOf(error);
    return PROBES.map((probe, i) => ({
      ...row(probe),
      ok: false,
      detail: `no network namespace to try it in: ${detail}`,
      remedy: i === 0 ? probe.remedy : 'see capabilities',
    }));
  }
  const client = NetlinkClient.open({ netns }, dependencies);
  try {
    const features: KernelFeature[] = [];
    for (const probe of PROBES) features.push(await ask(probe, { netns, client }));
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
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function ask(probe: Probe, context: Context): Promise<KernelFeature> {
  try {
    return { ...row(probe), ok: true, detail: await probe.test(context), remedy: '' };
  } catch (error) {
    return { ...row(probe), ok: false, detail: reasonOf(error), remedy: probe.remedy };
  }
}
