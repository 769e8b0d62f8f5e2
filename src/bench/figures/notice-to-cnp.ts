// From a notice's arrival at the proxy to the CNP's departure: real packets through a router between two veths, timed
// by two small programs at the tc ingress and egress of its ports (bpf/bench/wire.bpf.c). The router answers by
// proxy.bpf.o, or, in turns, by a user-space process behind a ring buffer.
//
//   congested node [t-bench-from] ── [t-bench-up] router [t-bench-down] ── [t-bench-to] sender
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BpfObject, openBpfObject } from '../../kernel/bpf/object.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { prefixKey, u32Key, viewOf } from '../../kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  PROXY_PROGRAM,
  PROXY_SCRATCH_MAPS,
  decodeLatency,
  encodeProxyConfig,
  encodeProxySender,
  encodeProxySource,
  latencyQuantile,
} from '../../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodeStaticQueuePair } from '../../kernel/dataplane/queue-pairs.ts';
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import { address } from '../../model/address.ts';
import { hostPrefix } from '../../model/prefix.ts';
import { concat } from '../../packet/bytes.ts';
import { type Bench, type Figure, bpfObject, dist } from '../support/bench.ts';
import {
  ACCEPTED_SOURCES,
  CONGESTED,
  FLOWS,
  NOTICE_PORT,
  PROXY,
  SENDER_PREFIX,
  firstQpn,
  senderQpnOf,
} from '../support/packets/notice-flows.ts';
import { RECEIVER, SENDER, ethernet, noticeAbout } from '../support/packets/packets.ts';
import { type Row, number } from '../support/report.ts';
import { inTurns, quantile, summary } from '../support/statistics.ts';

const MAC = {
  up: Uint8Array.of(2, 0, 0, 0, 9, 1),
  from: Uint8Array.of(2, 0, 0, 0, 9, 2),
  down: Uint8Array.of(2, 0, 0, 0, 9, 3),
  to: Uint8Array.of(2, 0, 0, 0, 9, 4),
};
const ROUNDS = 5;
/** Notices a round, one about each millisecond: what is timed is one notice, not a queue of them. */
const NOTICES = 1000;
const GAP_MS = 1;

interface Router {
  readonly netns: Netns;
  readonly upIfindex: number;
  readonly downIfindex: number;
  readonly from: PacketSocket;
}

async function buildRouter(bench: Bench): Promise<Router> {
  const [netns, far] = [Netns.create(), Netns.create()];
  bench.finally(() => [netns, far].forEach((n) => n.close()));
  netns.run(() => writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1'));
  const rtnl = Rtnetlink.open({ netns }, bench);
  const rtnlFar = Rtnetlink.open({ netns: far }, bench);
  bench.finally(() => [rtnl, rtnlFar].forEach((r) => r.close()));
  await rtnl.setLink('lo', { up: true });
  for (const [name, peer, mac, peerMac] of [
    ['t-bench-up', 't-bench-from', MAC.up, MAC.from],
    ['t-bench-down', 't-bench-to', MAC.down, MAC.to],
  ] as const) {
    await rtnl.createVeth({ name, mtu: 1500, mac, peer: { name: peer, mtu: 1500, mac: peerMac, netns: far } });
    await rtnl.setLink(name, { up: true });
    await rtnlFar.setLink(peer, { up: true });
  }
  await rtnl.addAddress('lo', PROXY, 128, { nodad: true });
  await rtnl.addAddress('t-bench-up', address('2001:db8:100::1'), 64, { nodad: true });
  await rtnl.addAddress('t-bench-down', address('2001:db8:1::1'), 64, { nodad: true });
  await rtnl.setNeighbor('t-bench-down', SENDER, MAC.to);
  // The proxy believes notices by the port to which the route back leads.
  await rtnl.addRoute({ destination: hostPrefix(CONGESTED), gateway: address('2001:db8:100::2'), protocol: 4 });
  const from = openPacketSocket(
    { interface: 't-bench-from', netns: far },
    {
      poller: bench.poller,
      onFrame: () => {},
      onError: (error) => {
        throw error;
      },
    },
  );
  bench.finally(() => from.close());
  return {
    netns,
    from,
    upIfindex: (await rtnl.link('t-bench-up'))!.ifindex,
    downIfindex: (await rtnl.link('t-bench-down'))!.ifindex,
  };
}

function loadProxy(bench: Bench): BpfObject {
  const object = openBpfObject(bpfObject('proxy'), { unpinned: PROXY_SCRATCH_MAPS });
  bench.finally(() => object.close());
  object.map(PROXY_MAPS.config).update(
    PROXY_CONFIG_KEY,
    encodeProxyConfig({
      address: PROXY,
      udpPort: NOTICE_PORT,
      perFlowIntervalNs: 0,
      noticesPerSecond: 1e6,
      burst: 100_000,
      learning: DEFAULT_LEARNING_LIMITS,
    }),
  );
  object
    .map(PROXY_MAPS.senders)
    .update(prefixKey(SENDER_PREFIX), encodeProxySender({ prefix: SENDER_PREFIX, format: 'standard-cnp' }));
  for (const source of ACCEPTED_SOURCES)
    object.map(PROXY_MAPS.sources).update(prefixKey(source), encodeProxySource(source));
  const now = process.hrtime.bigint();
  for (let i = 0; i < FLOWS; i++) {
    const flow = { sender: SENDER, receiver: RECEIVER, receiverQpn: firstQpn + i };
    object
      .map(PROXY_MAPS.staticQueuePairs)
      .update(encodeFlowKey(flow), encodeStaticQueuePair({ senderQpn: senderQpnOf(firstQpn + i), now }));
  }
  return object;
}

async function startUserspaceProxy(
  bench: Bench,
  router: Router,
): Promise<(order: 'attach' | 'detach') => Promise<void>> {
  const argv = [join(dist(), 'userspace-proxy.js'), router.netns.path, String(router.upIfindex)];
  const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  bench.finally(async () => {
    if (child.exitCode === null) {
      child.kill();
      await once(child, 'exit');
    }
  });
  const answer = (): Promise<void> =>
    new Promise((done, failed) => {
      const onExit = (code: number | null): void => failed(new Error(`the user-space proxy ended with status ${code}`));
      child.once('exit', onExit);
      child.once('message', () => {
        child.off('exit', onExit);
        done();
      });
    });
  await answer();
  return async (order) => {
    const answered = answer();
    child.send(order);
    await answered;
  };
}

/**
 * Sends notices one by one and returns how long each took on its way through, in ns.
 * @throws Error when any was lost
 */
async function time(bench: Bench, router: Router, wire: BpfObject, frames: readonly Uint8Array[]): Promise<number[]> {
  const [arrivedAt, taken] = [wire.map('arrived_at'), wire.map('taken')];
  for (let i = 0; i < frames.length; i++)
    for (const map of [arrivedAt, taken]) map.update(u32Key(i), new Uint8Array(8));
  for (const frame of frames) {
    router.from.send(frame);
    await new Promise((done) => setTimeout(done, GAP_MS));
  }
  bench.signal.throwIfAborted();
  await new Promise((done) => setTimeout(done, 100)); // the last ones in user space
  const samples = frames.map((_, i) => Number(viewOf(taken.lookup(u32Key(i))!).getBigUint64(0, true)));
  const lost = samples.filter((ns) => ns === 0).length;
  if (lost > 0) throw new Error(`${lost} of ${frames.length} notices did not become a CNP`);
  return samples;
}

interface Contenders {
  readonly kernel: number[];
  readonly user: number[];
}

/** @param all every notice, ns; `medians` those of the rounds, µs */
function rowsOf(all: Contenders, medians: Contenders, proxy: BpfObject): Row[] {
  const [kernel, user] = [summary(medians.kernel), summary(medians.user)];
  const us = (samples: readonly number[], q: number): number => quantile(samples, q) / 1000;
  const [kernel99, user99] = [us(all.kernel, 0.99), us(all.user, 0.99)];
  const histogram = decodeLatency(proxy.map(PROXY_MAPS.latency).entries());
  const program = (q: number): number => (latencyQuantile(histogram, q) ?? NaN) / 1000;
  const common = { figure: noticeToCnp.name, unit: 'µs' } as const;
  return [
    {
      ...common,
      what: 'notice → CNP, program alone, p99',
      measured: program(0.99),
      reference: 'wire to wire, p99',
      referenceValue: kernel99,
      ratio: program(0.99) / kernel99,
      target: '≤ 10 µs',
      met: program(0.99) <= 10,
      note: `p50 ${number(program(0.5))} µs; bucket bounds of proxy_latency, ${all.kernel.length} notices`,
    },
    {
      ...common,
      what: 'notice → CNP, wire to wire, p99',
      measured: kernel99,
      reference: 'user space, ring buffer, p99',
      referenceValue: user99,
      ratio: user99 / kernel99,
      target: '≥ 10×',
      met: user99 / kernel99 >= 10,
      note: 'routing and whatever interrupted it included',
    },
    {
      ...common,
      what: 'notice → CNP, wire to wire, p50',
      measured: us(all.kernel, 0.5),
      spread: kernel,
      reference: 'user space, ring buffer, p50',
      referenceValue: us(all.user, 0.5),
      referenceSpread: user,
      ratio: us(all.user, 0.5) / us(all.kernel, 0.5),
      target: '≥ 10×',
      met: us(all.user, 0.5) / us(all.kernel, 0.5) >= 10,
      note: 'spread: medians of the rounds',
    },
  ];
}

export const noticeToCnp: Figure = {
  name: 'notice-to-cnp',
  title: 'a notice at the proxy to the CNP on the wire, in the kernel and in user space',
  async measure(bench) {
    const router = await buildRouter(bench);
    const wire = openBpfObject(bpfObject('bench_wire'));
    bench.finally(() => wire.close());
    const proxy = loadProxy(bench);
    const attach = (program: 'arrived' | 'left', ifindex: number, direction: 'ingress' | 'egress'): void => {
      const link = attachTcx({ program: wire.program(program), ifindex, direction, netns: router.netns });
      bench.finally(() => link.detach());
    };
    // First on the hook: it sees the notice before whoever answers it.
    attach('arrived', router.upIfindex, 'ingress');
    attach('left', router.downIfindex, 'egress');
    const command = await startUserspaceProxy(bench, router);
    const frames = Array.from({ length: NOTICES }, (_, i) =>
      ethernet(
        noticeAbout(firstQpn + i, { congested: CONGESTED, proxy: PROXY, port: NOTICE_PORT }),
        concat(MAC.up, MAC.from),
      ),
    );
    const all: Contenders = { kernel: [], user: [] };
    const median = (into: number[], samples: number[]): number => {
      into.push(...samples);
      return quantile(samples, 0.5) / 1000;
    };
    const inKernel = async (): Promise<number> => {
      const link = attachTcx({
        program: proxy.program(PROXY_PROGRAM),
        ifindex: router.upIfindex,
        direction: 'ingress',
        netns: router.netns,
      });
      try {
        return median(all.kernel, await time(bench, router, wire, frames));
      } finally {
        link.detach();
      }
    };
    const inUserSpace = async (): Promise<number> => {
      await command('attach');
      try {
        return median(all.user, await time(bench, router, wire, frames));
      } finally {
        await command('detach');
      }
    };
    const measured = await inTurns(ROUNDS, { kernel: inKernel, user: inUserSpace });
    return rowsOf(all, measured, proxy);
  },
};
