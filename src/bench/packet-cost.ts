// What an uncongested RoCEv2 packet costs: the programs that see data packets, against the empty tc program, on the same packet. BPF_PROG_TEST_RUN runs the program
// many times on one packet, so its flow is in the cache: the figure is instructions, not cache misses of a million flows.
import type { BpfProgram } from '../kernel/bpf/program.ts';
import { openBpfObject } from '../kernel/bpf/object.ts';
import { DEFAULT_FLOW_AGEING_NS, EGRESS_MAPS, EGRESS_PROGRAMS, encodeEgressConfig, encodeEgressPort } from '../kernel/dataplane/egress.ts';
import { EgressPortTable } from '../kernel/dataplane/egress-ports.ts';
import { prefixKey, structure, u32Key } from '../kernel/dataplane/layout.ts';
import { DEFAULT_LEARNING_LIMITS, PROXY_CONFIG_KEY, PROXY_MAPS, PROXY_PROGRAM, PROXY_SCRATCH_MAPS, encodeProxyConfig, encodeProxySender } from '../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodeStaticQueuePair } from '../kernel/dataplane/queue-pairs.ts';
import { Netns } from '../kernel/netns.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { type Bench, type Figure, bpfObject } from './bench.ts';
import { RECEIVER, SENDER, dataIpv4, dataIpv6, ethernet, insideSrv6 } from './packets.ts';
import type { Row } from './report.ts';
import { differences, inTurns, summary } from './statistics.ts';

const PORT = 't-bench-port';
const QPN = 0x123456;
const REPEAT = 100_000;
const ROUNDS = 15;
const NEXT = 0xffff_ffff;

/** A namespace with a monitored port whose queue is empty. */
async function quietPort(bench: Bench): Promise<{ netns: Netns; ifindex: number }> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  await rtnetlink.createVeth({ name: PORT, peer: { name: 't-bench-peer' } });
  const { ifindex } = (await rtnetlink.link(PORT))!;
  await rtnetlink.setTbf({ ifindex, rate: 1_000_000_000n, burst: 1_000_000, limit: 4_000_000 });
  return { netns, ifindex };
}

function egressProgram(bench: Bench, ifindex: number): BpfProgram {
  const object = openBpfObject(bpfObject('egress'));
  bench.finally(() => object.close());
  const map = (name: string) => object.map(name);
  const ports = new EgressPortTable({ ports: map(EGRESS_MAPS.ports), stats: map(EGRESS_MAPS.stats), peaks: map(EGRESS_MAPS.peaks), buckets: map(EGRESS_MAPS.buckets) });
  map(EGRESS_MAPS.config).update(
    u32Key(0),
    encodeEgressConfig({ source4: null, source6: address('2001:db8:ffff::2'), udpPort: 1021, flowAgeingNs: DEFAULT_FLOW_AGEING_NS, flowSeed: 0x5eedn }),
  );
  const levelBytes = Array.from({ length: 8 }, (_, n) => 100_000 * (n + 1));
  ports.update(u32Key(ifindex), encodeEgressPort({ ifindex, kMin: 50_000, kMax: 100_000, levelBytes, perFlowIntervalNs: 20e6, noticesPerSecond: 1000, burst: 1 }));
  return object.program(EGRESS_PROGRAMS.egress);
}

/** The proxy's program that knows the flow's Queue Pairs, as after a CM exchange. */
function proxyProgram(bench: Bench): BpfProgram {
  const object = openBpfObject(bpfObject('proxy'), { unpinned: PROXY_SCRATCH_MAPS });
  bench.finally(() => object.close());
  object.map(PROXY_MAPS.config).update(
    PROXY_CONFIG_KEY,
    encodeProxyConfig({ address: address('2001:db8:ffff::1'), udpPort: 1021, perFlowIntervalNs: 50_000, noticesPerSecond: 10_000, burst: 1, learning: DEFAULT_LEARNING_LIMITS }),
  );
  const senders = prefix('2001:db8:1::/64');
  object.map(PROXY_MAPS.senders).update(prefixKey(senders), encodeProxySender({ prefix: senders, format: 'standard-cnp' }));
  const now = process.hrtime.bigint();
  const there = { sender: SENDER, receiver: RECEIVER, receiverQpn: QPN };
  const back = { sender: RECEIVER, receiver: SENDER, receiverQpn: 0x64 };
  object.map(PROXY_MAPS.queuePairs).update(encodeFlowKey(there), encodeStaticQueuePair({ senderQpn: 0x64, now }));
  object.map(PROXY_MAPS.queuePairs).update(encodeFlowKey(back), encodeStaticQueuePair({ senderQpn: QPN, now }));
  return object.program(PROXY_PROGRAM);
}

interface Case {
  readonly what: string;
  readonly program: BpfProgram;
  readonly packet: Uint8Array;
  /** Added nanoseconds; undefined: no target. */
  readonly target?: number;
}

export const packetCost: Figure = {
  name: 'packet-cost',
  title: 'added cost of an uncongested RoCEv2 packet over the empty tc program',
  async measure(bench) {
    const { netns, ifindex } = await quietPort(bench);
    const emptyObject = openBpfObject(bpfObject('empty'));
    bench.finally(() => emptyObject.close());
    const egress = egressProgram(bench, ifindex);
    const proxy = proxyProgram(bench);
    const other = dataIpv6(QPN).slice();
    other[42] = 0; // another UDP port: not RoCEv2
    const cases: readonly Case[] = [
      { what: 'congested node, RoCEv2 over IPv6', program: egress, packet: dataIpv6(QPN), target: 35 },
      { what: 'congested node, RoCEv2 over IPv4', program: egress, packet: dataIpv4(QPN), target: 35 },
      { what: 'congested node, inside SRv6, no SRH', program: egress, packet: insideSrv6(dataIpv6(QPN), []), target: 60 },
      { what: 'congested node, inside SRv6, SRH of 2', program: egress, packet: insideSrv6(dataIpv6(QPN), ['2001:db8:f4::1', '2001:db8:f5::1']), target: 60 },
      { what: 'congested node, other UDP', program: egress, packet: other },
      { what: 'proxy, RoCEv2', program: proxy, packet: dataIpv6(QPN) },
      { what: 'proxy, RoCEv2, the sixteenth packet', program: proxy, packet: dataIpv6(QPN, 16) },
      { what: 'proxy, other UDP', program: proxy, packet: other },
    ];
    const rows: Row[] = [];
    for (const { what, program, packet, target } of cases) {
      bench.signal.throwIfAborted();
      const frame = ethernet(packet);
      const ctx = structure(192, (view) => view.setUint32(40, ifindex, true)); // __sk_buff.ifindex
      const run = (p: BpfProgram, repeat = REPEAT) => p.testRun({ data: frame, ctx, repeat, netns });
      if (run(program, 1).retval !== NEXT) throw new Error(`${what}: the program did not pass the packet on`);
      const measured = await inTurns(ROUNDS, { empty: () => run(emptyObject.program('empty')).durationNs, with: () => run(program).durationNs });
      const added = summary(differences(measured.with, measured.empty));
      const empty = summary(measured.empty);
      rows.push({
        figure: this.name, what: `${what}: added`, unit: 'ns', measured: added.median, spread: added, reference: 'empty program', referenceValue: empty.median, referenceSpread: empty,
        ratio: added.median / empty.median, target: target === undefined ? '—' : `≤ ${target} ns`, met: target === undefined ? null : added.median <= target,
      });
    }
    return rows;
  },
};
