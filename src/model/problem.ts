// Problems: the type that finding and showing components share. Sentences may change. A code keeps its meaning, so
// programs must use codes only.

/** Each code has one cause and one kind of remedy. */
export const PROBLEM_CODES = [
  // The file and the intent in force
  'intent.reload-refused',
  'gnmi.socket-waits',
  'gnmi.group-waits',
  'gnmi.set-refused',
  'gnmi.config-refused',
  'metrics.not-listening',
  'northbound.not-listening',
  'tls.file-missing',
  'code-points.assigned',
  'recorder.failed',
  // This router: its interfaces, addresses, kernel
  'interface.missing',
  'border-ports.missing',
  'kernel.feature-missing',
  'router.not-forwarding',
  'router.loopback-down',
  'router.border-core-port',
  'router.wrong-port',
  // What is advertised, and in which carrier
  'authentication.short-key',
  'carrier.not-started',
  'carrier.prefixes-left-out',
  'carrier.family-not-carried',
  'isis.no-neighbor',
  'isis.system-id-contested',
  'isis.fragment-zero-exhausted',
  'isis.fragments-exhausted',
  'isis.database-full',
  'isis.flags-lost',
  'isis.holo-database',
  'ospf.no-backbone',
  'ospf.no-opaque',
  'ospf.router-id-contested',
  'ospf.database-full',
  'ospf.mtu',
  'ospf.no-neighbor',
  'bgp.unusable',
  'bgp.silent',
  'bgp.no-policies',
  'bgp.refused',
  'bgp.dropped',
  'bgp.disputed',
  // The congested node and its notifications
  'ports.queue-unreadable',
  'ports.rate-unknown',
  'ports.rtt-unknown',
  'ports.loopback',
  'ports.no-carrier',
  'ports.k-max-capped',
  'ports.never-exceeded',
  'ports.source-not-own',
  'ports.no-source',
  'notifications.no-ports',
  'notifications.no-route',
  'notifications.no-resume',
  'stamp.no-reflector',
  'stamp.no-probes',
  // The proxy
  'proxy.no-interface',
  'proxy.not-ethernet',
  'proxy.address-not-own',
  'proxy.border-interface',
  'proxy.hosts-are-notifiers',
  'source.no-interface',
  'source.not-ethernet',
  'source.rate-unknown',
  'source.queue-taken',
  'source.holds-full',
  'source.hosts-are-notifiers',
  // Precise flow control
  'flow-control.no-interface',
  'flow-control.not-ethernet',
  'flow-control.not-forwarding',
  'flow-control.queue-unreadable',
  'flow-control.queue-taken',
  'flow-control.never-exceeded',
  'flow-control.neighbor-elsewhere',
  'flow-control.no-neighbor',
  'flow-control.no-socket',
  'flow-control.not-started',
  'flow-control.pauses-full',
  'flow-control.watchdog',
  'queue-pairs.no-interface',
  'queue-pairs.full',
  // The provider edge
  'srv6.not-ethernet',
  'srv6.tunnel-source-not-own',
  'srv6.sid-is-address',
  'srv6.sid-not-host-route',
  'srv6.ipv4-lost',
  // Groups
  'groups.member-aside',
  'groups.members-unreadable',
  'groups.branch-stalled',
  'groups.no-core-port',
  'groups.sids-withheld',
  'groups.contested',
  'groups.members-left-out',
  'groups.proxy-address-taken',
  'groups.designated-qpn',
  'groups.too-many-branches',
  'groups.not-an-edge',
  'groups.unknown-edge',
  'groups.no-edge',
  'groups.edge-lost',
  'groups.no-topology',
  'groups.mtu',
  'groups.path-mtu',
  'groups.source-unknown',
  // What the kernel has refused
  'dataplane.not-loaded',
  'dataplane.refused',
] as const;

export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** What an operator has to know, and can change nothing about: everything declared works. */
const HAZARDS: ReadonlySet<string> = new Set<ProblemCode>(['isis.holo-database']);
export const isHazard = ({ code }: { readonly code?: string | undefined }): boolean =>
  code !== undefined && HAZARDS.has(code);

export interface Problem {
  readonly code: ProblemCode;
  /** `ports`, `proxy`, `border-ports`: the section of cnpd.yaml. */
  readonly feature: string;
  readonly problem: string;
  /** What the operator can do, as a command if possible. */
  readonly remedy: string;
}

/** One line of `cnpctl doctor`: a requirement, and whether it is met. */
export interface Check {
  /** Stable, as a code is. */
  readonly id: string;
  /** The requirement. */
  readonly claim: string;
  /** `warning`: only an operator can tell whether it is right; `unknown`: another item must be fixed first. */
  readonly state: 'ok' | 'warning' | 'missing' | 'unknown';
  readonly problem?: string;
  /** The command that fixes it. */
  readonly remedy?: string;
}
