// A router with two host ports, two core ports, a border port and a bridge, in a network namespace with real routes:
// what the reverse-path check asks the kernel about. Packets are put into the proxy's program as if they had come by
// one of these ports.
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { CB_TAG } from '../../../src/kernel/dataplane/egress.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { encodePortRole, portRoleKey } from '../../../src/kernel/dataplane/port-roles.ts';
import { isGatewayPort } from '../../../src/kernel/netlink/gateway-ports.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import type { Intent } from '../../../src/intent/intent.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { planLearning } from '../../../src/plan/port-roles.ts';
import { inNetns, ipLines } from '../../support/netns.ts';
import { type Outcome, type ProxyUnderTest, context } from './proxy-under-test.ts';

const PORTS = ['host1', 'host2', 'core1', 'core2', 'border', 'bridged', 'br0'] as const;
export type Port = (typeof PORTS)[number] | 'lo';

/** A is at host1, B behind both core ports (ECMP), C behind core1 alone, D behind the border, E in the bridge. */
const NETWORK = `link set lo up
link add br0 type bridge
link set bridged master br0
link set br0 up
addr add 192.0.2.1/32 dev lo
addr add 2001:db8:ffff::1/128 dev lo
addr add 10.0.0.254/24 dev host1
addr add 2001:db8:a::ff/64 dev host1 nodad
addr add 10.0.2.254/24 dev host2
addr add 2001:db8:a2::ff/64 dev host2 nodad
addr add 10.0.5.254/24 dev br0
addr add 2001:db8:e::ff/64 dev br0 nodad
addr add 10.9.1.1/24 dev core1
addr add 2001:db8:9:1::1/64 dev core1 nodad
addr add 10.9.2.1/24 dev core2
addr add 2001:db8:9:2::1/64 dev core2 nodad
addr add 10.9.9.1/24 dev border
addr add 2001:db8:9:9::1/64 dev border nodad
route add 10.0.1.0/24 nexthop via 10.9.1.2 nexthop via 10.9.2.2
route add 2001:db8:b::/64 nexthop via 2001:db8:9:1::2 nexthop via 2001:db8:9:2::2
route add 192.0.2.2/32 nexthop via 10.9.1.2 nexthop via 10.9.2.2
route add 2001:db8:ffff::2/128 nexthop via 2001:db8:9:1::2 nexthop via 2001:db8:9:2::2
route add 10.0.3.0/24 via 10.9.1.2
route add 2001:db8:c::/64 via 2001:db8:9:1::2
route add 10.0.4.0/24 via 10.9.9.2
route add 2001:db8:d::/64 via 2001:db8:9:9::2
route add unreachable 10.0.6.0/24`;

export class PortsScene {
  readonly netns = Netns.create();
  private readonly far = Netns.create();
  readonly index: ReadonlyMap<Port, number>;

  constructor() {
    const { netns, far } = this;
    inNetns(
      netns,
      'sysctl',
      '-qw',
      'net.ipv6.conf.all.forwarding=1',
      'net.ipv4.ip_forward=1',
      'net.ipv6.conf.default.accept_dad=0',
    );
    const veths = PORTS.filter((port) => port !== 'br0');
    ipLines(
      netns,
      veths
        .map((name) => `link add ${name} type veth peer name p-${name} netns ${far.path}\nlink set ${name} up`)
        .join('\n'),
    );
    ipLines(far, veths.map((name) => `link set p-${name} up`).join('\n'));
    ipLines(netns, NETWORK);
    this.index = netns.run(
      () => new Map<Port, number>([...PORTS, 'lo' as const].map((name) => [name, interfaceIndex(name)])),
    );
  }

  private facts() {
    const links = PORTS.map((name) => ({
      name,
      ifindex: this.index.get(name)!,
      up: true,
      kind: name === 'br0' ? 'bridge' : 'veth',
      etherLike: true,
      ...(name === 'bridged' && { master: this.index.get('br0')! }),
    }));
    const gatewayPorts = new Set(
      links.map(({ ifindex }) => ifindex).filter((ifindex) => isGatewayPort(ifindex, { netns: this.netns })),
    );
    return { links, qdiscs: [], features: [], gatewayPorts };
  }

  /** Tells the program of the ports, as the agent would. */
  describe(proxy: ProxyUnderTest, router: Partial<Intent['router']> = {}): void {
    const intent: Intent = {
      router: { name: 'r', reversePathCheck: true, ...router },
      queuePairs: { ageingMs: 300_000 },
      ports: [],
      borderPorts: ['border'],
      codePoints: DEFAULT_CODE_POINTS,
      arnBitOrder: 'msb-first',
      gnmiSocket: '/x',
      logLevel: 'info',
    };
    const { learning } = planLearning(intent, this.facts());
    for (const role of learning!.ports)
      proxy.object.map(PROXY_MAPS.portRoles).update(portRoleKey(role), encodePortRole(role));
  }

  /** A packet by a port; by the loopback interface one that this router has built. */
  send(proxy: ProxyUnderTest, port: Port, packet: Uint8Array): Outcome {
    const ctx = context({ ifindex: this.index.get(port)!, cb: port === 'lo' ? [CB_TAG] : [] });
    return proxy.send(packet, { ctx, netns: this.netns });
  }

  close(): void {
    this.netns.close();
    this.far.close();
  }
}
