// The border of the domain and forged notifications of every format: dropped on the way in and on the way out, also
// inside a tunnel; passed where an allow-list names them; standard CNPs and everything else pass. Notices to proxies,
// and header chains meant to hide one, are in hostile.test.ts and test/bpf/guard/.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../src/model/address.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { innermostTuple } from '../../src/packet/ip/five-tuple.ts';
import { UNDISCLOSED } from '../../src/packet/long-haul/body.ts';
import { buildNoticePacket } from '../../src/packet/notice/pnc.ts';
import { buildCnp } from '../../src/packet/roce/cnp.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import { encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { H1, base } from './support/line.ts';
import { Network, type Router } from './support/network.ts';
import { FAST_CNP, LONG_HAUL } from './support/notifications.ts';
import { Flow, type Port } from './support/port.ts';
import { contains, is, until } from '../support/until.ts';

const OUT = { v6: '2001:db8:9::2', v4: '100.64.9.2' };
const END_CON = '2001:db8:c::1';
const { router } = base('leaf') as { router: object };
const GUARDED = { router, 'border-ports': ['eth9'] };

let net: Network;
let leaf: Router;
let inside: Port, outside: Port;

beforeAll(async () => {
  net = await Network.up('line');
  leaf = net.router('leaf');
  inside = await net.port('h1:eth1', 'leaf:eth1');
  outside = await net.port('out:eth1', 'leaf:eth9');
  await leaf.start(GUARDED);
});
afterAll(() => net?.down());
beforeEach(async () => {
  await leaf.reload(GUARDED);
  net.clearPorts();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
  expect(await leaf.counter('daemon.unexpected-error')).toBe(0);
});

interface Ends {
  readonly source: IpAddress;
  readonly destination: IpAddress;
}
const order = {
  level: 255,
  action: 'pause',
  parameter: 65_535,
  sourceQpn: 0x77,
  metric: UNDISCLOSED,
  objects: [],
} as const;
const roce = (ends: Ends): Ends & { sourcePort: number } => ({ ...ends, sourcePort: 0xc001 });
const fastCnp = (ends: Ends, traceOctets: number): Uint8Array => {
  const trace =
    traceOctets === 0
      ? undefined
      : {
          kind: 0,
          namespace: 1,
          nodeLength: 4,
          flags: 0,
          remaining: 0,
          traceType: 0,
          bytes: new Uint8Array(traceOctets),
        };
  return buildFastCnp({
    ...roce(ends),
    destQpn: 0x77,
    originalDestination: address('2001:db8:2::2'),
    trace,
    codes: FAST_CNP,
  });
};
/** About a data packet of the one end to another host. */
function notice(ends: Ends): Uint8Array {
  const invoking = new Flow(inside, outside, {
    source: ends.destination,
    destination: ends.source,
    senderQpn: 0x77,
    receiverQpn: 0x78,
  }).next();
  const tuple = innermostTuple(invoking);
  if (!tuple.ok) throw new Error(tuple.error.detail);
  return buildNoticePacket({
    ...ends,
    sourcePort: 0xd000,
    destinationPort: 1021,
    tuple: tuple.value,
    level: 7,
    invoking,
  });
}

/** Counter after the direction, family, packet. */
const FORMATS: readonly (readonly [name: string, counter: string, family: 4 | 6, build: (ends: Ends) => Uint8Array])[] =
  [
    ['Congestion Notification to Proxy', 'dropped', 6, notice],
    ['Fast CNP, option 1', 'fast-cnp.dropped', 6, (ends) => fastCnp(ends, 0)],
    ['Fast CNP, option 2', 'fast-cnp.dropped', 6, (ends) => fastCnp(ends, 16)],
    [
      'Long-haul CNP in ICMPv6',
      'long-haul-icmpv6.dropped',
      6,
      (ends) => buildLongHaulIcmpv6({ ...ends, cnp: order, codes: LONG_HAUL }),
    ],
    [
      'Long-haul CNP in RoCEv2',
      'long-haul-roce.dropped',
      6,
      (ends) => buildLongHaulRoce({ ...roce(ends), cnp: order, objectClass: LONG_HAUL.objectClass }),
    ],
    [
      'Long-haul CNP in RoCEv2 over IPv4',
      'long-haul-roce.dropped',
      4,
      (ends) => buildLongHaulRoce({ ...roce(ends), cnp: order, objectClass: LONG_HAUL.objectClass }),
    ],
  ];

const endsOf = (direction: 'ingress' | 'egress', family: 4 | 6): Ends => {
  const [there, here] = [address(family === 6 ? OUT.v6 : OUT.v4), address(family === 6 ? H1.v6 : H1.v4)];
  return direction === 'ingress' ? { source: there, destination: here } : { source: here, destination: there };
};
const DIRECTIONS = {
  ingress: {
    requirement: 'FCNP-5-d PNC-6-c',
    way: 'in',
    from: () => outside,
    to: () => inside,
    allow: { inbound: ['2001:db8:9::/64', '100.64.9.0/24'] },
  },
  egress: {
    requirement: 'FCNP-5-e PNC-6-d',
    way: 'out',
    from: () => inside,
    to: () => outside,
    allow: { outbound: ['2001:db8:9::/64', '100.64.9.0/24'] },
  },
} as const;
type Direction = keyof typeof DIRECTIONS;

/** All but what routers change: the hop limit, or time to live and header checksum. */
const comparable = (packet: Uint8Array): string => {
  const copy = packet.slice();
  if (copy[0]! >> 4 === 6) copy[7] = 0;
  else [copy[8], copy[10], copy[11]] = [0, 0, 0];
  return Buffer.from(copy).toString('hex');
};
const arrived = (port: Port, packet: Uint8Array): boolean => arrivals(port).includes(comparable(packet));
const arrivals = (port: Port): string[] => port.packets.map(comparable);
const cnp = (ends: Ends): Uint8Array => buildCnp({ ...roce(ends), destQpn: 0x77 });
/** A standard CNP sent after everything else has come through. */
async function pass(direction: Direction, family: 4 | 6): Promise<void> {
  const { from, to } = DIRECTIONS[direction];
  const packet = cnp(endsOf(direction, family));
  await until(
    'a standard CNP passes',
    () => {
      from().send(packet);
      return arrivals(to());
    },
    contains(comparable(packet)),
  );
}

describe.each(['ingress', 'egress'] as const)('%s', (direction) => {
  const { requirement, way, from, to, allow } = DIRECTIONS[direction];

  test.each(FORMATS)(
    `${requirement} A13: on the way ${way} a forged %s is dropped and counted, plain and in a tunnel; a standard CNP passes`,
    async (_name, counter, family, build) => {
      const packet = build(endsOf(direction, family));
      const wrapped = encapsulate({ ...endsOf(direction, 6), inner: packet });
      const name = `guard.${direction}.${counter}`;
      const before = await leaf.counter(name);
      from().send(packet);
      await until('counted', () => leaf.counter(name), is(before + 1));
      from().send(wrapped);
      await until('counted in a tunnel', () => leaf.counter(name), is(before + 2));
      await pass(direction, family);
      for (const each of [packet, wrapped]) expect(arrived(to(), each)).toBe(false);
    },
  );

  test(`${requirement}: what the allow-list names passes on the way ${way}, and only on this one`, async () => {
    await leaf.reload({ ...GUARDED, 'border-allow': allow });
    const before = await leaf.counter(`guard.${direction}.allowed`);
    for (const [name, , family, build] of FORMATS) {
      const packet = build(endsOf(direction, family));
      from().send(packet);
      await until(`${name} passes`, () => arrivals(to()), contains(comparable(packet)));
    }
    expect(await leaf.counter(`guard.${direction}.allowed`)).toBe(before + FORMATS.length);
    const other = direction === 'ingress' ? 'egress' : 'ingress';
    for (const [name, counter, family, build] of FORMATS) {
      const dropped = await leaf.counter(`guard.${other}.${counter}`);
      DIRECTIONS[other].from().send(build(endsOf(other, family)));
      await until(`${name} is dropped`, () => leaf.counter(`guard.${other}.${counter}`), is(dropped + 1));
    }
  });
});

test('A13: a packet from outside to an END.CON SID of the domain is dropped, whatever is in it', async () => {
  await leaf.reload({
    ...GUARDED,
    srv6: { 'end-con': [{ sid: END_CON, locator: '2001:db8:c::/48' }], 'core-ports': ['eth2'] },
  });
  const { source, destination } = endsOf('ingress', 6);
  const inner = cnp({ source, destination });
  const before = await leaf.counter('guard.ingress.end-con.dropped');
  outside.send(encapsulate({ source, destination: address(END_CON), inner }));
  await until('counted', () => leaf.counter('guard.ingress.end-con.dropped'), is(before + 1));
  expect(arrived(inside, inner)).toBe(false);
});

test('A13: without `border-ports` all of them pass: the guard is there only when it is declared', async () => {
  await leaf.reload({ router });
  for (const [name, , family, build] of FORMATS) {
    const packet = build(endsOf('ingress', family));
    outside.send(packet);
    await until(`${name} passes`, () => arrivals(inside), contains(comparable(packet)));
  }
});
