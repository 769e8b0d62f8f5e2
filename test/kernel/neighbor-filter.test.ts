// Who gets past the filter of messages between neighbors, seen from who would like to: a sender on the link, one behind
// another interface, one far away, and one far away with a tunnel that ends at the receiver.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DatagramSocket, openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { writeText } from '../../src/kernel/ffi.ts';
import { O, close, interfaceIndex, ioctl, open as openFile, write } from '../../src/kernel/ffi/libc.ts';
import { MOST_FILTERED, neighborFilter } from '../../src/kernel/neighbor-filter.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { address } from '../../src/model/address.ts';
import { encodeUdpPacket } from '../../src/packet/ip/udp.ts';
import { encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { inNetns, ip, untilCarried } from '../support/netns.ts';
import { is, until } from '../support/until.ts';

const [PORT, OPEN_PORT] = [1022, 1021];
const [NEAR, FAR] = [address('fe80::1'), address('2001:db8:9::1')];
const [RECEIVER, SID] = [address('2001:db8::2'), address('2001:db8:c::1')];
const errors: unknown[] = [];
const raise = (error: unknown): void => void errors.push(error);
let poller: Poller;
let router: Netns;
let outside: Netns;
let links: Record<'t-n-a' | 't-n-b', PacketSocket>;
let filtered: DatagramSocket;
let open: DatagramSocket;
let got: { readonly port: number; readonly what: number }[];

beforeEach(async () => {
  errors.length = 0;
  got = [];
  poller = Poller.open({ onError: raise });
  [router, outside] = [Netns.create(), Netns.create()];
  inNetns(router, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0', 'net.ipv6.conf.all.forwarding=1');
  inNetns(router, 'sysctl', '-qw', 'net.ipv6.conf.all.seg6_enabled=1', 'net.ipv6.conf.default.seg6_enabled=1');
  for (const name of ['t-n-a', 't-n-b']) {
    ip(router, `link add ${name} address 02:00:00:00:00:01 type veth peer name far-${name} netns ${outside.path}`);
    ip(router, `link set ${name} up`);
    ip(outside, `link set far-${name} up`);
  }
  ip(router, 'link set lo up');
  await untilCarried(router, 't-n-a', 't-n-b');
  ip(router, 'addr add 2001:db8::2/64 dev t-n-a nodad');
  ip(router, '-6 route add 2001:db8:9::/64 dev t-n-a');
  ip(router, '-6 route add 2001:db8:c::1/128 encap seg6local action End.DT6 table 255 dev t-n-a');
  const link = (name: string): PacketSocket =>
    openPacketSocket({ interface: `far-${name}`, netns: outside }, { poller, onFrame: () => {}, onError: raise });
  links = { 't-n-a': link('t-n-a'), 't-n-b': link('t-n-b') };
  const received = (port: number) => ({
    ...{ poller, onError: raise },
    onDatagram: ({ data }: { data: Uint8Array }) => void got.push({ port, what: data[0]! }),
  });
  const bind = (port: number) => ({ family: 6 as const, netns: router, bind: { address: address('::'), port } });
  filtered = openUdpSocket({ ...bind(PORT), filter: at('t-n-a') }, received(PORT));
  open = openUdpSocket(bind(OPEN_PORT), received(OPEN_PORT));
});
afterEach(() => {
  for (const each of [filtered, open, ...Object.values(links), poller, router, outside]) each.close();
  expect(errors).toEqual([]);
});

const at = (...names: string[]) =>
  neighborFilter({ interfaces: names.map((name) => router.run(() => interfaceIndex(name))), hopLimit: 255 });
const MACS = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd);
let number = 0;
const packet = (port: number, source: typeof NEAR, hopLimit: number): Uint8Array =>
  encodeUdpPacket({
    ...{ source, destination: RECEIVER, hopLimit, sourcePort: PORT, destinationPort: port, checksum: true },
    payload: Uint8Array.of(++number),
  });
const tunneled = (port: number): Uint8Array =>
  encapsulate({ source: FAR, destination: SID, hopLimit: 60, inner: packet(port, NEAR, 255) });
/** Sends to both sockets, and then what is received for certain. Returns who got the former. */
async function receivers(make: (port: number) => Uint8Array, name: 't-n-a' | 't-n-b' = 't-n-a'): Promise<number[]> {
  got.length = 0;
  const send = (bytes: Uint8Array, link = name): void => links[link].send(Uint8Array.of(...MACS, ...bytes));
  send(make(PORT));
  send(make(OPEN_PORT));
  const first = number - 1;
  send(packet(PORT, NEAR, 255), 't-n-a');
  send(packet(OPEN_PORT, NEAR, 255), 't-n-a');
  await until('the last', () => [number - 1, number].every((one) => got.some(({ what }) => what === one)), is(true));
  return got.filter(({ what }) => what <= first + 1 && what >= first).map(({ port }) => port);
}

test('a neighbor at the interface is heard; a router behind it, and a neighbor at another one, are not', async () => {
  expect(await receivers((port) => packet(port, NEAR, 255))).toEqual([PORT, OPEN_PORT]);
  expect(await receivers((port) => packet(port, NEAR, 254))).toEqual([OPEN_PORT]);
  expect(await receivers((port) => packet(port, NEAR, 255), 't-n-b')).toEqual([OPEN_PORT]);
  filtered.setFilter(at('t-n-b', 't-n-a'));
  expect(await receivers((port) => packet(port, NEAR, 255), 't-n-b')).toEqual([PORT, OPEN_PORT]);
  expect(filtered.drops()).toBe(2);
  filtered.setFilter(at());
  links['t-n-a'].send(Uint8Array.of(...MACS, ...packet(PORT, NEAR, 255)));
  await until('it is dropped', () => filtered.drops(), is(3));
});

test('a sender far away whose tunnel ends here gives its message the hop limit of a neighbor, and is not heard', async () => {
  expect(await receivers(tunneled)).toEqual([OPEN_PORT]);
  expect(filtered.drops()).toBe(1);
});

/** A device without a link-layer header, for the kernel of the router. Returns how it is given a packet. */
function tunDevice(name: string): { send(bytes: Uint8Array): void; close(): void } {
  const [TUNSETIFF, TUN_WITHOUT_INFORMATION] = [0x400454ca, 0x1001];
  return router.run(() => {
    const fd = openFile('/dev/net/tun', O.RDWR | O.NONBLOCK);
    const request = new Uint8Array(40);
    writeText(request, 0, 16, name);
    new DataView(request.buffer).setUint16(16, TUN_WITHOUT_INFORMATION, true);
    ioctl('TUNSETIFF', fd, TUNSETIFF, request);
    return { send: (bytes) => void write('write(tun)', fd, bytes), close: () => close(fd) };
  });
}

test('at a device without a link-layer header the packet is the frame, and a tunnel in it is one', async () => {
  const tun = tunDevice('t-n-t');
  ip(router, 'link set t-n-t up');
  ip(router, '-6 route add 2001:db8:c::2/128 encap seg6local action End.DT6 table 255 dev t-n-t');
  filtered.setFilter(at('t-n-t'));
  tun.send(tunneled(PORT));
  tun.send(tunneled(OPEN_PORT));
  await until('it arrives where nothing filters', () => got, is([{ port: OPEN_PORT, what: number }]));
  await until('it is dropped', () => filtered.drops(), is(1));
  tun.send(packet(PORT, NEAR, 255));
  await until('it arrives', () => got.at(-1), is({ port: PORT, what: number }));
  tun.close();
});

test('as many interfaces as fit into a program', async () => {
  const last = router.run(() => interfaceIndex('t-n-a'));
  const many = Array.from({ length: MOST_FILTERED }, (_, i) => (i === MOST_FILTERED - 1 ? last : 1000 + i));
  filtered.setFilter(neighborFilter({ interfaces: many, hopLimit: 255 }));
  expect(await receivers((port) => packet(port, NEAR, 255))).toEqual([PORT, OPEN_PORT]);
  expect(() => neighborFilter({ interfaces: [...many, 1], hopLimit: 255 })).toThrow(RangeError);
});
