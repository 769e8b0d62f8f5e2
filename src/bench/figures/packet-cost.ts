// What an uncongested RoCEv2 packet costs: the programs that see data packets, against the empty tc program, on the
// same packet. BPF_PROG_TEST_RUN runs the program many times on one packet, so its flow is in the cache: the figure is
// instructions, not cache misses of a million flows. Other traffic is measured as well: growth and marking rate of the
// port go on with it (monitor.h). The detector is measured with every trigger of LHCNP §5.4 on, over an empty queue and
// over one that holds something below K_min, where the triggers are compared with; and with K_max alone.
import { writeFileSync } from 'node:fs';
import type { BpfProgram } from '../../kernel/bpf/program.ts';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import {
  DEFAULT_FLOW_AGEING_NS,
  EGRESS_MAPS,
  EGRESS_PROGRAMS,
  type EgressPort,
  encodeEgressConfig,
  encodeEgressPort,
} from '../../kernel/dataplane/egress.ts';
import { EgressPortTable } from '../../kernel/dataplane/egress-ports.ts';
import { prefixKey, u32Key } from '../../kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  PROXY_PROGRAM,
  PROXY_SCRATCH_MAPS,
  encodeProxyConfig,
  encodeProxySender,
} from '../../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodeStaticQueuePair } from '../../kernel/dataplane/queue-pairs.ts';
import { encodeSenderPolicy } from '../../kernel/dataplane/sender-policies.ts';
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { openPacketSocket } from '../../kernel/packet-socket.ts';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { addedCost, contextAt } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject, until } from '../support/bench.ts';
import { RECEIVER, SENDER, dataIpv4, dataIpv6, ethernet, insideSrv6 } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const QPN = 0x123456;
const REPEAT = 20_000;
const ROUNDS = 51;
const NEXT = 0xffff_ffff;

/** K_min and K_max. */
const WATCHED = {
  kMin: 50_000,
  kMax: 100_000,
  levelBytes: Array.from({ length: 8 }, (_, n) => 100_000 * (n + 1)),
  perFlowIntervalNs: 20e6,
  noticesPerSecond: 1000,
  burst: 1,
} as const satisfies Omit<EgressPort, 'ifindex'>;
/** And V_ecn, V_growth, the round-trip time, eight instructions, contribution and deferral. */
const ALL_TRIGGERS: Omit<EgressPort, 'ifindex'> = {
  ...WATCHED,
  vEcnPpm: 500_000,
  vGrowthBytes: 100_000,
  intervalNs: 10e6,
  rttNs: 10e6,
  contribution256: 128,
  deferral256: 26,
  instructions: Array.from({ length: 8 }, (_, n) => ({
    fromBytes: n < 6 ? 100_000 + n * 25_000 : null,
    level: 100 + 20 * n,
    action: 'rate-reduce',
    parameter: 10 * n,
  })),
};

interface Ports {
  readonly netns: Netns;
  /** Its queue is empty. */
  readonly quiet: number;
  /** Its queue holds some packets, which it does not let go for hours. */
  readonly waiting: number;
}

/** A namespace with two ports that can be watched. */
async function portsToWatch(bench: Bench): Promise<Ports> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  const port = async (name: string, peer: string, rate: bigint): Promise<number> => {
    await rtnetlink.createVeth({ name, peer: { name: peer } });
    const { ifindex } = (await rtnetlink.link(name))!;
    await rtnetlink.setTbf({ ifindex, rate, burst: 2000, limit: 4_000_000 });
    return ifindex;
  };
  const quiet = await port('t-bench-port', 't-bench-peer', 1_000_000_000n);
  const waiting = await port('t-bench-slow', 't-bench-far', 1n);
  for (const name of ['t-bench-slow', 't-bench-far']) await rtnetlink.setLink(name, { up: true });
  // The proxy's program asks for the route back to the sender, now and then.
  netns.run(() => writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1'));
  for (const name of ['t-bench-port', 't-bench-peer']) await rtnetlink.setLink(name, { up: true });
  await rtnetlink.addAddress('t-bench-port', address('2001:db8:1::1'), 64, { nodad: true });
  const socket = openPacketSocket(
    { interface: 't-bench-slow', netns },
    {
      poller: bench.poller,
      onFrame: () => {},
      onError: (error) => {
        throw error;
      },
    },
  );
  bench.finally(() => socket.close());
  const depth = async (): Promise<number> =>
    (await rtnetlink.qdiscs(waiting)).find((q) => q.kind === 'tbf')!.stats.backlogBytes;
  const enough = WATCHED.kMin / 2;
  // A link that has just come up drops at first.
  await until(
    'packets wait in the queue',
    async () => {
      if ((await depth()) < enough) socket.send(ethernet(dataIpv6(QPN)));
      return (await depth()) >= enough;
    },
    bench.signal,
  );
  if ((await depth()) >= WATCHED.kMin)
    throw new Error(`the queue that is to hold less than ${WATCHED.kMin} bytes holds ${await depth()}`);
  return { netns, quiet, waiting };
}

/** The detector at these ports. */
function egressProgram(bench: Bench, ifindexes: readonly number[], watched: Omit<EgressPort, 'ifindex'>): BpfProgram {
  const object = openBpfObject(bpfObject('egress'));
  bench.finally(() => object.close());
  const map = (name: string) => object.map(name);
  const ports = EgressPortTable.of(object);
  map(EGRESS_MAPS.config).update(
    u32Key(0),
    encodeEgressConfig({
      source4: null,
      source6: address('2001:db8:ffff::2'),
      udpPort: 1021,
      flowAgeingNs: DEFAULT_FLOW_AGEING_NS,
      flowSeed: 0x5eedn,
      disclose: true,
    }),
  );
  const senders = prefix('2001:db8:1::/64');
  const order = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce', 'proxy'] as const;
  map(EGRESS_MAPS.senderPolicies).update(
    prefixKey(senders),
    encodeSenderPolicy({ prefix: senders, order, markCeWithFastCnp: false }),
  );
  for (const ifindex of ifindexes) ports.update(u32Key(ifindex), encodeEgressPort({ ...watched, ifindex }));
  return object.program(EGRESS_PROGRAMS.egress);
}

/** The proxy's program that knows the flow's Queue Pairs, as after a CM exchange. */
function proxyProgram(bench: Bench): BpfProgram {
  const object = openBpfObject(bpfObject('proxy'), { unpinned: PROXY_SCRATCH_MAPS });
  bench.finally(() => object.close());
  object.map(PROXY_MAPS.config).update(
    PROXY_CONFIG_KEY,
    encodeProxyConfig({
      address: address('2001:db8:ffff::1'),
      udpPort: 1021,
      perFlowIntervalNs: 50_000,
      noticesPerSecond: 10_000,
      burst: 1,
      learning: DEFAULT_LEARNING_LIMITS,
    }),
  );
  const senders = prefix('2001:db8:1::/64');
  object
    .map(PROXY_MAPS.senders)
    .update(prefixKey(senders), encodeProxySender({ prefix: senders, format: 'standard-cnp' }));
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
  readonly ifindex: number;
  /** Added nanoseconds; undefined: no target. */
  readonly target?: number;
}

function casesOf(bench: Bench, { quiet, waiting }: Ports): readonly Case[] {
  const detector = egressProgram(bench, [quiet, waiting], ALL_TRIGGERS);
  const depthOnly = egressProgram(bench, [quiet], WATCHED);
  const proxy = proxyProgram(bench);
  const [plain, withoutSrh, withSrh] = [
    dataIpv6(QPN),
    insideSrv6(dataIpv6(QPN), []),
    insideSrv6(dataIpv6(QPN), ['2001:db8:f4::1', '2001:db8:f5::1']),
  ];
  const other = plain.slice();
  other[42] = 0; // another UDP port: not RoCEv2
  const tcp = plain.slice();
  tcp[6] = 6; // the protocol: what follows is no matter
  const detected = (what: string, packet: Uint8Array, target: number): Case[] => [
    { what: `${what}, all triggers, queue empty`, program: detector, packet, ifindex: quiet, target },
    { what: `${what}, all triggers, queue below K_min`, program: detector, packet, ifindex: waiting, target },
    { what: `${what}, K_max alone, queue empty`, program: depthOnly, packet, ifindex: quiet, target },
  ];
  return [
    ...detected('RoCEv2 over IPv6', plain, 35),
    ...detected('RoCEv2 over IPv4', dataIpv4(QPN), 35),
    ...detected('inside SRv6, no SRH', withoutSrh, 60),
    ...detected('inside SRv6, SRH of 2', withSrh, 60),
    { what: 'other UDP, all triggers, queue empty', program: detector, packet: other, ifindex: quiet, target: 10 },
    {
      what: 'other UDP, all triggers, queue below K_min',
      program: detector,
      packet: other,
      ifindex: waiting,
      target: 10,
    },
    { what: 'TCP, all triggers, queue below K_min', program: detector, packet: tcp, ifindex: waiting, target: 10 },
    { what: 'proxy, RoCEv2', program: proxy, packet: plain, ifindex: quiet },
    { what: 'proxy, RoCEv2, the sixteenth packet', program: proxy, packet: dataIpv6(QPN, 16), ifindex: quiet },
    { what: 'proxy, other UDP', program: proxy, packet: other, ifindex: quiet },
  ];
}

export const packetCost: Figure = {
  name: 'packet-cost',
  title: 'added cost of an uncongested RoCEv2 packet over the empty tc program',
  async measure(bench) {
    const ports = await portsToWatch(bench);
    const emptyObject = openBpfObject(bpfObject('empty'));
    bench.finally(() => emptyObject.close());
    const { netns } = ports;
    const cases = casesOf(bench, ports);
    const rows: Row[] = [];
    for (const { what, program, packet, ifindex, target } of cases) {
      bench.signal.throwIfAborted();
      const frame = ethernet(packet);
      const ctx = contextAt(ifindex);
      const run = (p: BpfProgram, repeat = REPEAT) => p.testRun({ data: frame, ctx, repeat, netns });
      if (run(program, 1).retval !== NEXT) throw new Error(`${what}: the program did not pass the packet on`);
      rows.push(
        await addedCost({ figure: this.name, what: `${what}: added`, targetNs: target }, ROUNDS, {
          empty: () => run(emptyObject.program('empty')).durationNs,
          program: () => run(program).durationNs,
        }),
      );
    }
    return rows;
  },
};
