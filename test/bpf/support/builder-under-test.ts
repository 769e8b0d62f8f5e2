// The builder of notices as the tests drive it: the program `notice` of the congested node, run on one clone with the
// detector's order in its control block (bpf/lib/builder/order.h). What it leaves is the finished frame, on its way to
// its second arrival on the loopback interface.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import {
  CB_TAG,
  EGRESS_MAPS,
  EGRESS_PROGRAMS,
  type EgressConfig,
  MARK_NOTICE,
  MARK_TRIGGER,
  encodeEgressConfig,
  encodeSenderProxy,
} from '../../../src/kernel/dataplane/egress.ts';
import { mappedAddress, prefixKey, u32Key } from '../../../src/kernel/dataplane/layout.ts';
import {
  NOTICE_CONFIG_KEY,
  NOTICE_CONFIG_MAP,
  NOTICE_CONFIG_SIZE,
  type NoticeConfig,
} from '../../../src/kernel/dataplane/notice-config.ts';
import { FORMAT_NUMBER } from '../../../src/kernel/dataplane/notifications.ts';
import type { Netns } from '../../../src/kernel/netns.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import {
  LONG_HAUL_ACTIONS,
  type LongHaulInstruction,
  type NotificationFormat,
} from '../../../src/model/notification.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { type Metric, UNDISCLOSED } from '../../../src/packet/long-haul/body.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { buildRocePacket } from '../../../src/packet/roce/packet.ts';
import { compileBpf } from './compile.ts';
import { CounterWatch } from './counters.ts';
import { CODES, LONG_HAUL, configureFormats } from './notifier-plan.ts';
import { context, frame, markOf } from './packets.ts';

export const LOOPBACK = address('2001:db8:ffff::1');
export const LOOPBACK4 = address('10.0.0.254');
/** Hop limit of what the kernel will route: 64 on the wire. */
export const BEFORE_ROUTING = 65;
export const TC_REDIRECT = 7;

export interface Order extends Partial<LongHaulInstruction> {
  readonly format: NotificationFormat;
  readonly pncLevel?: number;
  readonly metric?: Metric;
  readonly sourceQpn?: number;
}

/** skb->cb of the clone. */
export function orderWords({
  format,
  pncLevel = 0,
  action = 'notify',
  level = 0,
  parameter = 0,
  metric = UNDISCLOSED,
  sourceQpn = 0,
}: Order): number[] {
  const number = LONG_HAUL_ACTIONS.indexOf(action);
  const order = (FORMAT_NUMBER[format] | (pncLevel << 3) | (number << 6) | (level << 8) | (parameter << 16)) >>> 0;
  return [CB_TAG, 1, order, ((metric.type << 24) | metric.value) >>> 0, sourceQpn];
}

export { CODES, LONG_HAUL };

/** A packet that a notification may be about, of so much payload. */
export const invokingPacket = (source: IpAddress, destination: IpAddress, payload: number, pkey = 0xffff): Uint8Array =>
  buildRocePacket({
    source,
    destination,
    sourcePort: 0xc000,
    trafficClass: 2,
    hopLimit: 60,
    bth: { opcode: 4, destQpn: 0xc8, psn: 7, pkey },
    payload: new Uint8Array(payload),
  });
/** One over each family. */
export const invokingPackets = (payload: number): { readonly v6: Uint8Array; readonly v4: Uint8Array } => ({
  v6: invokingPacket(address('2001:db8:a::1'), address('2001:db8:b::1'), payload),
  v4: invokingPacket(address('10.0.0.1'), address('10.0.1.1'), payload),
});

/** Hop-by-hop options in front of UDP: a pre-allocated IOAM trace (RFC 9197) of one node's 16 octets. */
export const TRACE = concat(
  Uint8Array.of(17, 3, 0x31, 26, 0, 0, 0, 1, 0x10, 4, 0x80, 0, 0, 0),
  Uint8Array.from({ length: 16 }, (_, i) => i),
  Uint8Array.of(1, 0),
);

/** LHCNP §7 and A2: level 180, Rate Reduce 30, Queue Pair 100, 130,000 kB. */
export const A2 = {
  level: 180,
  action: 'rate-reduce',
  parameter: 30,
  sourceQpn: 100,
  metric: { type: 1, value: 130_000 },
} as const;

export interface Built {
  readonly verdict: number;
  readonly frame: Uint8Array;
  /** From the IP header on. */
  readonly packet: Uint8Array;
  /** Whether it is marked as a finished notice. */
  readonly finished: boolean;
  /** Counters that this run has changed. */
  readonly counted: Readonly<Record<string, number>>;
}

export class NoticeBuilder {
  readonly object: BpfObject;
  readonly #netns: Netns | undefined;
  readonly #counted: CounterWatch;
  #remove: () => void = () => {};

  /** With the program compiled for it, which goes with it. */
  static compiled(): NoticeBuilder {
    const { path, remove } = compileBpf('bpf/egress.bpf.c');
    const builder = new NoticeBuilder(path);
    builder.#remove = remove;
    return builder;
  }

  constructor(path: string, netns?: Netns) {
    this.object = openBpfObject(path, { programs: [EGRESS_PROGRAMS.notice] });
    this.#netns = netns;
    this.#counted = new CounterWatch(this.object);
    this.configure({});
  }

  configure(config: NoticeConfig & Partial<EgressConfig>, ntpOffsetNs = 0n): this {
    const { fastCnp = CODES, longHaul = LONG_HAUL, ...egress } = config;
    this.object.map(EGRESS_MAPS.config).update(
      u32Key(0),
      encodeEgressConfig({
        source4: LOOPBACK4,
        source6: LOOPBACK,
        udpPort: 1021,
        flowAgeingNs: 1,
        flowSeed: 1n,
        ...egress,
      }),
    );
    configureFormats(this.object, { fastCnp, longHaul }, ntpOffsetNs);
    return this;
  }

  /** As if the agent had configured nothing for notices to senders. */
  forget(): void {
    this.object.map(NOTICE_CONFIG_MAP).update(NOTICE_CONFIG_KEY, new Uint8Array(NOTICE_CONFIG_SIZE));
  }

  proxyOf(sender: string, proxy: IpAddress): void {
    const p = prefix(sender);
    this.object.map(EGRESS_MAPS.senderProxies).update(prefixKey(p), encodeSenderProxy({ prefix: p, proxy }));
  }

  replicationEndCon(replication: IpAddress, endCon: IpAddress): void {
    this.object.map(EGRESS_MAPS.replicationEndCons).update(mappedAddress(replication), mappedAddress(endCon));
  }

  /** Runs the builder on a clone of `packet`, an IP packet in a frame with VLAN tags or without. */
  build(packet: Uint8Array, order: Order, tags: readonly (readonly [number, number])[] = []): Built {
    return this.run(frame(packet, { tags }), orderWords(order));
  }

  /** The same, of a whole frame and any control block. */
  run(clone: Uint8Array, cb: readonly number[]): Built {
    const ctx = context({ mark: MARK_TRIGGER, cb });
    const {
      retval,
      data,
      ctx: after,
    } = this.object.program(EGRESS_PROGRAMS.notice).testRun({ data: clone, ctx, netns: this.#netns });
    return {
      verdict: retval,
      frame: data,
      packet: data.subarray(14),
      finished: markOf(after!) === MARK_NOTICE,
      counted: this.#counted.moved(),
    };
  }

  close(): void {
    this.object.close();
    this.#remove();
  }
}
