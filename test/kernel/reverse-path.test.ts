// Who writes a router's address into its packets, seen from the router that receives them: real packets on veths, with
// one way back and with several (ECMP), in both families. The spoofer is an insider: a host on a port that is no border
// port.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { isGatewayPort } from '../../src/kernel/netlink/gateway-ports.ts';
import { RoutesBack } from '../../src/kernel/netlink/routes-back.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { ReversePath } from '../../src/kernel/reverse-path.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { CorePorts } from '../../src/kernel/core-ports.ts';
import type { Intent } from '../../src/intent/intent.ts';
import { systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { prefix } from '../../src/model/prefix.ts';
import { planLearning } from '../../src/plan/port-roles.ts';
import { encodeProbe } from '../../src/stamp/messages.ts';
import { startStamp } from '../../src/stamp/stamp.edge.ts';
import { inNetns, ip, ipLines } from '../support/netns.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 30_000;
/** The router's loopbacks, and those of the router far away, for which the spoofer passes itself off. */
const OWN = [address('2001:db8:ffff::1'), address('192.0.2.1')];
const FAR = [address('2001:db8:ffff::2'), address('192.0.2.2')];

let poller: Poller;
let r: Netns, far: Netns, spoofer: Netns;
let closing: (() => void)[];
let counters: Record<string, number>;
let errors: unknown[];
let reversePath: ReversePath;
let routes: RoutesBack;
let cores: CorePorts;
let intent: Pick<Intent, 'router' | 'queuePairs' | 'borderPorts'>;

beforeEach(() => {
  [errors, closing, counters] = [[], [], {}];
  intent = { router: { name: 'r1', reversePathCheck: true }, queuePairs: { ageingMs: 300_000 }, borderPorts: [] };
  poller = Poller.open({ onError: (error) => errors.push(error) });
  [r, far, spoofer] = [Netns.create(), Netns.create(), Netns.create()];
  for (const ns of [r, far, spoofer]) {
    inNetns(
      ns,
      'sysctl',
      '-qw',
      'net.ipv6.conf.default.accept_dad=0',
      'net.ipv4.conf.all.rp_filter=0',
      'net.ipv4.conf.default.rp_filter=0',
      'net.ipv6.conf.all.forwarding=1',
    );
  }
  const lo = (host: number): string =>
    `link set lo up
      addr add 2001:db8:ffff::${host}/128 dev lo
      addr add 192.0.2.${host}/32 dev lo`;
  const toRouter = (n: number): string =>
    `route add 2001:db8:ffff::1/128 via 2001:db8:${n}::1
      route add 192.0.2.1/32 via 10.0.${n}.1`;
  ipLines(r, [lo(1), newLink(1, far), newLink(2, far), newLink(3, spoofer)].join('\n'));
  ipLines(far, [lo(2), endOf(1), endOf(2), toRouter(1)].join('\n'));
  ipLines(spoofer, [lo(2), endOf(3), toRouter(3)].join('\n'));
  routes = RoutesBack.open(r);
  const count = (name: string, by = 1): void => void (counters[name] = (counters[name] ?? 0) + by);
  reversePath = new ReversePath({
    waysTo: (to) => routes.waysTo(to),
    onDoubts: (ports) => void (cores.doubted(ports) && planPorts()),
    now: () => performance.now(),
    count,
  });
  cores = new CorePorts({
    ask: (ifindex) => isGatewayPort(ifindex, { netns: r }),
    clock: systemClock,
    log: silentLog,
  });
  const rtnetlink = Rtnetlink.open({ netns: r }, { poller });
  const options = {
    loopbacks: OWN,
    reflector: true,
    acceptFrom: ['2001:db8::/32', '192.0.2.0/24', '10.0.0.0/8'].map(prefix),
    udpPort: 862,
    intervalMs: 1000,
    targets: [],
    learnTargets: false,
  };
  const stamp = startStamp(options, {
    poller,
    rtnetlink,
    reversePath,
    interfaceName: () => undefined,
    clock: systemClock,
    log: silentLog,
    count,
    netns: r,
    onChange: () => {},
  });
  expect(stamp.problems()).toEqual([]);
  closing.push(
    () => [r, far, spoofer].forEach((ns) => ns.close()),
    () => routes.close(),
    () => rtnetlink.close(),
    () => stamp.stop(),
  );
});
afterEach(() => {
  for (const close of closing.reverse()) close();
  poller.close();
  expect(errors).toEqual([]);
});

/** A link between the router (::1) and another (::2): commands of ip(8) for one end. */
const addressed = (name: string, n: number, end: number): string =>
  `link set ${name} up
    addr add 2001:db8:${n}::${end}/64 dev ${name} nodad
    addr add 10.0.${n}.${end}/24 dev ${name}`;
const newLink = (n: number, to: Netns): string =>
  `link add t-r-${n} type veth peer name t-p-${n} netns ${to.path}\n${addressed(`t-r-${n}`, n, 1)}`;
const endOf = (n: number): string => addressed(`t-p-${n}`, n, 2);

/** What the daemon does after each look at its links: the ports' roles, as the plan has them. */
function planPorts(): void {
  const links = [1, 2, 3].map((n) => ({
    name: `t-r-${n}`,
    ifindex: [...indexes(n)][0]!,
    etherLike: true,
    up: true,
    kind: 'veth',
  }));
  const { learning } = planLearning(intent as Intent, {
    links,
    qdiscs: [],
    features: [],
    gatewayPorts: cores.among(links),
  });
  reversePath.ports = new Map(learning!.ports.map((port) => [port.ifindex, port]));
}
const interfacesTo = (to: IpAddress): Set<number> => new Set(routes.waysTo(to).map(({ ifindex }) => ifindex));
const indexes = (...links: number[]): Set<number> => new Set(links.map((n) => r.run(() => interfaceIndex(`t-r-${n}`))));

const WAYS: Readonly<Record<string, () => void>> = {
  'one next hop': () => {
    ip(r, 'route replace 2001:db8:ffff::2/128 via 2001:db8:1::2');
    ip(r, 'route replace 192.0.2.2/32 via 10.0.1.2');
  },
  ECMP: () => {
    ip(r, 'route replace 2001:db8:ffff::2/128 nexthop via 2001:db8:1::2 nexthop via 2001:db8:2::2');
    ip(r, 'route replace 192.0.2.2/32 nexthop via 10.0.1.2 nexthop via 10.0.2.2');
  },
  'ECMP by next hop objects': () => nextHopGroup('1'),
  'ECMP by next hop objects that routes only name': () => nextHopGroup('0'),
  'a default route': () => {
    ip(r, '-6 route replace default via 2001:db8:1::2');
    ip(r, 'route replace default via 10.0.1.2');
  },
};
function nextHopGroup(compatible: string): void {
  inNetns(r, 'sysctl', '-qw', `net.ipv4.nexthop_compat_mode=${compatible}`);
  for (const [id, n] of [
    [1, 1],
    [2, 2],
  ] as const) {
    ip(r, `nexthop add id ${id} via 2001:db8:${n}::2 dev t-r-${n}`);
    ip(r, `nexthop add id ${id + 10} via 10.0.${n}.2 dev t-r-${n}`);
  }
  ip(r, 'nexthop add id 100 group 1/2');
  ip(r, 'nexthop add id 110 group 11/12');
  ip(r, 'route replace 2001:db8:ffff::2/128 nhid 100');
  ip(r, 'route replace 192.0.2.2/32 nhid 110');
}

/** A probe from `ns` under `source`; resolves to whether it was answered, after the router has looked at it. */
async function probe(ns: Netns, source: IpAddress, through?: number): Promise<boolean> {
  const to = OWN.find((own) => own.family === source.family)!;
  if (through !== undefined) {
    ip(ns, `route replace 2001:db8:ffff::1/128 via 2001:db8:${through}::1`);
    ip(ns, `route replace 192.0.2.1/32 via 10.0.${through}.1`);
  }
  const answered = (): number => counters['stamp.reflector.answered'] ?? 0;
  const refused = (): number => counters['stamp.reflector.reverse-path'] ?? 0;
  const [a, b] = [answered(), refused()];
  const socket = openUdpSocket(
    { family: source.family, netns: ns, bind: { address: source, port: 0 } },
    { poller, onDatagram: () => {}, onError: (e) => errors.push(e) },
  );
  socket.send(encodeProbe(0, 1n), { address: to, port: 862 });
  await until(
    'the router has answered or refused it',
    () => ({ answered: answered() - a, refused: refused() - b }),
    (by) => by.answered > 0 || by.refused > 0,
    LIMIT_MS,
  );
  socket.close();
  return answered() > a;
}

describe.each(Object.keys(WAYS))('the reverse path of STAMP, %s', (way) => {
  beforeEach(() => WAYS[way]!());
  const ports = way.startsWith('ECMP') ? [1, 2] : [1];

  test('the kernel names every next hop', () => {
    for (const to of FAR) {
      expect(interfacesTo(to)).toEqual(indexes(...ports));
      expect(routes.waysTo(to).map(({ through }) => through)).toEqual(ports.map(() => 'gateway'));
    }
  });

  test('PNC-6-b: the ports of these ways lead to other routers, and no other port does', () => {
    expect(new Set([...indexes(1, 2, 3)].filter((port) => isGatewayPort(port, { netns: r })))).toEqual(
      indexes(...ports),
    );
  });

  test('the router far away is answered by every way that leads back; an insider under its address gets nothing, and is counted', async () => {
    for (const source of FAR) {
      for (const port of ports) expect(await probe(far, source, port)).toBe(true);
      expect(await probe(spoofer, source)).toBe(false);
    }
    expect(counters['stamp.reflector.reverse-path']).toBe(2);
  });
});

describe('the reverse path in an asymmetric core', () => {
  const ON_LINK = [address('2001:db8:1::2'), address('10.0.1.2')];
  /** The router sends to the one far away by port 1 alone; of port 2 it knows that it leads to other routers. */
  beforeEach(() => {
    WAYS['one next hop']!();
    ip(r, 'route add 2001:db8:eeee::/48 via 2001:db8:2::2');
    ip(r, 'route add 203.0.113.0/24 via 10.0.2.2');
  });

  test('what comes by another port of the core than answers go is answered; an insider gets nothing', async () => {
    planPorts();
    for (const source of FAR) {
      for (const port of [1, 2]) expect(await probe(far, source, port)).toBe(true);
      expect(await probe(spoofer, source)).toBe(false);
    }
  });

  test('ECMP over two other ports of the core changes nothing', async () => {
    ipLines(r, newLink(4, far));
    ipLines(far, endOf(4));
    ip(r, 'route replace 2001:db8:ffff::2/128 nexthop via 2001:db8:1::2 nexthop via 2001:db8:4::2');
    ip(r, 'route replace 192.0.2.2/32 nexthop via 10.0.1.2 nexthop via 10.0.4.2');
    planPorts();
    for (const source of FAR) {
      expect(await probe(far, source, 2)).toBe(true);
      expect(await probe(spoofer, source)).toBe(false);
    }
  });

  test('an address that is on the link is believed at its own port alone', async () => {
    planPorts();
    for (const source of ON_LINK) {
      expect(await probe(far, source, 1)).toBe(true);
      expect(await probe(far, source, 2)).toBe(false);
    }
  });

  test('a border port is none of the core, and named ports are all of it', async () => {
    intent = { ...intent, borderPorts: ['t-r-2'] };
    planPorts();
    expect(await probe(far, FAR[0]!, 2)).toBe(false);
    intent = { ...intent, borderPorts: [], router: { ...intent.router, corePorts: ['t-r-1', 't-r-3'] } };
    planPorts();
    expect(await probe(far, FAR[1]!, 2)).toBe(false);
    expect(await probe(spoofer, FAR[1]!)).toBe(true);
  });

  test('routes that came after the port are found by the doubt', async () => {
    for (const route of ['-6 route del 2001:db8:eeee::/48', 'route del 203.0.113.0/24']) ip(r, route);
    planPorts();
    expect(await probe(far, FAR[0]!, 2)).toBe(false);
    ip(r, 'route add 2001:db8:eeee::/48 via 2001:db8:2::2');
    await until('an answer', () => probe(far, FAR[0]!, 2), LIMIT_MS);
  });

  test('behind an SRv6 route a source is the core’s', async () => {
    ip(r, 'route replace 2001:db8:ffff::2/128 encap seg6 mode encap segs 2001:db8:eeee::1 dev t-r-1');
    expect(routes.waysTo(FAR[0]!)).toMatchObject([{ through: 'tunnel' }]);
    planPorts();
    expect([1, 2, 3].map((n) => reversePath.refuses(FAR[0]!, [...indexes(n)][0]))).toEqual([false, false, true]);
  });
});

describe('the reverse path', () => {
  test('of an address of this router leads nowhere outside: an insider who has it is refused', async () => {
    ip(spoofer, 'addr add 2001:db8:ffff::1/128 dev t-p-3 nodad');
    ip(spoofer, 'addr del 2001:db8:ffff::1/128 dev t-p-3');
    expect(interfacesTo(OWN[0]!)).toEqual(new Set([1]));
    expect(interfacesTo(OWN[1]!)).toEqual(new Set([1]));
    expect([1, 2, 3].map((n) => reversePath.refuses(OWN[0]!, [...indexes(n)][0]))).toEqual([true, true, true]);
  });

  test('of what no route leads to, or a route that says no, is none', async () => {
    expect(interfacesTo(address('2001:db8:dead::1'))).toEqual(new Set());
    for (const kind of ['unreachable', 'blackhole', 'prohibit']) {
      ip(r, `route replace ${kind} 2001:db8:dead::/64`);
      ip(r, `route replace ${kind} 203.0.113.0/24`);
      for (const to of ['2001:db8:dead::1', '203.0.113.1']) expect(interfacesTo(address(to)), kind).toEqual(new Set());
    }
  });

  test('switched off, whoever says so is answered', async () => {
    WAYS['one next hop']!();
    reversePath.enabled = false;
    expect(await probe(spoofer, FAR[0]!)).toBe(true);
  });
});
