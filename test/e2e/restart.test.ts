// Restarts and losses around a running network: cnpd ended and killed while traffic flows, FRR restarted, interfaces
// and qdiscs taken away and given back. What is in the kernel works on without its agent; no data packet is lost: they
// are numbered, and counted at the receiver.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import {
  H1,
  H2,
  KEY,
  LOOPBACK,
  SENDERS6,
  adjacent,
  base,
  learnedProxy,
  proxiesAndPort,
  proxy,
  routed,
  watching,
} from './support/line.ts';
import { ownObjects, shownObjects } from './support/bpf-objects.ts';
import { anyUp, Network, type Router, type Row } from './support/network.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

let net: Network;
let leaf: Router, p: Router;
let h1: Port, h2: Port;
let nextQpn = 0x2000;

const HOLD = { 'hold-unreachable': '30s' };
const LEAF = { ...base('leaf', HOLD), ...proxy('leaf') };
const P = { ...base('p', HOLD), ...watching({ 'per-flow-interval': '5ms' }) };

beforeAll(async () => {
  net = await Network.up('line');
  [leaf, p] = [net.router('leaf'), net.router('p')];
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
});
afterAll(() => net?.down());

beforeEach(async () => {
  await Promise.all([leaf.running || leaf.start(LEAF), p.running || p.start(P)]);
  await adjacent(net, 'leaf', 'p');
  await proxyIsKnown();
  await routed(net);
  net.clearPorts();
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log(net.logs());
  await net.stopAll();
});

const proxyIsKnown = (): Promise<unknown> =>
  until('p knows the proxy and watches its port', () => proxiesAndPort(p), is(learnedProxy()));

/**
 * Traffic from h1 to h2 that fills p's queue beyond K_max again and again but never to its limit, 30 packets every 20
 * ms (13 Mbit/s of 20), and what comes of it: the PSNs that arrive at h2, the times of the CNPs at h1.
 */
class Traffic {
  readonly flow: Flow;
  readonly arrived = new Set<number>();
  readonly cnpTimes: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    nextQpn += 2;
    this.flow = new Flow(h1, h2, {
      source: address(H1.v6),
      destination: address(H2.v6),
      senderQpn: nextQpn,
      receiverQpn: nextQpn + 1,
    });
  }

  async start(): Promise<void> {
    h2.onPacket = (packet) =>
      rocePackets([packet])
        .filter(this.flow.owns)
        .forEach(({ bth }) => this.arrived.add(bth.psn));
    h1.onPacket = (packet) =>
      rocePackets([packet])
        .filter(this.flow.isNotification)
        .forEach(() => this.cnpTimes.push(performance.now()));
    this.flow.connect();
    await until('the Queue Pair is learned', () => leaf.get('flows'), this.pairAt);
    this.#timer = setInterval(() => this.flow.send(30), 20);
    await this.notified('traffic is notified about');
  }

  pairAt = (flows: readonly Row[]): Row | undefined =>
    flows.find((row) => row['port'] === 'proxy' && row['source-qpn'] === this.flow.ends.senderQpn);
  flowAt = (flows: readonly Row[]): Row | undefined =>
    flows.find((row) => row['port'] === 'eth2' && row['destination-qpn'] === this.flow.ends.receiverQpn);

  /** Waits for five CNPs from now on. */
  async notified(what: string): Promise<void> {
    const before = this.cnpTimes.length;
    await until(what, () => this.cnpTimes.length, atLeast(before + 5));
  }

  /** Stops and waits until everything sent has arrived. @throws with the PSNs that did not */
  async allArrived(): Promise<void> {
    clearInterval(this.#timer);
    const sent = this.flow.psn - 1000;
    const missing = (): number[] =>
      Array.from({ length: sent }, (_, i) => 1000 + i).filter((psn) => !this.arrived.has(psn));
    await until('every data packet has arrived', missing, is([]));
    expect(sent).toBeGreaterThan(1000);
  }

  end(): void {
    clearInterval(this.#timer);
    h1.onPacket = undefined;
    h2.onPacket = undefined;
  }
}

describe('cnpd restarts under traffic', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    '%s of the congested node: no packet lost, notifications go on without the agent, the flow is still there, adopted',
    async (signal) => {
      const traffic = new Traffic();
      try {
        await traffic.start();
        const before = traffic.flowAt(await p.get('flows'))!;
        await p.stop(signal);
        await traffic.notified('notifications without the agent');
        await p.start(P);
        await traffic.notified('notifications with the new agent');
        expect(await p.show<Row>('status')).toMatchObject({ adopted: true });
        const after = traffic.flowAt(await p.show('flows'))!;
        expect(Number(after['packets'])).toBeGreaterThan(Number(before['packets']));
        await proxyIsKnown();
        await traffic.notified('notifications after the network has advertised everything again');
        await traffic.allArrived();
      } finally {
        traffic.end();
      }
      expect(await p.show<Row>('status')).toMatchObject({ health: 'running', problems: [] });
    },
  );

  test('SIGKILL of the proxy: no packet lost, CNPs go on without the agent, Queue Pairs are still there, adopted', async () => {
    const traffic = new Traffic();
    try {
      await traffic.start();
      const before = traffic.pairAt(await leaf.get('flows'))!;
      await leaf.stop('SIGKILL');
      await traffic.notified('CNPs without the agent');
      await leaf.start(LEAF);
      await traffic.notified('CNPs with the new agent');
      const status = (): Promise<Row> => leaf.show<Row>('status');
      await until('its neighbor is back', async () => (await status())['health'], is('running'));
      expect(await status()).toMatchObject({ adopted: true });
      expect(traffic.pairAt(await leaf.show('flows'))).toMatchObject({
        'source-qpn': before['source-qpn'],
        'destination-qpn': before['destination-qpn'],
        'learned-from': 'cm',
      });
      await traffic.notified('CNPs later on');
      await traffic.allArrived();
    } finally {
      traffic.end();
    }
    // The network had it all the time: the old LSPs were outbid, not lost.
    expect(await proxiesAndPort(p)).toEqual(learnedProxy());
  });

  test('SIGTERM of the proxy: it withdraws, so that no notice goes to it; no packet is lost; with its return the CNPs return, for the Queue Pair known before', async () => {
    const traffic = new Traffic();
    try {
      await traffic.start();
      expect(await leaf.stop('SIGTERM')).toBe(0);
      await until('withdrawn', async () => (await p.sender(SENDERS6))?.['proxy'], is(undefined));
      await until('no more notices', () => p.counter('egress.no-proxy'), moreThan(0));
      await leaf.start(LEAF);
      await proxyIsKnown();
      await traffic.notified('CNPs again');
      expect(await leaf.show<Row>('status')).toMatchObject({ adopted: true });
      expect(traffic.pairAt(await leaf.show('flows'))?.['learned-from']).toBe('cm');
      await traffic.allArrived();
    } finally {
      traffic.end();
    }
  });

  test('a second cnpd does not start beside the first, and changes nothing', async () => {
    const { code, stderr } = await p.cnpd('-c', '/etc/cnpd/cnpd.yaml');
    expect(code).toBe(1);
    expect(stderr).toContain('cannot start');
    expect(await p.show<Row>('status')).toMatchObject({ health: 'running', pid: p.pid });
    await proxyIsKnown();
  });
});

describe('FRR restarts', () => {
  test('isisd killed and started again: the adjacency returns; what was learned is held meanwhile and never leaves the kernel', async () => {
    const hasProxy = async (): Promise<boolean> =>
      (await p.mapEntries('sender_proxies'))?.some(
        (entry) => entry.startsWith(KEY[SENDERS6]) && entry.includes('20010db8ffff00000000000000000001'),
      ) ?? false;
    const pid = (await p.exec('cat', '/run/frr/isisd.pid')).trim();
    await p.exec('kill', '-9', pid);
    try {
      await until(
        'the adjacency is lost',
        () => p.neighbors(),
        (all) => !anyUp(all),
      );
      await until(
        'held',
        () => p.sender(SENDERS6),
        (row) => row?.['held-until'],
      );
      expect(await p.sender(SENDERS6)).toMatchObject({ proxy: LOOPBACK.leaf.ipv6, best: true });
      expect(await hasProxy()).toBe(true);
    } finally {
      await p.exec('/usr/lib/frr/isisd', '-d', '-A', '127.0.0.1');
      await p.exec('vtysh', '-b');
    }
    await adjacent(net, 'p');
    await until(
      'nothing is held any more',
      async () => {
        expect(await hasProxy()).toBe(true);
        return p.get('senders');
      },
      (all) => all.every((row) => row['held-until'] === undefined),
    );
    expect(await proxiesAndPort(p)).toEqual(learnedProxy());
    await routed(net);
    const traffic = new Traffic();
    try {
      await traffic.start();
    } finally {
      traffic.end();
    }
  });
});

describe('interfaces and queues come and go', () => {
  const degraded = async (problem: RegExp, remedy: RegExp): Promise<void> => {
    const status = await until(
      'the problem is shown',
      () => p.get<{ health: string; problems?: { problem: string; remedy: string }[] }>('status'),
      (s) => s.health === 'degraded' && s.problems?.find((each) => problem.test(each.problem)),
    );
    expect(status.remedy).toMatch(remedy);
    expect((await p.ctl('show', 'status')).code).toBe(1);
  };
  const running = (): Promise<unknown> =>
    until('all is well', async () => (await p.get<Row>('status'))['health'], is('running'));

  test("the carrier's interface deleted by hand is created again, and the adjacency returns", async () => {
    await p.exec('ip', 'link', 'del', 'cnpd-isis');
    await until('counted', () => p.counter('isis.interface.vanished'), moreThan(0));
    await adjacent(net, 'p');
    await until(
      'nothing is held any more',
      () => p.get('senders'),
      (all) => all.every((row) => row['held-until'] === undefined),
    );
    expect(await proxiesAndPort(p)).toEqual(learnedProxy());
  });

  test('a watched port that vanishes is a problem with a remedy; when it returns it is watched again', async () => {
    p.configure({
      ...base('p', HOLD),
      ports: [
        { interface: 'eth2', 'k-max': '20kB' },
        { interface: 'extra', 'k-max': '20kB' },
      ],
    });
    expect((await p.ctl('reload')).code).toBe(0);
    try {
      await degraded(/extra does not exist/, /./);
      for (let round = 0; round < 2; round++) {
        await p.exec(
          'sh',
          '-c',
          'ip link add extra type veth peer name extra-peer && ip link set extra up && ' +
            tokenBucket('extra').join(' '),
        );
        await running();
        expect((await p.show('ports')).find((row) => row['interface'] === 'extra')).toMatchObject({
          attached: true,
          'root-qdisc': 'tbf',
        });
        await p.exec('ip', 'link', 'del', 'extra');
        await degraded(/extra does not exist/, /./);
        expect((await p.show('ports')).find((row) => row['interface'] === 'extra')).toMatchObject({ attached: false });
      }
    } finally {
      p.configure(P);
      expect((await p.ctl('reload')).code).toBe(0);
    }
    await running();
  });

  test('a TBF root replaced by pfifo_fast is a problem with its remedy; with a TBF root the port is watched again', async () => {
    await p.exec('tc', 'qdisc', 'replace', 'dev', 'eth2', 'root', 'pfifo_fast');
    try {
      await degraded(
        /root qdisc of eth2 is pfifo_fast, whose queue depth cannot be read/,
        /tc qdisc replace dev eth2 root tbf/,
      );
      expect((await p.show('ports'))[0]).toMatchObject({ attached: false, 'root-qdisc': 'pfifo_fast' });
    } finally {
      await p.exec(...tokenBucket('eth2'));
    }
    await running();
    expect((await p.show('ports'))[0]).toMatchObject({ attached: true, 'root-qdisc': 'tbf' });
    const traffic = new Traffic();
    try {
      await traffic.start();
    } finally {
      traffic.end();
    }
  });
});

describe('uninstall', () => {
  test('cnpd that runs refuses it; after it nothing is left: no program, map, link, mount, interface or file', async () => {
    const before = (await Promise.all([leaf, p].map(ownObjects))).flat();
    expect(new Set(before.map((name) => name.split(' ')[0]))).toEqual(new Set(['prog', 'map', 'link']));
    for (const router of [leaf, p]) {
      expect((await router.ctl('uninstall')).code).toBe(1);
      expect((await router.cnpd('uninstall')).code).toBe(1);
    }
    // Also where neither the claim nor the socket at its usual place shows it.
    await leaf.exec('rm', '/run/cnpd/cnpd.pid', '/run/cnpd/cnpd.claim');
    const hidden = await leaf.ctl('--socket', '/nowhere.sock', 'uninstall');
    expect(hidden).toMatchObject({ code: 1, stdout: expect.stringContaining('gnmi.sock answers') });
    await leaf.exec('rm', '/run/cnpd/gnmi.sock');
    const locked = await leaf.cnpd('uninstall');
    expect(locked).toMatchObject({ code: 1, stdout: expect.stringContaining('runs in this network namespace') });
    expect((await Promise.all([leaf, p].map(ownObjects))).flat()).toEqual(before);
    await Promise.all([leaf.stop(), p.stop()]);
    expect(await leaf.exec('ls', '/run/cnpd/bpf/links')).not.toBe('');
    expect((await leaf.ctl('uninstall')).code).toBe(0);
    expect((await p.cnpd('uninstall')).code).toBe(0);
    for (const router of [leaf, p]) {
      expect(await router.exec('sh', '-c', 'ls -A /run/cnpd 2>/dev/null || true')).toBe('');
      expect(await router.exec('cat', '/proc/mounts')).not.toMatch(/ \/run\/cnpd[ /]/);
      expect(await router.exec('ip', '-br', 'link')).not.toContain('cnpd-isis');
      for (const [name, direction] of ['lo', 'eth1', 'eth2'].flatMap((each) => [
        [each, 'ingress'],
        [each, 'egress'],
      ])) {
        expect(await router.exec('tc', 'filter', 'show', 'dev', name!, direction!)).toBe('');
      }
      expect(await router.exec('bpftool', 'net', 'show')).not.toMatch(/egress|notice|proxy|guard/i);
    }
    // Programs and maps are freed a moment after the last reference.
    await until(
      'the kernel has freed everything',
      async () =>
        new Set((await Promise.all((['prog', 'map', 'link'] as const).map((kind) => shownObjects(leaf, kind)))).flat()),
      (left) => before.every((name) => !left.has(name)),
    );
  });
});
