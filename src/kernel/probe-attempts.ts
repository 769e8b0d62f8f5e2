// The attempts by which probe.ts finds out whether the kernel has a feature. Each returns what it found, or throws an
// Error with the reason why the feature is missing. All changes are made in the namespace of the context.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { address, addressBytes } from '../model/address.ts';
import { messageOf } from '../model/error-text.ts';
import { prefix } from '../model/prefix.ts';
import { BpfLoadError, openBpfObject } from './bpf/object.ts';
import { NEEDED, missingCapabilities } from './capabilities.ts';
import { libbpf } from './ffi/libbpf.ts';
import { PinnedBuffer } from './ffi.ts';
import type { Netns } from './netns.ts';
import { encodeAddress, encodeRoute, RTM_ADDRESS, RTM_ROUTE } from './netlink/address.ts';
import type { NetlinkClient } from './netlink/client.ts';
import { RTM_LINK, encodeLinkChange } from './netlink/link.ts';
import { NLM_F, attribute, concat, nested, struct, u32 } from './netlink/message.ts';
import { encodeSeg6LocalRoute } from './netlink/seg6local.ts';
import { RTM_QDISC } from './netlink/traffic-control.ts';

export interface Context {
  readonly netns: Netns;
  readonly client: NetlinkClient;
  /** Of the compiled programs. */
  readonly objectDir: string;
}

/** In dist/bpf. */
export const PROBE_OBJECT = 'probe.bpf.o';
/** The loopback of the attempts' namespace. */
export const LOOPBACK = 1;
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

export function capabilities(): string {
  // CAP_SYS_ADMIN, which is needed to mount the BPF file system, implies CAP_BPF and CAP_PERFMON (capabilities(7)).
  const missing = missingCapabilities();
  if (missing.length > 0) throw new Error(`this process lacks ${missing.join(', ')}`);
  return `held: ${Object.keys(NEEDED).join(', ')}`;
}

export function typeInformation(): string {
  if (!existsSync('/sys/kernel/btf/vmlinux')) throw new Error('/sys/kernel/btf/vmlinux does not exist');
  return '/sys/kernel/btf/vmlinux';
}

const allLoad = new WeakMap<Netns, boolean>();

function refusal({ objectDir }: Context, programs?: readonly string[]): BpfLoadError | undefined {
  try {
    openBpfObject(join(objectDir, PROBE_OBJECT), { programs }).close();
    return undefined;
  } catch (error) {
    if (error instanceof BpfLoadError) return error;
    throw error;
  }
}

/**
 * Loads one of the programs of bpf/probe.bpf.c, which is no part of any other. Only where not all of them load at once:
 * each attempt takes as long as all together. What the verifier says is no help.
 */
export const loads =
  (program: string) =>
  (context: Context): string => {
    const all = allLoad.get(context.netns) ?? refusal(context) === undefined;
    allLoad.set(context.netns, all);
    const refused = all ? undefined : refusal(context, [program]);
    if (refused) throw new Error(`the kernel refuses a program that uses this (${refused.code})`, { cause: refused });
    return 'a program that uses this was loaded';
  };

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

/** How programs read the kernel's structure of a packet: by a cast, or before Linux 6.2 by copies. */
export function packetMemory(): string {
  try {
    return kernelFunction('bpf_cast_to_kern_ctx');
  } catch (error) {
    if (isLockedDown())
      throw new Error(`${messageOf(error)}, and lockdown forbids bpf_probe_read_kernel`, { cause: error });
    return 'bpf_probe_read_kernel';
  }
}

/** kernel_lockdown(7), the level that hides the kernel's memory. */
function isLockedDown(): boolean {
  try {
    return readFileSync('/sys/kernel/security/lockdown', 'utf8').includes('[confidentiality]');
  } catch {
    return false; // no securityfs, or a kernel without lockdown
  }
}

export function clsact({ netns }: Context): string {
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

export async function seg6local(context: Context): Promise<string> {
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
export async function seg6(context: Context): Promise<string> {
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

export const qdisc =
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
export const link =
  (kind: string, body: Uint8Array) =>
  async ({ client }: Context): Promise<string> => {
    await client.request({ operation: `create ${kind}`, type: RTM_LINK.NEW, flags: CREATE, body });
    return 'created';
  };
