// The exit of an SRv6 tunnel under load: frames enter the core port of a provider edge, and those that leave at the
// customer port are counted by congestion field (bpf/bench/inject.bpf.c).
import type { openBpfObject } from '../../../kernel/bpf/object.ts';
import type { BpfProgram } from '../../../kernel/bpf/program.ts';
import { attachTcx } from '../../../kernel/bpf/tcx.ts';
import { u32Key } from '../../../kernel/dataplane/layout.ts';
import { concat } from '../../../packet/bytes.ts';
import { BEHIND, CORE_MAC, CORE_PEER_MAC, type Edge } from '../network/provider-edge.ts';
import { receiveFrames } from './live-frames.ts';
import { dataIpv6, ethernet, insideSrv6 } from './packets.ts';
import { setCongestionField, vectorsMet } from './srv6-vectors.ts';

/** Bytes of a frame that `arrive` writes. */
const HEADERS = 256;
/** Packets per measurement. */
const COUNT = 1_000;
/** Offset in an IPv6 header: the last 16 bits of an address. */
const LAST_OF = { source: 22, destination: 38 } as const;

export type Object = ReturnType<typeof openBpfObject>;

export interface Tunnel {
  readonly what: string;
  readonly segments: readonly string[];
  /**
   * Each packet belongs to another flow, by this address, so no cache of flows helps. With `source`, the kernel's cache
   * of the destination still helps.
   */
  readonly manyFlows?: keyof typeof LAST_OF;
  /** The ratio to reach, kernel to program, when the program does all the work. */
  readonly target: number;
}
const OUTER_AT = 14;
const innerAt = ({ segments }: Tunnel): number => OUTER_AT + 40 + (segments.length > 0 ? 8 + 16 * segments.length : 0);

/** Sends frames into the core port and counts what leaves at the customer port. */
export class TunnelExit {
  readonly #tunnel: Tunnel;
  readonly #frame: Uint8Array;
  readonly #edge: Edge;
  readonly #inject: Object;

  constructor(tunnel: Tunnel, objects: { readonly edge: Edge; readonly inject: Object }) {
    const packet = insideSrv6(dataIpv6(), tunnel.segments);
    if (tunnel.segments.length > 0) packet[43] = 0; // segments left
    this.#tunnel = tunnel;
    this.#frame = ethernet(packet, concat(CORE_MAC, CORE_PEER_MAC));
    this.#edge = objects.edge;
    this.#inject = objects.inject;
    if (tunnel.manyFlows === 'destination') this.#frame[innerAt(tunnel) + BEHIND.at] = BEHIND.byte;
    this.#inject
      .map('counted_at')
      .update(u32Key(0), u32Key(tunnel.manyFlows ? innerAt(tunnel) + LAST_OF[tunnel.manyFlows] : 0));
    this.#inject.map('next_port').update(u32Key(0), u32Key(this.#edge.customer));
    this.#show(this.#frame);
  }

  #show(frame: Uint8Array): void {
    this.#inject.map('template').update(u32Key(0), frame.subarray(0, HEADERS));
  }

  /** Packets that have left, by congestion field. */
  #left(): bigint[] {
    return [0, 1, 2, 3].map((field) => this.#inject.map('sunk').sumCounters(u32Key(field))![0]!);
  }

  /** @returns the packets that left, by congestion field, and nanoseconds per packet */
  #receive(frame: Uint8Array, count: number): { left: number[]; ns: number } {
    const before = this.#left();
    const ns = receiveFrames(this.#inject.program('arrive'), {
      frame,
      ifindex: this.#edge.core,
      count,
      netns: this.#edge.netns,
    });
    return { left: this.#left().map((packets, field) => Number(packets - before[field]!)), ns };
  }

  /** Nanoseconds per packet. @throws Error when not all were forwarded */
  time(): number {
    const { left, ns } = this.#receive(this.#frame, COUNT);
    const forwarded = left.reduce((sum, packets) => sum + packets, 0);
    if (forwarded !== COUNT) throw new Error(`${forwarded} of ${COUNT} packets were forwarded`);
    return ns;
  }

  /** How many of the vectors of RFC 6040 come out right. */
  vectors(): number {
    const met = vectorsMet((inner, outer) => {
      const frame = this.#frame.slice();
      setCongestionField(frame, OUTER_AT, outer);
      setCongestionField(frame, innerAt(this.#tunnel), inner);
      this.#show(frame);
      const field = this.#receive(frame, 1).left.indexOf(1);
      return field < 0 ? null : field;
    });
    this.#show(this.#frame);
    return met;
  }

  /** Runs `ask` with a program at the ingress of the core port. */
  behind<T>(program: BpfProgram, ask: () => T): T {
    const link = attachTcx({ program, ifindex: this.#edge.core, direction: 'ingress', netns: this.#edge.netns });
    try {
      return ask();
    } finally {
      link.detach();
    }
  }
}
