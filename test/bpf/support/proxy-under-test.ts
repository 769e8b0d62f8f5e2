// The proxy's program as the tests drive it: compiled as the build does, loaded without pins unless asked, one packet
// in and what became of it out.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { COUNTERS_MAP, decodeCounters } from '../../../src/kernel/dataplane/counters.ts';
import { CB_TAG } from '../../../src/kernel/dataplane/egress.ts';
import { prefixKey, structure } from '../../../src/kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  PROXY_PROGRAM,
  PROXY_SCRATCH_MAPS,
  type ProxyConfig,
  encodeProxyConfig,
  encodeProxySender,
  encodeProxySource,
} from '../../../src/kernel/dataplane/proxy.ts';
import {
  type FlowName,
  type LearnedQueuePair,
  decodeQueuePair,
  encodeFlowKey,
  encodeStaticQueuePair,
} from '../../../src/kernel/dataplane/queue-pairs.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { type QueuePairs, ROCE_UDP_PORT } from '../../../src/model/roce.ts';
import { type FiveTuple, innermostTuple } from '../../../src/packet/ip/five-tuple.ts';
import { encodeUdpPacket } from '../../../src/packet/ip/udp.ts';
import { type NoticePacket, buildNoticePacket } from '../../../src/packet/notice/pnc.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { type RocePacket, buildRocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { ip } from '../../support/netns.ts';
import { type Compiled, compileBpf } from './compile.ts';
import { CounterWatch } from './counters.ts';
import { emptyMaps } from './emptied-maps.ts';

/** What the program returns, unsigned. */
export const NEXT = 0xffff_ffff;
export const DROP = 2;

export const NOTICE_PORT = 1021;
export const PROXY = address('2001:db8:ffff::1');
export const CONGESTED = address('2001:db8:ffff::2');
export const PROXY4 = address('192.0.2.1');
export const CONGESTED4 = address('192.0.2.2');
export const A = address('2001:db8:a::1');
export const B = address('2001:db8:b::1');
export const A4 = address('10.0.0.1');
export const B4 = address('10.0.1.1');
export const DATA_SPORT = 0xc123;

interface TestPort {
  readonly netns: Netns;
  readonly ifindex: number;
}

let port: TestPort | undefined;

/** A port by which test runs have their packets come: nothing is learned on the loopback interface, their default. */
export function testPort(): TestPort {
  if (port) return port;
  const netns = Netns.create();
  ip(netns, 'link add t-proxy-port type veth peer name t-proxy-far');
  port = { netns, ifindex: netns.run(() => interfaceIndex('t-proxy-port')) };
  return port;
}

/** Loaded objects that no test uses at the moment, by path. */
const idle = new Map<string, BpfObject[]>();

export function compileProxy(): Compiled {
  const compiled = compileBpf('bpf/proxy.bpf.c');
  return {
    ...compiled,
    remove: () => {
      compiled.remove();
      for (const object of idle.get(compiled.path) ?? []) object.close();
      idle.delete(compiled.path);
      port?.netns.close();
      port = undefined;
    },
  };
}

/** Everything is believed by every port. */
export const UNCHECKED = { ...DEFAULT_LEARNING_LIMITS, reversePathCheck: false };
/** As routers do it, of whose routes the program knows. */
export const CHECKED = DEFAULT_LEARNING_LIMITS;

const CONFIG: ProxyConfig = {
  address: PROXY,
  udpPort: NOTICE_PORT,
  perFlowIntervalNs: 0,
  noticesPerSecond: 1_000_000,
  burst: 100_000,
  learning: UNCHECKED,
};

export const SENDERS = ['2001:db8:a::/64', '10.0.0.0/24'];
export const SOURCES = ['2001:db8:ffff::/48', '192.0.2.0/24'];

/** Confirmed, and not confirmed yet. */
export const LEARNED_MAPS = [PROXY_MAPS.queuePairs, PROXY_MAPS.unconfirmedQueuePairs] as const;

export const ethernet = (ip: Uint8Array): Uint8Array =>
  Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, ...(ip[0]! >> 4 === 6 ? [0x86, 0xdd] : [8, 0]), ...ip);

export interface Outcome {
  readonly verdict: number;
  /** From the IP header on. */
  readonly packet: Uint8Array;
  readonly frame: Uint8Array;
  /** Counters that moved, by name. */
  readonly counted: Readonly<Record<string, number>>;
}

interface ProxyOptions {
  readonly learning?: ProxyConfig['learning'];
}

export class ProxyUnderTest {
  readonly object: BpfObject;
  private readonly learning: ProxyConfig['learning'];
  private readonly leave: () => void;
  private readonly counted: CounterWatch;

  constructor(
    path: string,
    { learning = UNCHECKED, pinDir }: ProxyOptions & { pinDir?: string } = {},
    reused?: BpfObject,
  ) {
    this.learning = learning;
    this.object = reused ?? openBpfObject(path, { pinDir, unpinned: PROXY_SCRATCH_MAPS });
    this.counted = new CounterWatch(this.object);
    this.leave = reused ? () => idle.get(path)!.push(reused) : () => this.object.close();
  }

  /**
   * The same with an object that close() leaves to the next test of the file, as if it had just been loaded. Only for
   * programs that no hook runs: a packet on its way could write to the maps of the next test.
   */
  static reused(path: string, opts: ProxyOptions = {}): ProxyUnderTest {
    if (!idle.has(path)) idle.set(path, []);
    const object = idle.get(path)!.pop();
    if (object) emptyMaps(object);
    return new ProxyUnderTest(path, opts, object ?? openBpfObject(path));
  }

  configure(config: Partial<ProxyConfig> = {}, senders = SENDERS, sources = SOURCES): this {
    this.object
      .map(PROXY_MAPS.config)
      .update(PROXY_CONFIG_KEY, encodeProxyConfig({ ...CONFIG, learning: this.learning, ...config }));
    for (const text of senders) {
      const sender = prefix(text);
      this.object
        .map(PROXY_MAPS.senders)
        .update(prefixKey(sender), encodeProxySender({ prefix: sender, format: 'standard-cnp' }));
    }
    for (const text of sources)
      this.object.map(PROXY_MAPS.sources).update(prefixKey(prefix(text)), encodeProxySource(prefix(text)));
    return this;
  }

  /**
   * Runs the program on an IP packet, or on a whole frame: at testPort(); in a namespace of the test's on the loopback
   * interface, as what the builder of notices leaves there.
   */
  send(packet: Uint8Array, opts: { frame?: boolean; ctx?: Uint8Array; repeat?: number; netns?: Netns } = {}): Outcome {
    const { netns, ifindex } = testPort();
    const { retval, data } = this.object.program(PROXY_PROGRAM).testRun({
      data: opts.frame ? packet : ethernet(packet),
      ctx: opts.ctx ?? (opts.netns ? BUILT_HERE : context({ ifindex })),
      repeat: opts.repeat,
      netns: opts.netns ?? netns,
    });
    return { verdict: retval, packet: data.subarray(14), frame: data, counted: this.counted.moved() };
  }

  counters(): Map<string, bigint> {
    return new Map(decodeCounters(this.object.map(COUNTERS_MAP).entries()));
  }

  known(flow: FlowName): LearnedQueuePair | undefined {
    const key = encodeFlowKey(flow);
    const value = LEARNED_MAPS.map((map) => this.object.map(map).lookup(key)).find((found) => found !== undefined);
    return value && decodeQueuePair(key, value);
  }

  connections(): LearnedQueuePair[] {
    return LEARNED_MAPS.flatMap((map) =>
      [...this.object.map(map).entries()].map(([key, value]) => decodeQueuePair(key, value)!),
    );
  }

  /** Tells the program about a flow, as the operator would. */
  teach(pairs: QueuePairs & Pick<FlowName, 'tenant'>): this {
    this.object
      .map(PROXY_MAPS.staticQueuePairs)
      .update(
        encodeFlowKey(pairs),
        encodeStaticQueuePair({ senderQpn: pairs.senderQpn, now: process.hrtime.bigint() }),
      );
    return this;
  }

  close(): void {
    this.leave();
  }
}

/** A struct __sk_buff with some of the fields that a test run accepts. */
export const context = (fields: { mark?: number; cb?: readonly number[]; ifindex?: number }): Uint8Array =>
  structure(192, (view) => {
    view.setUint32(8, fields.mark ?? 0, true);
    view.setUint32(40, fields.ifindex ?? 0, true);
    fields.cb?.forEach((word, i) => view.setUint32(48 + 4 * i, word, true));
  });

/** The context of notices that the router has built itself. */
export const BUILT_HERE = context({ cb: [CB_TAG] });

interface DataFields {
  readonly from: IpAddress;
  readonly to: IpAddress;
  readonly qpn: number;
  readonly psn: number;
  readonly opcode?: number;
  readonly ackRequest?: boolean;
  readonly size?: number;
  readonly pkey?: number;
}

/** A SEND_ONLY that asks for an answer by default. */
export const data = ({
  from,
  to,
  qpn,
  psn,
  opcode = OPCODE.sendOnly,
  ackRequest = true,
  size = 64,
  pkey = 0xffff,
}: DataFields): Uint8Array =>
  buildRocePacket({
    source: from,
    destination: to,
    sourcePort: DATA_SPORT,
    trafficClass: 2,
    bth: { opcode, destQpn: qpn, psn, ackRequest, pkey },
    payload: new Uint8Array(size).fill(0xab),
  });

export const acknowledge = (fields: DataFields): Uint8Array =>
  data({ ...fields, opcode: fields.opcode ?? OPCODE.acknowledge, ackRequest: false, size: 0 });

/** The five-tuple of a packet of ours. */
export function tupleOf(packet: Uint8Array): FiveTuple {
  const tuple = innermostTuple(packet);
  if (!tuple.ok) throw new Error(tuple.error.detail);
  return tuple.value;
}

/** A notice about a packet, from an allowed congested node to the proxy. */
export const notice = (invoking: Uint8Array, fields: Partial<NoticePacket> = {}): Uint8Array =>
  buildNoticePacket({
    source: CONGESTED,
    destination: PROXY,
    sourcePort: 0xd000,
    destinationPort: NOTICE_PORT,
    tuple: fields.tuple ?? tupleOf(invoking),
    level: 3,
    invoking,
    ...fields,
  });

/** Any datagram from a congested node to where notices go. */
export const toProxy = (
  payload: Uint8Array,
  { source = CONGESTED, destination = PROXY, destinationPort = NOTICE_PORT, checksum = true } = {},
): Uint8Array => encodeUdpPacket({ source, destination, sourcePort: 1, destinationPort, checksum, payload });

/** The CNPs among packets. */
export const cnpsAmong = (packets: readonly Uint8Array[]): RocePacket[] =>
  packets.flatMap((packet) => {
    const parsed = parseRocePacket(packet);
    return parsed.ok && parsed.value.bth.opcode === OPCODE.cnp ? [parsed.value] : [];
  });

export { ROCE_UDP_PORT };
