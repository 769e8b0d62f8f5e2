// Namespaces, the poller and the sockets, on the real kernel.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isKernelError } from '../../src/kernel/errors.ts';
import { close, eventFd, read, write } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { type PacketSocketDependencies, openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { openRawSocket } from '../../src/kernel/raw-socket.ts';
import { openTap } from '../../src/kernel/tap.ts';
import { bundled } from './support/bundle.ts';
import { inNetns, ip, untilCarried } from '../support/netns.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const interfaces = (): string[] =>
  readFileSync('/proc/thread-self/net/dev', 'utf8')
    .split('\n')
    .slice(2)
    .filter(Boolean)
    .map((l) => l.split(':')[0]!.trim());
const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
const one = new Uint8Array(new BigUint64Array([1n]).buffer);

let errors: unknown[];
let poller: Poller;
let a: Netns;
let b: Netns;

beforeEach(() => {
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  a = Netns.create();
  b = Netns.create();
});

afterEach(() => {
  poller.close();
  a.close();
  b.close();
});

/** A veth pair t-k-a in `a`, t-k-b in `b`, both up, no IPv6 chatter. */
async function veth(): Promise<void> {
  for (const ns of [a, b]) inNetns(ns, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  ip(a, `link add t-k-a type veth peer name t-k-b netns ${b.path}`);
  ip(a, 'link set t-k-a up');
  ip(b, 'link set t-k-b up');
  await untilCarried(a, 't-k-a');
  await untilCarried(b, 't-k-b');
}

const frameOf = (length: number, fill: number, destination = [0x01, 0x80, 0xc2, 0, 0, 0x15]): Uint8Array => {
  const frame = new Uint8Array(length).fill(fill);
  frame.set(destination, 0);
  frame.set([0x02, 0, 0, 0, 0, 1], 6);
  frame.set([0x88, 0xb5], 12);
  return frame;
};

const quiet = (onFrame: PacketSocketDependencies['onFrame'] = () => {}): PacketSocketDependencies => ({
  poller,
  onFrame,
  onError: (error) => errors.push(error),
});

describe('network namespaces', () => {
  test('an interface made inside run() exists there and nowhere else', () => {
    ip(a, 'link add t-k-only type veth peer name t-k-onlyp');
    expect(a.run(interfaces)).toContain('t-k-only');
    expect(interfaces()).not.toContain('t-k-only');
    expect(b.run(interfaces)).toEqual(['lo']);
  });

  test('the thread comes back when the function throws, and when calls nest', () => {
    const home = readFileSync('/proc/thread-self/net/dev', 'utf8').split('\n').length;
    expect(() =>
      a.run(() =>
        b.run(() => {
          throw new RangeError('inner');
        }),
      ),
    ).toThrow(RangeError);
    expect(readFileSync('/proc/thread-self/net/dev', 'utf8').split('\n').length).toBe(home);
    expect(() => a.run(() => Promise.resolve(1))).toThrow(/synchronous/);
  });

  test('a child spawned inside run() starts in the namespace', () => {
    const links = JSON.parse(inNetns(a, 'ip', '-j', 'link')) as { ifname: string }[];
    expect(links.map((l) => l.ifname)).toEqual(['lo']);
  });

  test('opening a namespace that is not there names the path', () => {
    expect(() => Netns.open('/run/netns/t-k-none')).toThrow(/open\(\/run\/netns\/t-k-none\): ENOENT/);
  });

  test('leaves no descriptor open', () => {
    const before = openDescriptors();
    for (let i = 0; i < 50; i++) {
      const ns = Netns.create();
      ns.run(() => Netns.current().close());
      ns.close();
    }
    expect(openDescriptors()).toBe(before);
  });
});

describe('poller', () => {
  test('serves 100 descriptors, each call to its own', async () => {
    const fds = Array.from({ length: 100 }, () => eventFd());
    const seen = new Map<number, number>();
    const registrations = fds.map((fd) =>
      poller.add(fd, () => {
        read('read', fd, new Uint8Array(8), 8);
        seen.set(fd, (seen.get(fd) ?? 0) + 1);
      }),
    );
    for (const fd of fds) write('write', fd, one);
    await until('100 wake-ups', () => seen.size, is(100));
    for (const fd of fds) write('write', fd, one);
    await until(
      '200 wake-ups',
      () => [...seen.values()],
      (all) => all.every((n) => n === 2),
    );
    for (const r of registrations) r.remove();
    expect(poller.size).toBe(0);
    fds.forEach(close);
    expect(errors).toEqual([]);
  });

  test('an exception in a callback reaches the error handler and the other descriptors are served', async () => {
    const bad = eventFd();
    const good = eventFd();
    let served = 0;
    poller.add(bad, () => {
      read('read', bad, new Uint8Array(8), 8);
      throw new Error('broken callback');
    });
    poller.add(good, () => {
      read('read', good, new Uint8Array(8), 8);
      served++;
    });
    for (let i = 1; i <= 3; i++) {
      write('write', bad, one);
      write('write', good, one);
      await until(
        `round ${i}`,
        () => [served, errors.length] as const,
        ([a, b]) => a === i && b === i,
      );
    }
    expect(errors.map(String)).toEqual(Array(3).fill('Error: broken callback'));
    poller.close();
    [bad, good].forEach(close);
  });

  test('a registration removed by an earlier callback of the same round is not called', async () => {
    const fds = [eventFd(), eventFd()];
    let calls = 0;
    const registrations = fds.map((fd) =>
      poller.add(fd, () => {
        calls++;
        for (const r of registrations) r.remove();
      }),
    );
    for (const fd of fds) write('write', fd, one);
    await until('one call', () => calls, moreThan(0));
    expect(poller.size).toBe(0);
    const later = eventFd();
    let again = 0;
    poller.add(later, () => {
      read('read', later, new Uint8Array(8), 8);
      again++;
    });
    write('write', later, one);
    await until('the poller serves on', () => again, is(1));
    expect(calls).toBe(1);
    poller.close();
    [...fds, later].forEach(close);
  });

  // Each script ends in its own way while a wait is pending on the worker thread; all must end, and with their own
  // status.
  const endOf = async (ending: string): Promise<{ status: number | null; stderr: string }> => {
    const contents = `
      import { Poller } from './src/kernel/poller.ts';
      import { eventFd } from './src/kernel/ffi/libc.ts';
      const poller = Poller.open({ onError: () => {} });
      const registration = poller.add(eventFd(), () => {});
      setTimeout(() => { ${ending} }, 20);`;
    return spawnSync(process.execPath, ['--input-type=module'], {
      input: await bundled(contents),
      encoding: 'utf8',
      timeout: 15_000,
    });
  };
  test.each([
    ['the last registration is removed', 'registration.remove();', 0, ''],
    ['the poller is closed', 'poller.close();', 0, ''],
    ['an exception is uncaught', 'throw new Error("deliberate");', 1, 'Error: deliberate'],
    ['process.exit is called', 'process.exit(7);', 7, ''],
  ])('a process ends by itself when %s', async (_when, ending, status, message) => {
    const end = await endOf(ending);
    expect(end.status).toBe(status);
    expect(end.stderr).toContain(message);
    if (message === '') expect(end.stderr).toBe('');
  });
});

describe('packet sockets', () => {
  test('whole frames cross a veth between two namespaces in order, 2,000 of them, none lost', async () => {
    await veth();
    const seen: number[] = [];
    const rx = openPacketSocket(
      {
        interface: 't-k-b',
        netns: b,
        protocol: 0x88b5,
        multicast: [Uint8Array.of(1, 0x80, 0xc2, 0, 0, 0x15)],
        receiveBuffer: 8 << 20,
      },
      quiet((frame, outgoing) => {
        expect(outgoing).toBe(false);
        seen.push(new DataView(frame.buffer, frame.byteOffset).getUint32(14));
        expect(frame.length).toBe(1500);
      }),
    );
    const tx = openPacketSocket({ interface: 't-k-a', netns: a }, quiet());
    const frame = frameOf(1500, 0xee);
    for (let i = 0; i < 2000; i++) {
      new DataView(frame.buffer).setUint32(14, i);
      tx.send(frame);
    }
    await until('2,000 frames', () => seen.length, atLeast(2000));
    expect(seen).toEqual(Array.from({ length: 2000 }, (_, i) => i));
    expect(rx.drops()).toBe(0);
    expect(tx.mac).toHaveLength(6);
    expect(a.run(() => readFileSync('/proc/thread-self/net/dev', 'utf8'))).toContain('t-k-a');
    rx.close();
    tx.close();
    expect(errors).toEqual([]);
  });

  test('own frames are delivered only when asked for, and marked', async () => {
    await veth();
    const own: boolean[] = [];
    const others: boolean[] = [];
    const silent = openPacketSocket(
      { interface: 't-k-a', netns: a, protocol: 3 },
      quiet((_f, outgoing) => others.push(outgoing)),
    );
    const capture = openPacketSocket(
      { interface: 't-k-a', netns: a, outgoing: true },
      quiet((_f, outgoing) => own.push(outgoing)),
    );
    const peer = openPacketSocket({ interface: 't-k-b', netns: b }, quiet());
    silent.send(frameOf(60, 1));
    peer.send(frameOf(60, 2));
    await until(
      'both frames captured',
      () => [own.length, others.length] as const,
      ([a, b]) => a === 2 && b === 1,
    );
    expect({ own: own.sort(), others }).toEqual({ own: [false, true], others: [false] });
    for (const s of [silent, capture, peer]) s.close();
  });

  test('an exception in onFrame loses no frame behind it', async () => {
    await veth();
    let frames = 0;
    const rx = openPacketSocket(
      { interface: 't-k-b', netns: b },
      quiet(() => {
        frames++;
        if (frames % 2) throw new Error('odd');
      }),
    );
    const tx = openPacketSocket({ interface: 't-k-a', netns: a }, quiet());
    for (let i = 0; i < 20; i++) tx.send(frameOf(60, i));
    await until('20 frames', () => frames, is(20));
    expect(errors).toHaveLength(10);
    rx.close();
    tx.close();
  });

  test('a frame longer than the buffer is an error, not a shorter frame', async () => {
    await veth();
    const frames: number[] = [];
    const rx = openPacketSocket(
      { interface: 't-k-b', netns: b, maxFrame: 512 },
      quiet((f) => frames.push(f.length)),
    );
    const tx = openPacketSocket({ interface: 't-k-a', netns: a }, quiet());
    tx.send(frameOf(600, 1));
    tx.send(frameOf(512, 1));
    await until('the short frame', () => frames.length, is(1));
    expect(frames).toEqual([512]);
    expect(errors.map((e) => (isKernelError(e) ? e.code : e))).toEqual(['EMSGSIZE']);
    rx.close();
    tx.close();
  });

  test('an interface that vanishes is reported once and the socket can be closed', async () => {
    await veth();
    const rx = openPacketSocket({ interface: 't-k-b', netns: b }, quiet());
    ip(a, 'link del t-k-a');
    await until('ENETDOWN', () => errors.length, moreThan(0));
    expect((errors[0] as { code: string }).code).toBe('ENETDOWN');
    rx.close();
    rx.close();
    expect(() => openPacketSocket({ interface: 't-k-b', netns: b }, quiet())).toThrow(/interface t-k-b: ENODEV/);
  });
});

describe('TAP and raw sockets', () => {
  test('a raw IPv6 and IPv4 packet leave through a TAP exactly as built; the TAP is gone after close', async () => {
    inNetns(a, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0');
    const got: Uint8Array[] = [];
    const tap = openTap(
      { name: 't-k-tap', netns: a },
      { poller, onFrame: (f) => got.push(f.slice()), onError: (e) => errors.push(e) },
    );
    ip(a, 'link set t-k-tap up');
    for (const line of [
      'addr add 2001:db8::1/64 dev t-k-tap nodad',
      'addr add 192.0.2.1/24 dev t-k-tap',
      'neigh add 2001:db8::2 lladdr 02:00:00:00:00:02 dev t-k-tap',
      'neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev t-k-tap',
    ])
      ip(a, line);
    const six = new Uint8Array(60).fill(0x5a);
    six.set([0x6a, 0xb1, 0x23, 0x45, 0, 20, 253, 9]);
    six.set([0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 0x77], 8);
    six.set([0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 2], 24);
    const four = new Uint8Array(40).fill(0x3c);
    four.set([0x45, 0x6b, 0, 40, 0x12, 0x34, 0x40, 0, 9, 253, 0, 0, 198, 51, 100, 7, 192, 0, 2, 2]);
    const raw6 = openRawSocket({ family: 6, netns: a });
    const raw4 = openRawSocket({ family: 4, netns: a });
    raw6.send(six);
    raw4.send(four);
    const of = (type: number): Uint8Array | undefined =>
      got.find((f) => ((f[12]! << 8) | f[13]!) === type && f[0] === 2 && f[5] === 2);
    await until(
      'both packets on the TAP',
      () => [of(0x86dd), of(0x0800)] as const,
      ([a, b]) => a !== undefined && b !== undefined,
    );
    expect([...of(0x86dd)!.subarray(14)]).toEqual([...six]);
    const sent4 = of(0x0800)!.slice(14);
    sent4.set([0, 0], 10); // the kernel's header checksum
    expect([...sent4]).toEqual([...four]);
    expect(() => raw6.send(four)).toThrow(/not a whole IPv6 packet/);
    expect(() => raw4.send(Uint8Array.of(0x45))).toThrow(/EINVAL/);
    [raw6, raw4, tap].forEach((s) => s.close());
    expect(a.run(interfaces)).toEqual(['lo']);
    expect(errors).toEqual([]);
  });

  test('a frame written to the TAP is received by the kernel', async () => {
    const tap = openTap({ name: 't-k-tap', netns: a }, { poller, onFrame: () => {}, onError: (e) => errors.push(e) });
    ip(a, 'link set t-k-tap up');
    let seen: Uint8Array | undefined;
    const rx = openPacketSocket(
      { interface: 't-k-tap', netns: a, protocol: 0x88b5 },
      quiet((f) => {
        seen = f.slice();
      }),
    );
    tap.send(frameOf(100, 9, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
    await until('the frame', () => seen);
    expect([...seen!]).toEqual([...frameOf(100, 9, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]);
    rx.close();
    tap.close();
    expect(() =>
      openTap({ name: 'a-name-that-is-too-long', netns: a }, { poller, onFrame: () => {}, onError: () => {} }),
    ).toThrow(RangeError);
  });
});
