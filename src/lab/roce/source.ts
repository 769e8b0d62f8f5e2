// A data source with reliable connections that were set up out of band, as applications do that exchange Queue Pairs
// themselves: each flow sends one transfer to one peer, which may be the Proxy Address of a group (RMC §5.1). Nothing
// here knows about groups. The edge of the requesters: it owns the timer.
import { type IpAddress, formatAddress, sameAddress } from '../../model/address.ts';
import { isCnp } from '../../packet/roce/cnp.ts';
import { type RocePacket, buildRocePacket } from '../../packet/roce/packet.ts';
import { Confirmations } from './confirmations.ts';
import { Dcqcn, type DcqcnOptions } from '../../source/dcqcn.ts';
import { ECT0 } from './notification-point.ts';
import { Pacer } from './pacer.ts';
import { Reaction } from '../../source/reaction.ts';
import { type Report, rounded } from './report.ts';
import { Requester } from './requester.ts';
import { Transfer, type TransferOptions } from './transfer.ts';
import { type Ends, sourcePortOf } from './wire.ts';

const TICK_MS = 1;
const BURST_MS = 4;
/** IPv6, UDP, BTH, ICRC. */
const OVERHEAD = 64;

export interface FlowOptions {
  readonly peer: IpAddress;
  /** The peer's Queue Pair. */
  readonly peerQpn: number;
  /** Of this side. */
  readonly qpn: number;
}

export interface SourceOptions {
  readonly address: IpAddress;
  readonly flows: readonly FlowOptions[];
  readonly transfer: TransferOptions;
  readonly startingPsn: number;
  /** Packets in flight of each flow. */
  readonly window: number;
  readonly timeoutMs: number;
  /** Timeouts in a row before a flow is given up. */
  readonly retries: number;
  /** bit/s of IP packets, each flow. */
  readonly rate: number;
  /** Undefined: CNPs are counted and change nothing. */
  readonly dcqcn: DcqcnOptions | undefined;
  readonly reportIntervalMs: number;
}

export interface SourceDependencies {
  readonly now: () => number;
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
  /** Called once, when every flow has ended. */
  readonly onEnd: (ok: boolean) => void;
}

export class Source {
  readonly #opts: SourceOptions;
  readonly #dependencies: SourceDependencies;
  readonly #flows: readonly Flow[];
  /** For this address, and of none of the flows: another Queue Pair, or not from its peer. */
  #foreign = 0;
  /** Of each flow. */
  #packets: number;
  #startedAt = 0;
  #reportedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(opts: SourceOptions, dependencies: SourceDependencies) {
    this.#opts = opts;
    this.#dependencies = dependencies;
    const transfer = new Transfer(opts.transfer);
    this.#packets = transfer.packets;
    this.#flows = opts.flows.map((flow) => new Flow(flow, opts, transfer, dependencies));
  }

  start(): void {
    this.#startedAt = this.#reportedAt = this.#dependencies.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  onPacket(packet: RocePacket): void {
    const flow = this.#flows.find(
      ({ opts }) => opts.qpn === packet.bth.destQpn && sameAddress(opts.peer, packet.source),
    );
    if (!flow || !flow.onAnswer(packet, this.#dependencies.now())) this.#foreign++;
    else this.#tick();
  }

  /** Ends all flows in order, each after the same messages: behind the one under way of the flow that is furthest. */
  finish(): void {
    const end = Math.max(...this.#flows.map(({ requester }) => requester.messageEnd));
    this.#packets = Math.min(this.#packets, end);
    for (const { requester } of this.#flows) requester.endAt(this.#packets);
    this.#tick();
  }

  /** Ends early: flows that are not complete are reported as such. */
  stop(): void {
    this.#end();
  }

  #tick(): void {
    const now = this.#dependencies.now();
    for (const flow of this.#flows) flow.advance(now);
    if (now - this.#reportedAt >= this.#opts.reportIntervalMs) {
      this.#reportedAt = now;
      this.#dependencies.report('progress', {
        acknowledged: this.#flows.reduce((sum, { requester }) => sum + requester.acknowledged, 0),
      });
    }
    if (this.#flows.every((flow) => flow.ended)) this.#end();
  }

  #end(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const { opts, confirmations } of this.#flows)
      this.#dependencies.report('confirmations', { qpn: opts.qpn, list: confirmations });
    const ok = this.#flows.every(({ requester }) => requester.done);
    this.#dependencies.report('summary', {
      ok,
      startedAt: rounded(this.#startedAt),
      durationMs: rounded(this.#dependencies.now() - this.#startedAt),
      foreign: this.#foreign,
      bytes: Math.min(this.#opts.transfer.bytes, this.#packets * this.#opts.transfer.payloadSize),
      hash: new Transfer(this.#opts.transfer).hash(this.#packets),
      flows: this.#flows.map((flow) => flow.statistics(this.#startedAt)),
    });
    this.#dependencies.onEnd(ok);
  }
}

/** One Queue Pair. */
class Flow {
  readonly opts: FlowOptions;
  readonly requester: Requester;
  readonly #transfer: Transfer;
  readonly #dependencies: SourceDependencies;
  readonly #pacer: Pacer;
  readonly #reaction: Reaction;
  readonly #ends: Ends;
  /** Of a full packet, for the pacer. */
  readonly #packetLength: number;
  readonly #counts = { packetBytes: 0, unsent: 0, cnps: 0 };
  readonly #confirmations = new Confirmations();
  #endedAt: number | undefined;

  constructor(opts: FlowOptions, source: SourceOptions, transfer: Transfer, dependencies: SourceDependencies) {
    this.opts = opts;
    this.#transfer = transfer;
    this.#dependencies = dependencies;
    this.requester = new Requester({
      startingPsn: source.startingPsn,
      packetsPerMessage: source.transfer.packetsPerMessage,
      window: source.window,
      ackEvery: 16,
      timeoutMs: source.timeoutMs,
      retries: source.retries,
      operation: source.transfer.write ? 'write' : 'send',
      packets: transfer.packets,
    });
    this.#pacer = new Pacer(source.rate, BURST_MS, dependencies.now());
    this.#reaction = new Reaction(
      { lineRate: source.rate },
      { dcqcn: source.dcqcn && new Dcqcn(source.dcqcn), instructed: undefined },
    );
    this.#packetLength = source.transfer.payloadSize + OVERHEAD;
    const sourcePort = sourcePortOf(opts.qpn, opts.peerQpn);
    this.#ends = { source: source.address, destination: opts.peer, sourcePort };
  }

  get ended(): boolean {
    return this.requester.done || this.requester.lost;
  }

  advance(now: number): void {
    const { requester } = this;
    if (this.ended) {
      this.#endedAt ??= now;
      return;
    }
    requester.checkTimeout(now);
    this.#reaction.advance(now);
    this.#pacer.setRate(this.#reaction.rate, now);
    while (requester.maySend(now) && this.#pacer.take(this.#packetLength, now)) {
      const packet = this.#packet(requester.next(now)!);
      this.#reaction.onSent(packet.length);
      this.#counts.packetBytes += packet.length;
      // What the interface does not take is lost, as on the wire.
      if (!this.#dependencies.send(packet)) this.#counts.unsent++;
    }
  }

  #packet(next: NonNullable<ReturnType<Requester['next']>>): Uint8Array {
    const reth = this.#transfer.reth(next.index);
    return buildRocePacket({
      ...this.#ends,
      trafficClass: ECT0,
      bth: { opcode: next.opcode, destQpn: this.opts.peerQpn, psn: next.psn, ackRequest: next.ackRequest },
      ext: reth ? { reth } : {},
      payload: this.#transfer.payload(next.index),
    });
  }

  /** @returns whether it was one */
  onAnswer(packet: RocePacket, now: number): boolean {
    if (isCnp(packet)) {
      this.#counts.cnps++;
      this.#reaction.onCnp(now, this.requester.minimumRttMs ?? 0);
      return true;
    }
    if (!packet.ext.aeth) return false;
    this.requester.onAnswer(packet.bth.psn, packet.ext.aeth, now);
    this.#confirmations.note(this.requester.acknowledged, now);
    if (this.ended) this.#endedAt ??= now;
    return true;
  }

  /** When the peer confirmed how many packets. */
  get confirmations(): Confirmations['list'] {
    return this.#confirmations.list;
  }

  statistics(startedAt: number): Readonly<Record<string, unknown>> {
    const { sent, acknowledged, retransmitted, acks, naks, rnrNaks, timeouts, strayAcks, error, done } = this.requester;
    return {
      peer: formatAddress(this.opts.peer),
      qpn: this.opts.qpn,
      peerQpn: this.opts.peerQpn,
      done,
      error: error ?? null,
      completionMs: done ? rounded((this.#endedAt ?? 0) - startedAt) : null,
      ...{ sent, acknowledged, retransmitted, acks, naks, rnrNaks, timeouts, strayAcks },
      ...this.#counts,
      reductions: this.#reaction.reductions,
      minimumRttMs: rounded(this.requester.minimumRttMs),
    };
  }
}
