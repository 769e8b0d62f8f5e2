// Facts about this machine for the plan: plain values that the daemon reads from rtnetlink and the kernel probe. Also
// problems that follow from these facts for several features.
import type { Intent } from '../intent/intent.ts';
import { type Family, type IpAddress, formatAddress } from '../model/address.ts';
import { type Prefix, longestPrefix, prefixContains } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import { TREE_DEVICE, TREE_DEVICE_PEER } from '../model/tree-device.ts';
import type { DecapsulationBehavior } from './srv6-plan.ts';

export interface LinkFact {
  readonly name: string;
  readonly ifindex: number;
  readonly up: boolean;
  /** `veth`, `bridge`, …; undefined for a physical interface and for the loopback. */
  readonly kind: string | undefined;
  /** Whether frames have an Ethernet header. False for the loopback, tunnels and TUN devices. */
  readonly etherLike: boolean;
  /** Index of the interface below a VLAN's, in the same network namespace. */
  readonly lower?: number;
  /** Index of the bridge or bond that the link is a port of. */
  readonly master?: number;
  /** As the driver reports it, bit/s. Absent: not reported. */
  readonly speedBitPerS?: number;
  /** Of IP packets, octets. Absent: not known. */
  readonly mtu?: number;
}

/** The root qdisc of an interface. */
export interface QdiscFact {
  readonly ifindex: number;
  readonly rootKind: string;
  /** Below an mq or mqprio: kinds of the transmit queues' qdiscs, those in use. */
  readonly queueKinds?: readonly string[];
  /** Of these, the major number in hexadecimal, as `tc` shows it. Absent: the kernel has made it, without a handle. */
  readonly rootHandle?: string;
  /** Depth at which the qdisc drops, bytes; known for TBF. */
  readonly limitBytes?: number;
  /**
   * Rate in bit/s, for TBF and HTB. For HTB it is the sum of the top-level classes' rates, since these cannot borrow.
   */
  readonly rateBitPerS?: number;
}

/** One line of the kernel probe (probeKernel's features fit as they are). */
interface KernelFeatureFact {
  readonly name: string;
  readonly ok: boolean;
  /** The finding, or why the feature is missing. */
  readonly detail: string;
  /** The remedy if it is missing. */
  readonly remedy: string;
}

export interface Facts {
  readonly links: readonly LinkFact[];
  readonly qdiscs: readonly QdiscFact[];
  /** As probed. A feature that is not listed is assumed to exist. */
  readonly features: readonly KernelFeatureFact[];
  /** The router's addresses; absent when not known, and then not checked. */
  readonly addresses?: readonly IpAddress[];
  /** Prefixes whose hosts are attached to an interface. Absent: not read. */
  readonly onLink?: readonly OnLinkFact[];
  /** Whether packets are forwarded, by family; absent when not known, and then not checked. */
  readonly forwarding?: Readonly<Record<Family, boolean>>;
  /**
   * RTT measured through a port, by the name of its interface (STAMP, RFC 8762). A port without an entry has not been
   * measured yet. Absent: STAMP does not run.
   */
  readonly rttMs?: ReadonlyMap<string, number>;
  /** Local SIDs of the kernel that decapsulate, whoever configured them; absent: not read. */
  readonly seg6Local?: readonly Seg6LocalFact[];
  /** `ip sr tunsrc`. Null: not set, so tunnels have an address of the router as source. Absent: not read. */
  readonly tunnelSource?: IpAddress | null;
  /** Interfaces with a route through a gateway, by index. Absent: not read. */
  readonly gatewayPorts?: ReadonlySet<number>;
  /** SIDs of this router, as text, that the kernel refused at the last attempt. Absent: none. */
  readonly refusedSids?: ReadonlySet<string>;
}

/** The prefix of an address of this router. */
export interface OnLinkFact {
  readonly ifindex: number;
  readonly prefix: Prefix;
}

/** A seg6local route of the kernel. */
export interface Seg6LocalFact {
  readonly sid: IpAddress;
  /** Prefix length of the destination. */
  readonly length: number;
  readonly behavior: Exclude<DecapsulationBehavior, 'end-con'>;
  /**
   * Table of the lookup. Null: there is none, it is a VRF, or the kernel must count the packets. The kernel then
   * decapsulates.
   */
  readonly table: number | null;
}

/** Notices and CNPs are forwarded like other packets: without forwarding in their family the kernel drops them. */
export function forwardingProblems(feature: string, families: Iterable<Family>, facts: Facts): Problem[] {
  return [...new Set(families)]
    .filter((family) => facts.forwarding?.[family] === false)
    .map((family) => ({
      code: 'router.not-forwarding',
      feature,
      problem: `this router does not forward IPv${family}, so the kernel drops what cnpd's programs send`,
      remedy: family === 4 ? '`sysctl -w net.ipv4.ip_forward=1`' : '`sysctl -w net.ipv6.conf.all.forwarding=1`',
    }));
}

const LOOPBACK = 'lo';
const loopbackIsDown = (facts: Facts): boolean => findLink(facts, LOOPBACK)?.up === false;

/** Notifications are built on the loopback interface, and the path of a CNP may begin there. */
export const loopbackProblems = (feature: string, facts: Facts): Problem[] =>
  loopbackIsDown(facts)
    ? [
        {
          code: 'router.loopback-down',
          feature,
          problem: `the loopback interface ${LOOPBACK} is down, which cnpd's programs need`,
          remedy: `\`ip link set ${LOOPBACK} up\``,
        },
      ]
    : [];

/**
 * The command that gives the router an address. The kernel removes the IPv6 addresses of an interface that goes down,
 * and does not restore them.
 */
export function addressRemedy(address: IpAddress, facts: Facts): string {
  const add = `\`ip address add ${formatAddress(address)}/${address.family === 4 ? 32 : 128} dev ${LOOPBACK}\``;
  return loopbackIsDown(facts) ? `\`ip link set ${LOOPBACK} up\`, then ${add}` : add;
}

/** Part of cnpd → kernel features that it needs, each with its alternatives. */
const PROGRAMS = [
  ...[['libbpf'], ['btf'], ['bpffs'], ['tcx', 'clsact']],
  ...[['coarse-clock'], ['atomics'], ['function-memory']],
] as const;
const STACK = ['stack-memory'] as const;
const VERSIONS = ['absent-function'] as const;
const QUEUE_DEPTH = [['packet-memory'], VERSIONS] as const;
const NEEDS = {
  ports: [...PROGRAMS, STACK, ['loop'], ['percpu-lookup'], ...QUEUE_DEPTH],
  notifications: PROGRAMS,
  proxy: [...PROGRAMS, STACK],
  source: PROGRAMS,
  enforce: [...PROGRAMS, STACK, VERSIONS],
  'flow-control': [...PROGRAMS, STACK, ...QUEUE_DEPTH],
  'border-ports': PROGRAMS,
  srv6: [...PROGRAMS, STACK, ...QUEUE_DEPTH, ['seg6local']],
  groups: [...PROGRAMS, VERSIONS],
} as const satisfies Record<string, readonly (readonly string[])[]>;

/** The kernel features whose absence keeps a part from running, as problems. Empty: the part can run. */
export function missingFeatures(part: keyof typeof NEEDS, facts: Pick<Facts, 'features'>): Problem[] {
  const probed = new Map(facts.features.map((feature) => [feature.name, feature]));
  return NEEDS[part].flatMap((alternatives: readonly string[]): Problem[] => {
    const found = alternatives.map((name) => probed.get(name));
    const missing = found.filter((feature) => feature?.ok === false);
    if (missing.length < alternatives.length) return [];
    const [{ detail, remedy }] = missing as [KernelFeatureFact];
    return [
      {
        code: 'kernel.feature-missing',
        feature: part,
        problem: `this kernel lacks ${alternatives.join(' and ')}, required for ${part}: ${detail}`,
        remedy,
      },
    ];
  });
}

export const findLink = (facts: Facts, name: string): LinkFact | undefined =>
  facts.links.find((link) => link.name === name);

/** The link to which a host is attached: of several prefixes that contain it, that of the longest. */
export function linkOfHost({ links, onLink = [] }: Facts, host: IpAddress): LinkFact | undefined {
  const found = longestPrefix(onLink.filter(({ prefix }) => prefixContains(prefix, host)));
  return found && links.find(({ ifindex }) => ifindex === found.ifindex);
}

const missingBorderPorts = (facts: Facts, { borderPorts }: Pick<Intent, 'borderPorts'>): string[] =>
  borderPorts.filter((name) => !findLink(facts, name));

/**
 * Links that may carry this domain's RoCEv2: all Ethernet-like interfaces except the carriers' own, which only carry
 * routing protocols, the pair into the trees, by which a packet of a source would be seen a second time, and the border
 * ports, since nothing is learned from outside. A missing border port may exist under another name. Then only the
 * interfaces that the operator has named are safe.
 */
export function roceLinks(facts: Facts, intent: Intent): LinkFact[] {
  const { isis, ospfv2, ospfv3, borderPorts } = intent;
  if (missingBorderPorts(facts, intent).length > 0) {
    const { proxy, source, flowControl } = intent;
    const named = new Set([proxy, source, flowControl].flatMap((section) => section?.interfaces ?? []));
    return facts.links.filter((link) => link.etherLike && named.has(link.name));
  }
  const own = new Set([
    ...borderPorts,
    TREE_DEVICE,
    TREE_DEVICE_PEER,
    ...[isis, ...(ospfv2?.areas ?? []), ...(ospfv3?.areas ?? [])].map((link) => link?.interface),
  ]);
  return facts.links.filter((link) => link.etherLike && !own.has(link.name));
}

/** The problem of a missing border port. `what` is the function that is limited to proxy.interfaces meanwhile. */
export function borderMissing(feature: string, what: string, facts: Facts, intent: Intent): Problem[] {
  const missing = missingBorderPorts(facts, intent);
  if (missing.length === 0) return [];
  const name = missing[0]!;
  return [
    {
      code: 'border-ports.missing',
      feature,
      problem:
        `the border port ${name} does not exist, and may exist under another name: ` +
        `${what} only at proxy.interfaces`,
      remedy:
        `create ${name}, or correct its name under border-ports in cnpd.yaml, ` +
        'or name the interfaces inside the domain under proxy.interfaces',
    },
  ];
}

export const interfaceMissing = (feature: string, name: string): Problem => ({
  code: 'interface.missing',
  feature,
  problem: `interface ${name} does not exist`,
  remedy: `create ${name}, or correct its name under ${feature}: in cnpd.yaml; cnpd notices when it appears`,
});
