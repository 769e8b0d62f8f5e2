// rtnetlink on the real kernel, checked against what iproute2 sees and says.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { KernelError } from '../../src/kernel/errors.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { removeEmptyClsact } from '../../src/kernel/netlink/clsact-qdisc.ts';
import { type KernelChange, openMonitor } from '../../src/kernel/netlink/monitor.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { openRawSocket } from '../../src/kernel/raw-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { inNetns, ip } from '../support/netns.ts';
import { contains, is, moreThan, until } from '../support/until.ts';

let poller: Poller;
let a: Netns;
let b: Netns;
let route: Rtnetlink;
let errors: unknown[];

beforeEach(() => {
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  [a, b] = [Netns.create(), Netns.create()];
  route = Rtnetlink.open({ netns: a }, { poller });
});

afterEach(() => {
  route.close();
  poller.close();
  a.close();
  b.close();
});

const failure = (promise: Promise<unknown>): Promise<KernelError> =>
  promise.then(
    () => {
      throw new Error('it succeeded');
    },
    (error: KernelError) => error,
  );
interface IpLink {
  ifname: string;
  ifindex: number;
  mtu: number;
  operstate: string;
  address: string;
  flags: string[];
  link_index?: number;
  linkinfo?: { info_kind: string };
}
const ipLinks = (ns: Netns): IpLink[] => JSON.parse(inNetns(ns, 'ip', '-d', '-j', 'link')) as IpLink[];
const veth = (name: string): Promise<void> => route.createVeth({ name, peer: { name: `${name}p` } });

describe('links', () => {
  test('a veth with an index has it again after it was deleted; a second one cannot have it', async () => {
    const ifindex = 0x6e70_0001;
    const create = (name: string) => route.createVeth({ name, ifindex, peer: { name: `${name}p`, netns: b } });
    for (let n = 0; n < 2; n++) {
      await create('t-k-a');
      expect((await route.link('t-k-a'))?.ifindex).toBe(ifindex);
      expect(['EBUSY', 'EEXIST']).toContain((await failure(create('t-k-c'))).code);
      await route.deleteLink('t-k-a');
    }
    await veth('t-k-d');
    expect((await route.link('t-k-d'))!.ifindex).toBeLessThan(1000);
  });

  test('a veth across two namespaces with MTU and MAC is what `ip -d link` shows, and goes with both ends', async () => {
    const mac = Uint8Array.of(2, 0, 0, 0, 0xaa, 1);
    await route.createVeth({ name: 't-k-a', mtu: 9000, mac, peer: { name: 't-k-b', mtu: 8000, netns: b } });
    await route.setLink('t-k-a', { up: true });
    const inB = Rtnetlink.open({ netns: b }, { poller });
    await inB.setLink('t-k-b', { up: true });
    const link = (await route.link('t-k-a'))!;
    const shown = ipLinks(a).find((l) => l.ifname === 't-k-a')!;
    expect({ ...link, operState: link.operState.toUpperCase() }).toMatchObject({
      name: shown.ifname,
      ifindex: shown.ifindex,
      mtu: shown.mtu,
      kind: shown.linkinfo!.info_kind,
      peerIfindex: shown.link_index,
      up: shown.flags.includes('UP'),
      operState: shown.operstate,
    });
    expect(shown).toMatchObject({ mtu: 9000, address: '02:00:00:00:aa:01' });
    expect([...link.mac]).toEqual([...mac]);
    expect(link.running).toBe(true);
    expect((await route.links()).map((l) => l.name).sort()).toEqual(['lo', 't-k-a']);
    expect((await inB.link('t-k-b'))!.mtu).toBe(8000);
    await route.deleteLink('t-k-a');
    expect(await inB.link('t-k-b')).toBeUndefined();
    inB.close();
    expect(errors).toEqual([]);
  });

  test('an interface is renamed, resized and moved to another namespace', async () => {
    await veth('t-k-a');
    await route.setLink('t-k-a', { name: 't-k-new', mtu: 1400 });
    expect((await route.link('t-k-new'))!.mtu).toBe(1400);
    await route.setLink('t-k-new', { netns: b });
    expect(await route.link('t-k-new')).toBeUndefined();
    expect(ipLinks(b).map((l) => l.ifname)).toContain('t-k-new');
  });
});

describe("errors carry the kernel's own words", () => {
  test.each([
    [
      'an MTU that is too small',
      () => route.setLink('lo', { mtu: 0xffff_ffff }),
      'EINVAL',
      '^mtu less than device minimum',
    ],
    [
      'a root qdisc that is not there',
      () => route.deleteRootQdisc(1),
      'ENOENT',
      '^Cannot delete qdisc with handle of zero',
    ],
    ['a qdisc of an interface that is not there', () => route.deleteRootQdisc(4711), 'ENODEV', ''],
    [
      'a route through an unreachable gateway',
      () => route.addRoute({ destination: prefix('198.51.100.0/24'), gateway: address('192.0.2.77'), protocol: 210 }),
      'ENETUNREACH',
      '^Nexthop has invalid gateway',
    ],
    [
      'a route with a prefix that has host bits',
      () => route.addRoute({ destination: { address: address('192.0.2.1'), length: 24 }, ifindex: 1, protocol: 210 }),
      'EINVAL',
      '^Invalid prefix for given prefix length',
    ],
    ['an interface that is not there', () => route.deleteLink('t-k-none'), 'ENODEV', ''],
    ['a name that is taken', () => veth('lo'), 'EEXIST', ''],
    ['a name that is too long', () => veth('a-name-of-sixteen'), 'ERANGE', '^Attribute failed policy validation'],
  ])('%s', async (_what, run, code, words) => {
    const error = await failure(run());
    expect(error).toBeInstanceOf(KernelError);
    expect(error.code).toBe(code);
    expect(error.detail ?? '').toMatch(new RegExp(words));
  });
});

describe('addresses, routes, neighbors', () => {
  test('are what iproute2 shows', async () => {
    await veth('t-k-a');
    for (const name of ['t-k-a', 't-k-ap']) await route.setLink(name, { up: true });
    await route.addAddress('t-k-a', address('2001:db8::1'), 64, { nodad: true });
    await route.addAddress('t-k-a', address('192.0.2.1'), 24);
    const { ifindex } = (await route.link('t-k-a'))!;
    const own = (await route.addresses()).filter((x) => x.ifindex === ifindex && x.scope === 0);
    expect(own.map((x) => `${formatAddress(x.address)}/${x.length} ${x.tentative}`).sort()).toEqual([
      '192.0.2.1/24 false',
      '2001:db8::1/64 false',
    ]);
    expect((await failure(route.addAddress('t-k-a', address('192.0.2.1'), 24))).code).toBe('EEXIST');
    await route.setNeighbor('t-k-a', address('2001:db8::2'), Uint8Array.of(2, 0, 0, 0, 0, 2));
    expect(ip(a, '-6 neigh show dev t-k-a')).toContain('2001:db8::2 lladdr 02:00:00:00:00:02 PERMANENT');
    await route.addRoute({
      destination: prefix('2001:db8:9::/48'),
      gateway: address('2001:db8::2'),
      protocol: 210,
      metric: 77,
    });
    expect(ip(a, '-6 route show 2001:db8:9::/48')).toMatch(/via 2001:db8::2 dev t-k-a proto 210 metric 77/);
    const found = await route.routeTo(address('2001:db8:9::9'));
    expect({
      ifindex: found.ifindex,
      gateway: formatAddress(found.gateway!),
      source: formatAddress(found.source!),
    }).toEqual({ ifindex, gateway: '2001:db8::2', source: '2001:db8::1' });
    const mine = (await route.routes(6)).filter((r) => r.protocol === 210);
    expect(mine.map((r) => [formatAddress(r.destination.address), r.destination.length, r.metric, r.table])).toEqual([
      ['2001:db8:9::', 48, 77, 254],
    ]);
    ip(a, '-6 route del 2001:db8:9::/48 proto 210');
    expect((await failure(route.routeTo(address('2001:db8:9::9')))).code).toBe('ENETUNREACH');
  });
});

describe('qdiscs', () => {
  test('a TBF that tc made is read with its rate, limit and burst; one that we made is what tc shows', async () => {
    await veth('t-k-a');
    inNetns(a, 'tc', ...'qdisc add dev t-k-a root handle 5: tbf rate 200mbit burst 16kb limit 300000'.split(' '));
    const { ifindex } = (await route.link('t-k-a'))!;
    const root = (await route.qdiscs(ifindex)).find((q) => q.parent === 0xffff_ffff)!;
    expect(root).toMatchObject({ kind: 'tbf', handle: 0x50000, tbf: { rate: 25_000_000n, limit: 300_000 } });
    expect(Math.abs(root.tbf!.burst - 16384)).toBeLessThan(16);
    await route.deleteRootQdisc(ifindex);
    await route.setTbf({ ifindex, rate: 125_000_000n, burst: 20_000, limit: 500_000 });
    expect(inNetns(a, 'tc', 'qdisc', 'show', 'dev', 't-k-a')).toMatch(/tbf \w+: root.*rate 1Gbit burst 2000\db/);
    await route.setTbf({ ifindex, rate: 12_500_000_000n, burst: 200_000, limit: 500_000 });
    expect(inNetns(a, 'tc', 'qdisc', 'show', 'dev', 't-k-a')).toMatch(/rate 100Gbit/);
    expect((await route.qdiscs(ifindex))[0]!.tbf!.rate).toBe(12_500_000_000n);
    expect((await route.link('t-k-a'))!.qdisc).toBe('tbf');
  });

  test('an HTB with its classes, and a backlog that equals what tc counts', async () => {
    await route.createVeth({ name: 't-k-a', peer: { name: 't-k-b', netns: b } });
    await route.setLink('t-k-a', { up: true });
    ip(b, 'link set t-k-b up');
    for (const line of [
      'qdisc add dev t-k-a root handle 1: htb default 10',
      'class add dev t-k-a parent 1: classid 1:10 htb rate 8kbit ceil 16kbit burst 1500 cburst 1500',
    ]) {
      inNetns(a, 'tc', ...line.split(' '));
    }
    const { ifindex } = (await route.link('t-k-a'))!;
    const [klass] = await route.htbClasses(ifindex);
    expect(klass).toMatchObject({ handle: 0x10010, rate: 1000n, ceil: 2000n });
    await route.addAddress('t-k-a', address('192.0.2.1'), 24);
    await route.setNeighbor('t-k-a', address('192.0.2.2'), Uint8Array.of(2, 0, 0, 0, 0, 2));
    const raw = openRawSocket({ family: 4, netns: a });
    const packet = new Uint8Array(1000).fill(1);
    packet.set([0x45, 0, 3, 232, 0, 1, 0, 0, 9, 253, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    for (let i = 0; i < 40; i++) raw.send(packet);
    raw.close();
    // 1,014 bytes a frame at 1,000 byte/s: what is queued changes once a second, so one of a few comparisons meets a
    // quiet moment.
    let equal = false;
    for (let attempt = 0; attempt < 5 && !equal; attempt++) {
      const root = (await route.qdiscs(ifindex)).find((q) => q.kind === 'htb')!;
      const [shown] = JSON.parse(inNetns(a, 'tc', '-s', '-j', 'qdisc', 'show', 'dev', 't-k-a')) as {
        backlog: number;
        qlen: number;
        drops: number;
      }[];
      expect(root.htb!.defaultClass).toBe(0x10);
      equal =
        root.stats.backlogBytes === shown!.backlog &&
        root.stats.backlogPackets === shown!.qlen &&
        root.stats.drops === shown!.drops &&
        root.stats.backlogBytes > 30_000;
    }
    expect(equal).toBe(true);
  });

  test('an empty clsact goes, one with a filter stays', async () => {
    await veth('t-k-a');
    const { ifindex } = (await route.link('t-k-a'))!;
    expect(removeEmptyClsact(ifindex, a)).toBe(false);
    inNetns(a, 'tc', 'qdisc', 'add', 'dev', 't-k-a', 'clsact');
    expect(removeEmptyClsact(ifindex, a)).toBe(true);
    expect(inNetns(a, 'tc', 'qdisc', 'show', 'dev', 't-k-a')).not.toContain('clsact');
  });
});

describe('many at once', () => {
  test('of 1,000 requests at most 64 are in flight, and all are answered', async () => {
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => route.link(i % 2 ? 'lo' : 't-k-none')));
    expect(answers.filter((l) => l?.name === 'lo')).toHaveLength(500);
    expect(route.peakInFlight).toBe(64);
  });

  test('dumps and requests that overlap all get their own answers', async () => {
    await veth('t-k-a');
    const results = await Promise.all([
      route.links(),
      route.addresses(),
      route.link('lo'),
      route.links(),
      route.qdiscs(),
      route.link('t-k-a'),
      route.routes(6),
    ]);
    expect((results[0] as unknown[]).length).toBe(3);
    expect((results[3] as unknown[]).length).toBe(3);
    expect([results[2], results[5]].map((l) => (l as { name: string }).name)).toEqual(['lo', 't-k-a']);
  });

  test("a dump of a table that changes under it is read again until it is one moment's table", async () => {
    // Another process makes and removes a pair of interfaces all the while: every reading must hold both or neither, a
    // torn one would hold one.
    await Promise.all(Array.from({ length: 150 }, (_, i) => veth(`t-k-${i}`)));
    const changes = a.run(() => spawn('ip', ['-batch', '-'], { stdio: ['pipe', 'ignore', 'inherit'] }));
    const ended = new Promise<number | null>((resolve) => changes.on('exit', resolve));
    changes.stdin.end('link add t-k-x type veth peer name t-k-y\nlink del t-k-x\n'.repeat(100));
    let readings = 0;
    for (let running = true; running; readings++) {
      const names = (await route.links()).map((l) => l.name);
      expect(names.includes('t-k-x')).toBe(names.includes('t-k-y'));
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeGreaterThanOrEqual(301);
      running = changes.exitCode === null;
    }
    expect(await ended).toBe(0);
    expect(readings).toBeGreaterThan(10);
    expect(route.repeatedDumps).toBeGreaterThan(0);
  });

  test('answers lost for want of buffer space are an error of the requests, and the socket works on', async () => {
    const small = Rtnetlink.open({ netns: a, receiveBuffer: 8192 }, { poller });
    const results = await Promise.allSettled(Array.from({ length: 64 }, () => small.link('lo')));
    const lost = results.filter((r) => r.status === 'rejected').map((r) => r.reason as KernelError);
    expect(lost.length).toBeGreaterThan(0);
    expect(new Set(lost.map((e) => e.code))).toEqual(new Set(['ENOBUFS']));
    expect(lost[0]!.message).toContain('whether the request was carried out is unknown');
    expect((await small.link('lo'))!.name).toBe('lo');
    small.close();
    expect((await failure(small.links())).detail).toContain('was closed');
  });

  test('closing rejects what is pending', async () => {
    const pending = failure(route.links());
    route.close();
    expect((await pending).detail).toContain('was closed');
  });
});

describe('the monitor', () => {
  test('announces interfaces, addresses and qdiscs as they come and go', async () => {
    const seen: string[] = [];
    const subject = (c: KernelChange): string => {
      if (c.kind === 'link') return `${c.link.name} ${c.link.up}`;
      return c.kind === 'address' ? formatAddress(c.address.address) : c.qdisc.kind;
    };
    const describeChange = (c: KernelChange): string => `${c.removed ? '-' : '+'}${c.kind} ${subject(c)}`;
    const monitor = openMonitor(
      { netns: a },
      {
        poller,
        onChange: (c) => seen.push(describeChange(c)),
        onResync: () => seen.push('resync'),
        onError: (e) => errors.push(e),
      },
    );
    await veth('t-k-a');
    await route.setLink('t-k-a', { up: true });
    await route.addAddress('t-k-a', address('192.0.2.1'), 24);
    await route.setTbf({
      ifindex: (await route.link('t-k-a'))!.ifindex,
      rate: 1_000_000n,
      burst: 10_000,
      limit: 10_000,
    });
    await route.deleteLink('t-k-a');
    await until('the removal', () => seen, contains('-link t-k-a false'));
    for (const expected of [
      '+link t-k-a false',
      '+link t-k-a true',
      '+address 192.0.2.1',
      '+qdisc tbf',
      '-address 192.0.2.1',
    ])
      expect(seen).toContain(expected);
    expect(seen).not.toContain('resync');
    monitor.close();
  });

  test('announces an address that is given again, which stays one address', async () => {
    const seen: string[] = [];
    const onChange = (c: KernelChange): void =>
      void (c.kind === 'address' && !c.removed && seen.push(formatAddress(c.address.address)));
    const monitor = openMonitor(
      { netns: a },
      { poller, onChange, onResync: () => seen.push('resync'), onError: (e) => errors.push(e) },
    );
    await veth('t-k-a');
    for (const text of ['192.0.2.1', '2001:db8::1']) {
      for (const opts of [{ nodad: true }, { again: true }]) await route.addAddress('t-k-a', address(text), 24, opts);
      await until('announced twice', () => seen.filter((each) => each === text).length, is(2));
    }
    expect(ip(a, '-o addr show dev t-k-a').match(/192\.0\.2\.1\/24|2001:db8::1\/24/g)).toHaveLength(2);
    monitor.close();
  });

  test('with a tiny buffer and 2,000 changes the loss is reported, the process lives, and the table read then is right', async () => {
    let resyncs = 0;
    let changes = 0;
    const monitor = openMonitor(
      { netns: a, receiveBuffer: 1 },
      { poller, onChange: () => changes++, onResync: () => resyncs++, onError: (e) => errors.push(e) },
    );
    await veth('t-k-a');
    const up = (i: number): Promise<void> => route.setLink('t-k-a', { mtu: 1000 + (i % 400) });
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 200 }, (_, i) => up(i)));
    await route.setLink('t-k-a', { mtu: 1234 });
    await until('a resync', () => resyncs, moreThan(0));
    expect((await route.link('t-k-a'))!.mtu).toBe(1234);
    const before = changes;
    await route.setLink('t-k-a', { mtu: 1235 });
    await until('announcements go on', () => changes, moreThan(before));
    expect(errors).toEqual([]);
    monitor.close();
  });

  test('an exception in onChange reaches the error handler and loses no change behind it', async () => {
    const names: string[] = [];
    const monitor = openMonitor(
      { netns: a },
      {
        poller,
        onResync: () => {},
        onError: () => {},
        onChange: (c) => {
          if (c.kind === 'link') names.push(c.link.name);
          throw new Error('owner');
        },
      },
    );
    await veth('t-k-a');
    await until(
      'both ends',
      () => names,
      (all) => all.includes('t-k-a') && all.includes('t-k-ap'),
    );
    expect(String(errors[0])).toBe('Error: owner');
    monitor.close();
  });
});

test('leaves no descriptor open', async () => {
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let i = 0; i < 20; i++) {
    const one = Rtnetlink.open({ netns: b }, { poller });
    await one.links();
    one.close();
  }
  // Pollers of the tests before close when their thread has come back, at the latest after a moment.
  await until('no more than before', descriptors, (n) => n <= before);
});
