// UDP and raw ICMPv6 sockets on the real kernel.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../src/model/address.ts';
import { type Datagram, openIcmpv6Socket, openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { realtimeNs } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { inNetns, ip } from '../support/netns.ts';
import { atLeast, is, until } from '../support/until.ts';

const LIMIT_MS = 30_000;
let errors: unknown[];
let poller: Poller;
let a: Netns;
let b: Netns;

/** A veth t-d-a … t-d-b with addresses of both families, a router address on each end's loopback. */
beforeEach(() => {
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  [a, b] = [Netns.create(), Netns.create()];
  for (const ns of [a, b]) inNetns(ns, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0');
  ip(a, `link add t-d-a type veth peer name t-d-b netns ${b.path}`);
  for (const [ns, name, n] of [
    [a, 't-d-a', 1],
    [b, 't-d-b', 2],
  ] as const) {
    ip(ns, 'link set lo up');
    ip(ns, `link set ${name} up`);
    ip(ns, `addr add 2001:db8::${n}/64 dev ${name} nodad`);
    ip(ns, `addr add 192.0.2.${n}/24 dev ${name}`);
  }
});

afterEach(() => {
  poller.close();
  a.close();
  b.close();
});

interface Received extends Omit<Datagram, 'data'> {
  readonly data: number[];
}
const collector = () => {
  const got: Received[] = [];
  return {
    got,
    modules: {
      poller,
      onDatagram: (d: Datagram) => void got.push({ ...d, data: [...d.data] }),
      onError: (e: unknown) => void errors.push(e),
    },
  };
};

describe('UDP sockets', () => {
  for (const [family, near, far] of [
    [6, '2001:db8::1', '2001:db8::2'],
    [4, '192.0.2.1', '192.0.2.2'],
  ] as const) {
    test(`IPv${family}: source, hop limit and the kernel's time of arrival come with a datagram, and an answer goes back`, async () => {
      const [rx, tx] = [collector(), collector()];
      const server = openUdpSocket({ family, netns: b, bind: { address: address(far), port: 862 } }, rx.modules);
      const client = openUdpSocket(
        { family, netns: a, bind: { address: address(near), port: 0 }, hopLimit: 255 },
        tx.modules,
      );
      expect(server.port).toBe(862);
      const before = realtimeNs();
      client.send(Uint8Array.of(1, 2, 3), { address: address(far), port: 862 });
      await until('the datagram', () => rx.got.length, is(1), LIMIT_MS);
      const [datagram] = rx.got as [Received];
      expect(datagram).toMatchObject({
        data: [1, 2, 3],
        from: { address: address(near), port: client.port },
        hopLimit: 255,
      });
      expect(datagram.receivedNs).toBeGreaterThanOrEqual(before);
      expect(datagram.receivedNs).toBeLessThanOrEqual(realtimeNs());
      server.send(Uint8Array.of(4), datagram.from);
      await until('the answer', () => tx.got.length, is(1), LIMIT_MS);
      const { from, hopLimit } = tx.got[0]!;
      expect({ address: formatAddress(from.address), port: from.port, hopLimit }).toEqual({
        address: far,
        port: 862,
        hopLimit: 64,
      });
      server.close();
      client.close();
      server.close();
      expect(() => client.send(Uint8Array.of(1), { address: address(far), port: 862 })).toThrow(/was closed/);
      expect(errors).toEqual([]);
    });
  }

  test('many at once are delivered in order with their own sources; one that is too long is an error', async () => {
    const rx = collector();
    const server = openUdpSocket(
      { family: 6, netns: b, bind: { address: address('2001:db8::2'), port: 862 }, maxDatagram: 64 },
      rx.modules,
    );
    const clients = [1, 2].map(() => openUdpSocket({ family: 6, netns: a }, collector().modules));
    const to = { address: address('2001:db8::2'), port: 862 };
    for (let i = 0; i < 100; i++) clients[i % 2]!.send(Uint8Array.of(i), to);
    clients[0]!.send(new Uint8Array(65), to);
    clients[0]!.send(Uint8Array.of(200), to);
    await until('101 datagrams', () => rx.got.length, is(101), LIMIT_MS);
    expect(rx.got.map((d) => d.data[0])).toEqual([...Array.from({ length: 100 }, (_, i) => i), 200]);
    expect(rx.got.slice(0, 100).map((d) => d.from.port)).toEqual(
      Array.from({ length: 100 }, (_, i) => clients[i % 2]!.port),
    );
    expect(errors.map((e) => (e as { code: string }).code)).toEqual(['EMSGSIZE']);
    for (const s of [server, ...clients]) s.close();
  });

  test('an address that is not there yet can be bound when asked for; a port that is taken cannot', async () => {
    const rx = collector();
    const loopback = { address: address('2001:db8:ffff::2'), port: 862 };
    expect(() => openUdpSocket({ family: 6, netns: b, bind: loopback }, rx.modules)).toThrow(/EADDRNOTAVAIL/);
    const server = openUdpSocket({ family: 6, netns: b, bind: loopback, freebind: true }, rx.modules);
    expect(() => openUdpSocket({ family: 6, netns: b, bind: loopback, freebind: true }, rx.modules)).toThrow(
      /EADDRINUSE/,
    );
    ip(b, 'addr add 2001:db8:ffff::2/128 dev lo');
    ip(a, 'route add 2001:db8:ffff::2/128 via 2001:db8::2');
    const client = openUdpSocket({ family: 6, netns: a }, collector().modules);
    client.send(Uint8Array.of(1), loopback);
    await until('the datagram', () => rx.got.length, is(1), LIMIT_MS);
    expect(() => client.send(Uint8Array.of(1), { address: address('2001:db8:eeee::1'), port: 862 })).toThrow(
      /ENETUNREACH/,
    );
    server.close();
    client.close();
  });
});

describe('raw ICMPv6 sockets', () => {
  test('deliver the types that were asked for and no others', async () => {
    const rx = collector();
    const socket = openIcmpv6Socket({ netns: b, types: [128] }, rx.modules);
    inNetns(a, 'ping', '-c', '1', '-W', '10', '2001:db8::2');
    await until('the echo request', () => rx.got.length, atLeast(1), LIMIT_MS);
    // Neighbor discovery went both ways before it.
    expect(rx.got.map((d) => d.data[0])).toEqual([128]);
    expect(formatAddress(rx.got[0]!.from.address)).toBe('2001:db8::1');
    socket.close();
    expect(errors).toEqual([]);
  });
});
