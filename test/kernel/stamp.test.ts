// STAMP between real sockets in namespaces: two routers with a reflector each that probe each other's loopback; tshark
// reads what they say.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { RoutesBack } from '../../src/kernel/netlink/routes-back.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { ReversePath } from '../../src/kernel/reverse-path.ts';
import { openTap } from '../../src/kernel/tap.ts';
import { openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { type Clock, manualClock, systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { prefix } from '../../src/model/prefix.ts';
import { encodeProbe } from '../../src/stamp/messages.ts';
import { type Stamp, type StampOptions, startStamp } from '../../src/stamp/stamp.edge.ts';
import { dissect } from '../support/tshark.ts';
import { inNetns, ip } from '../support/netns.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const LIMIT_MS = 40_000;
const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

let errors: unknown[];
let poller: Poller;
let closing: (() => void)[];

beforeEach(() => {
  errors = [];
  closing = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
});

afterEach(() => {
  for (const close of closing.reverse()) close();
  poller.close();
  expect(errors).toEqual([]);
});

interface Router {
  readonly netns: Netns;
  readonly rtnetlink: Rtnetlink;
  readonly loopbacks: readonly IpAddress[];
  readonly counters: Record<string, number>;
  readonly changes: ReadonlyMap<string, number>[];
  stamp: Stamp;
}

/** A router whose loopbacks are 2001:db8:ffff::n and 192.0.2.n. */
function router(n: number): Omit<Router, 'stamp'> {
  const netns = Netns.create();
  inNetns(netns, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0');
  ip(netns, 'link set lo up');
  ip(netns, `addr add 2001:db8:ffff::${n}/128 dev lo`);
  ip(netns, `addr add 192.0.2.${n}/32 dev lo`);
  const rtnetlink = Rtnetlink.open({ netns }, { poller });
  closing.push(
    () => netns.close(),
    () => rtnetlink.close(),
  );
  return {
    netns,
    rtnetlink,
    loopbacks: [address(`2001:db8:ffff::${n}`), address(`192.0.2.${n}`)],
    counters: {},
    changes: [],
  };
}

/** A link with addresses 2001:db8:link::n and 10.0.link.n; the interface of router n towards m is called t-s-nm. */
function join(a: Omit<Router, 'stamp'>, n: number, b: Omit<Router, 'stamp'>, m: number, link = 1): void {
  ip(a.netns, `link add t-s-${n}${m} type veth peer name t-s-${m}${n} netns ${b.netns.path}`);
  for (const [r, near, far] of [
    [a, n, m],
    [b, m, n],
  ] as const) {
    // So that UDP checksums are on the wire, for tshark.
    inNetns(r.netns, 'ethtool', '-K', `t-s-${near}${far}`, 'tx', 'off');
    addresses(r, near, far, link);
  }
}

function addresses(r: Omit<Router, 'stamp'>, n: number, m: number, link: number): void {
  ip(r.netns, `link set t-s-${n}${m} up`);
  ip(r.netns, `addr add 2001:db8:${link}::${n}/64 dev t-s-${n}${m} nodad`);
  ip(r.netns, `addr add 10.0.${link}.${n}/24 dev t-s-${n}${m}`);
}

function routeTo(r: Omit<Router, 'stamp'>, m: number, link = 1): void {
  ip(r.netns, `route replace 2001:db8:ffff::${m}/128 via 2001:db8:${link}::${m}`);
  ip(r.netns, `route replace 192.0.2.${m}/32 via 10.0.${link}.${m}`);
}

const DEFAULTS: Omit<StampOptions, 'loopbacks'> = {
  reflector: true,
  acceptFrom: [prefix('2001:db8:ffff::/48'), prefix('192.0.2.0/24')],
  udpPort: 862,
  intervalMs: 20,
  targets: [],
  learnTargets: true,
};

function reversePathOf(r: Omit<Router, 'stamp'>): ReversePath {
  const routes = RoutesBack.open(r.netns);
  closing.push(() => routes.close());
  return new ReversePath({
    waysTo: (to) => routes.waysTo(to),
    now: systemClock.now,
    count: (name) => void (r.counters[name] = (r.counters[name] ?? 0) + 1),
  });
}

async function start(
  r: Omit<Router, 'stamp'>,
  more: Partial<StampOptions> = {},
  clock: Clock = systemClock,
): Promise<Router> {
  const names = new Map((await r.rtnetlink.links()).map((link) => [link.ifindex, link.name]));
  const stamp = startStamp(
    { ...DEFAULTS, loopbacks: r.loopbacks, ...more },
    {
      poller,
      rtnetlink: r.rtnetlink,
      interfaceName: (ifindex) => names.get(ifindex),
      clock,
      log: silentLog,
      count: (name, by = 1) => void (r.counters[name] = (r.counters[name] ?? 0) + by),
      reversePath: reversePathOf(r),
      netns: r.netns,
      onChange: (rttMs) => r.changes.push(rttMs),
    },
  );
  closing.push(() => stamp.stop());
  return { ...r, stamp };
}

/** What crosses an interface, as frames. */
function capture(r: Omit<Router, 'stamp'>, name: string): Uint8Array[] {
  const frames: Uint8Array[] = [];
  const socket = openPacketSocket(
    { interface: name, netns: r.netns, outgoing: true },
    { poller, onFrame: (frame) => frames.push(frame.slice()), onError: (e) => errors.push(e) },
  );
  closing.push(() => socket.close());
  return frames;
}

async function pair(more: Partial<StampOptions> = {}): Promise<{ a: Router; b: Router; frames: Uint8Array[] }> {
  const [a, b] = [router(1), router(2)];
  join(a, 1, b, 2);
  routeTo(a, 2);
  routeTo(b, 1);
  const frames = capture(a, 't-s-12');
  return {
    a: await start(a, { ...more, targets: b.loopbacks }),
    b: await start(b, { ...more, targets: a.loopbacks }),
    frames,
  };
}

describe('STAMP between two routers', () => {
  for (const [mode, key] of [
    ['unauthenticated', undefined],
    ['authenticated', KEY],
  ] as const) {
    test(`LHCNP-5.3.1-e: both measure the RTT of the port towards the other, in both families, ${mode}`, async () => {
      const { a, b } = await pair(key ? { key } : {});
      await until(
        'an RTT of both ports',
        () => [a.stamp.rttMs.size, b.stamp.rttMs.size] as const,
        ([a, b]) => a === 1 && b === 1,
        LIMIT_MS,
      );
      await until(
        'answers from every loopback',
        () => [a, b],
        (all) => all.every((r) => r.stamp.state().every((t) => t.rttMs !== null)),
        LIMIT_MS,
      );
      expect({ a: [...a.stamp.rttMs.keys()], b: [...b.stamp.rttMs.keys()] }).toEqual({ a: ['t-s-12'], b: ['t-s-21'] });
      expect(a.changes[0]).toBeInstanceOf(Map);
      for (const state of [...a.stamp.state(), ...b.stamp.state()]) {
        expect(state.rttMs).toBeGreaterThan(0);
        expect(state.minRttMs).toBeLessThanOrEqual(state.rttMs!);
        expect(Date.parse(state.lastAnswer!)).toBeGreaterThan(Date.now() - LIMIT_MS);
      }
      expect({ a: a.stamp.problems(), b: b.stamp.problems() }).toEqual({ a: [], b: [] });
    });
  }

  test('tshark reads probes and answers as TWAMP-Test, of which STAMP is a subset (RFC 8762 §4.6)', async () => {
    const { a, frames } = await pair();
    await until(
      'answers in both families',
      () => a.stamp.state(),
      (all) => all.every((t) => t.received >= 3),
      LIMIT_MS,
    );
    const fields = [
      'udp.srcport',
      'udp.dstport',
      'udp.length',
      'ipv6.hlim',
      'ip.ttl',
      'twamp.test.seq_number',
      'twamp.test.timestamp',
      'twamp.test.sender_seq_number',
      'twamp.test.sender_timestamp',
      'twamp.test.receive_timestamp',
      'twamp.test.sender_ttl',
      'twamp.test.error_estimate.z',
    ] as const;
    const records = dissect('ethernet', frames, fields, ['udp.port==862,twamp.test']).filter(
      (r) => r['twamp.test.seq_number'].length > 0,
    );
    const probes = records.filter((r) => r['udp.dstport'][0] === '862');
    const answers = records.filter((r) => r['udp.srcport'][0] === '862');
    expect(probes.length).toBeGreaterThan(5);
    expect(answers.length).toBeGreaterThan(5);
    for (const r of records) {
      expect(r.complaints).toEqual([]);
      expect({ hopLimit: [...r['ipv6.hlim'], ...r['ip.ttl']], udpLength: r['udp.length'] }).toEqual({
        hopLimit: ['255'],
        udpLength: ['52'],
      });
    }
    for (const answer of answers) {
      const probe = probes.find(
        (p) =>
          p['udp.srcport'][0] === answer['udp.dstport'][0] &&
          p['twamp.test.timestamp'][0] === answer['twamp.test.sender_timestamp'][0],
      )!;
      expect(answer['twamp.test.sender_seq_number']).toEqual(probe['twamp.test.seq_number']);
      expect(answer['twamp.test.sender_ttl']).toEqual(['255']);
      const [sent, received, answered] = [
        probe['twamp.test.timestamp'],
        answer['twamp.test.receive_timestamp'],
        answer['twamp.test.timestamp'],
      ].map((t) => t[0]!);
      expect({ sent, received, answered }).toSatisfy(() => sent! <= received! && received! <= answered!);
    }
  });

  test('router addresses that the IGP teaches are probed, and no longer when it withdraws them', async () => {
    const { a, b } = await pair();
    a.stamp.configure({ ...DEFAULTS, loopbacks: a.loopbacks });
    expect(a.stamp.state()).toEqual([]);
    a.stamp.learned([...b.loopbacks, ...a.loopbacks]);
    await until('an answer', () => a.stamp.rttMs.size, is(1), LIMIT_MS);
    expect(a.stamp.state().map((t) => [t.target, t.source])).toEqual([
      ['192.0.2.2', 'learned'],
      ['2001:db8:ffff::2', 'learned'],
    ]);
    a.stamp.learned([]);
    expect({ state: a.stamp.state(), ports: a.stamp.rttMs.size }).toEqual({ state: [], ports: 0 });
  });

  test("who is not on the list gets no answer, nor does another reflector's port; all are counted", async () => {
    const { a, b } = await pair();
    b.stamp.configure({ ...DEFAULTS, loopbacks: b.loopbacks, acceptFrom: [prefix('2001:db8:ffff::/48')] });
    const before = a.stamp.state().find((t) => t.target === '192.0.2.2')!.received;
    await until('refusals', () => b.counters['stamp.reflector.not-accepted'] ?? 0, moreThan(3), LIMIT_MS);
    expect(a.stamp.state().find((t) => t.target === '192.0.2.2')!.received).toBeLessThanOrEqual(before + 5);
    a.stamp.stop();
    const answers: unknown[] = [];
    const forger = openUdpSocket(
      { family: 6, netns: a.netns, bind: { address: a.loopbacks[0]!, port: 862 } },
      { poller, onDatagram: (d) => answers.push(d), onError: (e) => errors.push(e) },
    );
    const to = { address: b.loopbacks[0]!, port: 862 };
    forger.send(encodeProbe(0, 1n), to);
    forger.close();
    const stranger = openUdpSocket(
      { family: 6, netns: a.netns, bind: { address: a.loopbacks[0]!, port: 0 } },
      { poller, onDatagram: (d) => answers.push(d.data.length), onError: (e) => errors.push(e) },
    );
    stranger.send(Uint8Array.of(1, 2, 3), to);
    stranger.send(encodeProbe(0, 1n), to);
    await until('the good one is answered', () => answers.length, is(1), LIMIT_MS);
    expect(answers).toEqual([44]);
    expect(b.counters).toMatchObject({ 'stamp.reflector.source-port': 1, 'stamp.reflector.truncated': 1 });
    stranger.close();
  });

  test("RFC 8762 §6: forged probes under a router's address spend none of its tokens; it is answered in the midst of the flood", async () => {
    const { a, b } = await pair({ key: KEY });
    a.stamp.stop();
    const answers: number[] = [];
    const victim = openUdpSocket(
      { family: 6, netns: a.netns, bind: { address: a.loopbacks[0]!, port: 0 } },
      { poller, onDatagram: (d) => answers.push(d.data.length), onError: (e) => errors.push(e) },
    );
    closing.push(() => victim.close());
    const to = { address: b.loopbacks[0]!, port: 862 };
    const refused = (): number =>
      (b.counters['stamp.reflector.bad-hmac'] ?? 0) + (b.counters['stamp.reflector.rate-limited'] ?? 0);
    const before = refused();
    // More than the burst of a source, all from the genuine router's address: the attacker does not have the key.
    const forged = encodeProbe(
      0,
      1n,
      Uint8Array.from(KEY, (byte) => byte ^ 1),
    );
    for (let round = 1; round <= 10; round++) {
      for (let i = 0; i < 100; i++) victim.send(forged, to);
      victim.send(encodeProbe(round, 1n, KEY), to);
      await until('all were looked at', () => refused() + answers.length, atLeast(before + round * 101), LIMIT_MS);
    }
    expect(answers.length).toBe(10);
    expect(b.counters['stamp.reflector.rate-limited'] ?? 0).toBe(0);
  });

  test('answers that nobody asked for measure nothing', async () => {
    const { a, b } = await pair();
    await until('answers', () => a.stamp.state()[0]!.received, moreThan(2), LIMIT_MS);
    b.stamp.stop();
    const port = Number(
      inNetns(a.netns, 'ss', '-Huln6')
        .split('\n')
        .map((l) => /\[2001:db8:ffff::1\]:(\d+)/.exec(l)?.[1])
        .find((p) => p !== undefined && p !== '862'),
    );
    const forger = openUdpSocket(
      { family: 6, netns: b.netns, bind: { address: b.loopbacks[0]!, port: 862 } },
      { poller, onDatagram: () => {}, onError: (e) => errors.push(e) },
    );
    for (let i = 0; i < 10; i++) forger.send(encodeProbe(i, 1n), { address: a.loopbacks[0]!, port });
    await until('they are counted', () => a.counters['stamp.prober.unexpected'] ?? 0, is(10), LIMIT_MS);
    forger.close();
  });

  test('a loopback that is no address of the router is a problem of the prober', async () => {
    const { a, b } = await pair();
    a.stamp.configure({
      ...DEFAULTS,
      loopbacks: [address('2001:db8:ffff::77')],
      reflector: false,
      targets: [b.loopbacks[0]!],
    });
    await until('the problem', () => a.stamp.problems().length, moreThan(0), LIMIT_MS);
    expect(a.stamp.problems()).toMatchObject([
      {
        feature: 'stamp',
        problem: expect.stringMatching(/over IPv6: bind.*EADDRNOTAVAIL/),
        remedy: expect.stringMatching(/router\.loopback\.ipv6/),
      },
    ]);
    a.stamp.configure({ ...DEFAULTS, loopbacks: a.loopbacks, targets: [b.loopbacks[0]!] });
    expect(a.stamp.problems()).toEqual([]);
    const received = (): number => a.counters['stamp.prober.received'] ?? 0;
    const before = received();
    await until('answers again', () => received(), moreThan(before), LIMIT_MS);
  });

  test('a port that is taken is a problem that says what to do, until it is free', async () => {
    const a = router(1);
    const other = openUdpSocket(
      { family: 6, netns: a.netns, bind: { address: a.loopbacks[0]!, port: 862 } },
      { poller, onDatagram: () => {}, onError: (e) => errors.push(e) },
    );
    const started = await start(a);
    expect(started.stamp.problems()).toMatchObject([
      {
        feature: 'stamp',
        problem: expect.stringMatching(/2001:db8:ffff::1.*EADDRINUSE/),
        remedy: expect.stringMatching(/ss -ulnp/),
      },
    ]);
    other.close();
    started.stamp.configure({ ...DEFAULTS, loopbacks: a.loopbacks });
    expect(started.stamp.problems()).toEqual([]);
  });

  test('a reflector that could not listen and is switched off meanwhile stays off', async () => {
    const a = router(1);
    const other = openUdpSocket(
      { family: 6, netns: a.netns, bind: { address: a.loopbacks[0]!, port: 862 } },
      { poller, onDatagram: () => {}, onError: (e) => errors.push(e) },
    );
    const clock = manualClock();
    const started = await start(a, {}, clock);
    other.close();
    started.stamp.configure({ ...DEFAULTS, loopbacks: a.loopbacks, reflector: false });
    clock.advance(60_000);
    expect(inNetns(a.netns, 'ss', '-Huln', 'sport = :862').trim()).toBe('');
    expect(started.stamp.problems()).toEqual([]);
  });
});

describe('RTT_est of the ports', () => {
  test('LHCNP-5.3.1-d: is that of the targets behind each port, and goes with the route', async () => {
    const [a, b, c] = [router(1), router(2), router(3)];
    join(a, 1, b, 2, 1);
    join(a, 1, c, 3, 2);
    for (const [r, n, link] of [
      [a, 2, 1],
      [a, 3, 2],
      [b, 1, 1],
      [c, 1, 2],
    ] as const)
      routeTo(r, n, link);
    await start(b);
    await start(c);
    const prober = await start(a, { reflector: false, targets: [b.loopbacks[0]!, c.loopbacks[0]!] });
    await until('both ports', () => prober.stamp.rttMs.size, is(2), LIMIT_MS);
    expect([...prober.stamp.rttMs.keys()].sort()).toEqual(['t-s-12', 't-s-13']);
    ip(a.netns, 'route del 2001:db8:ffff::3/128');
    await until('one port without a target', () => prober.stamp.rttMs.size, is(1), LIMIT_MS);
    expect([...prober.stamp.rttMs.keys()]).toEqual(['t-s-12']);
    expect(prober.stamp.state()).toMatchObject([{ port: 't-s-12' }, { port: null }]);
    expect(prober.counters['stamp.prober.no-route']).toBeGreaterThan(0);
  });

  test('a delay of 10 ms each way is measured as 20 ms, and reported once', async () => {
    const [a, b] = [router(1), router(2)];
    const far: Record<string, (frame: Uint8Array) => void> = {};
    for (const [r, n, m] of [
      [a, 1, 2],
      [b, 2, 1],
    ] as const) {
      const onFrame = (frame: Uint8Array): void => {
        const copy = frame.slice();
        const timer = setTimeout(() => far[`t-s-${m}${n}`]!(copy), 10);
        closing.push(() => clearTimeout(timer));
      };
      const tap = openTap(
        { name: `t-s-${n}${m}`, netns: r.netns },
        { poller, onFrame, onError: (e) => errors.push(e) },
      );
      far[`t-s-${n}${m}`] = (frame) => tap.send(frame);
      closing.push(() => tap.close());
    }
    addresses(a, 1, 2, 1);
    addresses(b, 2, 1, 1);
    routeTo(a, 2);
    routeTo(b, 1);
    await start(b);
    const prober = await start(a, { targets: [b.loopbacks[0]!] });
    await until('forty samples', () => prober.stamp.state()[0]!.received, atLeast(40), LIMIT_MS);
    const { rttMs, minRttMs } = prober.stamp.state()[0]!;
    // The timers of the line are a millisecond coarse; how much is added is the machine's business.
    expect(minRttMs).toBeGreaterThan(17);
    expect(rttMs).toBeGreaterThanOrEqual(minRttMs!);
    // Not each sample is news.
    expect(prober.changes.length).toBeLessThan(20);
  });
});
