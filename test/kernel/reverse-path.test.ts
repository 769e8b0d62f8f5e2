// Who writes a router's address into its packets, seen from the router that receives them: real packets on veths, with
// one way back and with several (ECMP), in both families. The spoofer is an insider: a host on a port that is no border
// port.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { isGatewayPort } from '../../src/kernel/netlink/gateway-ports.ts';
import { RoutesBack } from '../../src/kernel/netlink/routes-back.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { ReversePath } from '../../src/kernel/reverse-path.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { prefix } from '../../src/model/prefix.ts';
import { encodeProbe } from '../../src/stamp/messages.ts';
import { startStamp } from '../../src/stamp/stamp.edge.ts';
import { inNetns, ip, until } from './support.ts';

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

beforeEach(() => {
  [errors, closing, counters] = [[], [], {}];
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
    ip(ns, 'link set lo up');
  }
  link(1, far);
  link(2, far);
  link(3, spoofer);
  for (const own of ['2001:db8:ffff::1/128', '192.0.2.1/32']) ip(r, `addr add ${own} dev lo`);
  for (const theirs of ['2001:db8:ffff::2/128', '192.0.2.2/32'])
    for (const ns of [far, spoofer]) ip(ns, `addr add ${theirs} dev lo`);
  for (const [ns, n] of [
    [far, 1],
    [spoofer, 3],
  ] as const) {
    ip(ns, `route add 2001:db8:ffff::1/128 via 2001:db8:${n}::1`);
    ip(ns, `route add 192.0.2.1/32 via 10.0.${n}.1`);
  }
  routes = RoutesBack.open(r);
  const count = (name: string, by = 1): void => void (counters[name] = (counters[name] ?? 0) + by);
  reversePath = new ReversePath({ interfacesTo: (to) => routes.interfacesTo(to), now: () => performance.now(), count });
  const rtnetlink = Rtnetlink.open({ netns: r }, { poller });
  const options = {
    loopbacks: OWN,
    reflector: true,
    acceptFrom: [prefix('2001:db8:ffff::/48'), prefix('192.0.2.0/24')],
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

/** A link between the router (::1) and another (::2). */
function link(n: number, to: Netns): void {
  ip(r, `link add t-r-${n} type veth peer name t-p-${n} netns ${to.path}`);
  for (const [ns, name, end] of [
    [r, `t-r-${n}`, 1],
    [to, `t-p-${n}`, 2],
  ] as const) {
    ip(ns, `link set ${name} up`);
    ip(ns, `addr add 2001:db8:${n}::${end}/64 dev ${name} nodad`);
    ip(ns, `addr add 10.0.${n}.${end}/24 dev ${name}`);
  }
}
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
  await until('the router has looked at it', () => answered() > a || refused() > b, LIMIT_MS);
  socket.close();
  return answered() > a;
}

describe.each(Object.keys(WAYS))('the reverse path of STAMP, %s', (way) => {
  beforeEach(() => WAYS[way]!());
  const ports = way.startsWith('ECMP') ? [1, 2] : [1];

  it('the kernel names every next hop', () => {
    for (const to of FAR) expect(routes.interfacesTo(to)).toEqual(indexes(...ports));
  });

  it('PNC-6-b: the ports of these ways lead to other routers, and no other port does', () => {
    expect(new Set([...indexes(1, 2, 3)].filter((port) => isGatewayPort(port, { netns: r })))).toEqual(
      indexes(...ports),
    );
  });

  it('the router far away is answered by every way that leads back; an insider under its address gets nothing, and is counted', async () => {
    for (const source of FAR) {
      for (const port of ports) expect(await probe(far, source, port)).toBe(true);
      expect(await probe(spoofer, source)).toBe(false);
    }
    expect(counters['stamp.reflector.reverse-path']).toBe(2);
  });
});

describe('the reverse path', () => {
  it('of an address of this router leads nowhere outside: an insider who has it is refused', async () => {
    ip(spoofer, 'addr add 2001:db8:ffff::1/128 dev t-p-3 nodad');
    ip(spoofer, 'addr del 2001:db8:ffff::1/128 dev t-p-3');
    expect(routes.interfacesTo(OWN[0]!)).toEqual(new Set([1]));
    expect(routes.interfacesTo(OWN[1]!)).toEqual(new Set([1]));
    expect([1, 2, 3].map((n) => reversePath.refuses(OWN[0]!, [...indexes(n)][0]))).toEqual([true, true, true]);
  });

  it('of what no route leads to, or a route that says no, is none', async () => {
    expect(routes.interfacesTo(address('2001:db8:dead::1'))).toEqual(new Set());
    for (const kind of ['unreachable', 'blackhole', 'prohibit']) {
      ip(r, `route replace ${kind} 2001:db8:dead::/64`);
      ip(r, `route replace ${kind} 203.0.113.0/24`);
      for (const to of ['2001:db8:dead::1', '203.0.113.1'])
        expect([kind, routes.interfacesTo(address(to))]).toEqual([kind, new Set()]);
    }
  });

  it('switched off, whoever says so is answered', async () => {
    WAYS['one next hop']!();
    reversePath.enabled = false;
    expect(await probe(spoofer, FAR[0]!)).toBe(true);
  });
});
