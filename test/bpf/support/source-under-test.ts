// The source's program as the tests drive it, and the notifications that they send to it, as the codecs build them.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../../../src/kernel/bpf/ring-buffer.ts';
import { prefixKey } from '../../../src/kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  encodeLearningConfig,
} from '../../../src/kernel/dataplane/proxy.ts';
import {
  encodeFlowKey,
  encodePeer,
  encodeStaticQueuePair,
  ownerKey,
} from '../../../src/kernel/dataplane/queue-pairs.ts';
import {
  SOURCE_BUCKETS,
  SOURCE_KEY,
  SOURCE_MAPS,
  SOURCE_PROGRAM,
  SOURCE_SCRATCH_MAPS,
  type SourceConfig,
  decodeSourceRecord,
  encodeSourceConfig,
  encodeSourceHolding,
  encodeSourceNode,
  encodeSourceSender,
} from '../../../src/kernel/dataplane/source.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import type { IpAddress } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import type { QueuePairs } from '../../../src/model/roce.ts';
import type { SourceAction, SourceNotification } from '../../../src/model/source.ts';
import { buildLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { type LongHaulCnp, UNDISCLOSED } from '../../../src/packet/long-haul/body.ts';
import { OBJECT_CLASS, REDUCE } from '../../../src/packet/long-haul/vectors.fixture.ts';
import { type FastCnpFields, buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { object } from './congested-router.ts';
import { CounterWatch } from './counters.ts';
import { CODES } from './notifier-plan.ts';
import { A, A4, B, B4, CONGESTED, CONGESTED4, DATA_SPORT, context, ethernet, testPort } from './proxy-under-test.ts';

export const SENDER_QPN = 0x64;
export const RECEIVER_QPN = 0xc8;
export const ICMPV6_TYPE = 200;

export const FAST_CNP_CODES = { ...CODES, icrc: 'cover' } as const;

const HOUR_NS = 3_600_000_000_000n;

const CONFIG: SourceConfig = {
  fastCnpOption: FAST_CNP_CODES.option,
  fastCnpIoamOption: FAST_CNP_CODES.ioamOption,
  icrc: 'cover',
  longHaulIcmpv6Type: ICMPV6_TYPE,
  perFlowIntervalNs: 0,
  perSecond: 1_000_000,
  burst: 100_000,
};

export const fastCnp = (fields: Partial<FastCnpFields> = {}): Uint8Array =>
  buildFastCnp({
    source: CONGESTED,
    destination: A,
    sourcePort: DATA_SPORT,
    destQpn: RECEIVER_QPN,
    originalDestination: B,
    trace: undefined,
    codes: FAST_CNP_CODES,
    ...fields,
  });

const instruction = (cnp: Partial<LongHaulCnp>): LongHaulCnp => ({ ...REDUCE, metric: UNDISCLOSED, ...cnp });

interface Ends {
  readonly source?: IpAddress;
  readonly destination?: IpAddress;
}

export const longHaulIcmpv6 = (cnp: Partial<LongHaulCnp> = {}, ends: Ends = {}): Uint8Array =>
  buildLongHaulIcmpv6({
    source: CONGESTED,
    destination: A,
    ...ends,
    cnp: instruction(cnp),
    codes: { type: ICMPV6_TYPE, objectClass: OBJECT_CLASS },
  });

export const longHaulRoce = (cnp: Partial<LongHaulCnp> = {}, ends: Ends & { padToCnp?: boolean } = {}): Uint8Array =>
  buildLongHaulRoce({
    source: CONGESTED,
    destination: A,
    sourcePort: DATA_SPORT,
    ...ends,
    cnp: instruction(cnp),
    objectClass: OBJECT_CLASS,
  });

export const longHaulRoce4 = (cnp: Partial<LongHaulCnp> = {}): Uint8Array =>
  longHaulRoce(cnp, { source: CONGESTED4, destination: A4 });

/** The connection that every test has, over IPv6 and IPv4. */
export const CONNECTIONS: readonly QueuePairs[] = [
  { sender: A, receiver: B, senderQpn: SENDER_QPN, receiverQpn: RECEIVER_QPN },
  { sender: A4, receiver: B4, senderQpn: SENDER_QPN, receiverQpn: RECEIVER_QPN },
];

interface Handled {
  readonly verdict: number;
  /** From the IP header on. */
  readonly packet: Uint8Array;
  /** Counters that moved, by name. */
  readonly counted: Readonly<Record<string, number>>;
}

export class SourceUnderTest {
  readonly object: BpfObject;
  readonly #counted: CounterWatch;
  readonly #errors: unknown[] = [];
  readonly #poller = Poller.open({ onError: (error) => void this.#errors.push(error) });
  readonly #records: SourceNotification[] = [];
  #ring: RingBufferReader | undefined;

  /** @param pinDir with the proxy's pins: what it learns is then known here */
  constructor(pinDir?: string) {
    this.object = openBpfObject(object('source'), { pinDir, unpinned: SOURCE_SCRATCH_MAPS });
    this.#counted = new CounterWatch(this.object);
  }

  configure(
    action: SourceAction,
    config: Partial<SourceConfig> = {},
    {
      senders = ['2001:db8:a::/64', '10.0.0.0/24'],
      nodes = ['2001:db8:ffff::/48', '192.0.2.0/24'],
    }: { senders?: readonly string[]; nodes?: readonly string[] } = {},
  ): this {
    const map = (name: keyof typeof SOURCE_MAPS) => this.object.map(SOURCE_MAPS[name]);
    for (const table of [map('senders'), map('nodes')]) for (const key of [...table.keys()]) table.delete(key);
    map('config').update(SOURCE_KEY, encodeSourceConfig({ ...CONFIG, ...config }));
    for (const key of SOURCE_BUCKETS) map('bucket').update(key, new Uint8Array(8));
    for (const text of senders)
      map('senders').update(prefixKey(prefix(text)), encodeSourceSender({ prefix: prefix(text), action }));
    this.holding();
    for (const text of nodes) map('nodes').update(prefixKey(prefix(text)), encodeSourceNode(prefix(text)));
    return this;
  }

  /** What the agent can hold: further flows, if there is room; nothing, if it is not alive. */
  holding({ room = true, alive = true }: { room?: boolean; alive?: boolean } = {}): this {
    const untilNs = process.hrtime.bigint() + (alive ? HOUR_NS : 0n);
    this.object.map(SOURCE_MAPS.holding).update(SOURCE_KEY, encodeSourceHolding({ untilNs, room }));
    return this;
  }

  /** As a router that believes every port, with the connections that it is told. */
  teach(connections: readonly QueuePairs[] = CONNECTIONS): this {
    const learning = { ...DEFAULT_LEARNING_LIMITS, reversePathCheck: false };
    this.object.map(PROXY_MAPS.config).update(PROXY_CONFIG_KEY, encodeLearningConfig(learning));
    for (const pair of connections) {
      this.object
        .map(PROXY_MAPS.staticQueuePairs)
        .update(
          encodeFlowKey(pair),
          encodeStaticQueuePair({ senderQpn: pair.senderQpn, now: process.hrtime.bigint() }),
        );
      this.object.map(PROXY_MAPS.connectedQueuePairs).update(ownerKey({ ...pair, tenant: 0 }), encodePeer(pair));
    }
    return this;
  }

  /** Runs the program on an IP packet, or on a whole frame, at testPort(). */
  send(packet: Uint8Array, opts: { frame?: boolean; ctx?: Uint8Array; repeat?: number } = {}): Handled {
    const { netns, ifindex } = testPort();
    const { retval, data } = this.object.program(SOURCE_PROGRAM).testRun({
      data: opts.frame ? packet : ethernet(packet),
      ctx: opts.ctx ?? context({ ifindex }),
      repeat: opts.repeat,
      netns,
    });
    return { verdict: retval, packet: data.subarray(14), counted: this.#counted.moved() };
  }

  /** What the program has reported to the agent since the last call. */
  records(): SourceNotification[] {
    this.#ring ??= openRingBuffer(this.object.map(SOURCE_MAPS.records), {
      poller: this.#poller,
      onRecord: (view, offset, length) => void this.#records.push(decodeSourceRecord(view, offset, length)),
    });
    this.#ring.drain();
    return this.#records.splice(0);
  }

  close(): void {
    this.#ring?.close();
    this.#poller.close();
    this.object.close();
    if (this.#errors.length > 0) throw this.#errors[0];
  }
}
