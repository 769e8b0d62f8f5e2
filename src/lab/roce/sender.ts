// The data sender: connects, sends SENDs at the rate that pacing and the reaction to notifications allow, and
// disconnects. It is the edge of the endpoint: it owns the timer and passes packets to the pure parts (connection,
// requester, notifications, reaction, pacer).
import type { IpAddress } from '../../model/address.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { decodeCmMad, type CmMessage } from '../../packet/roce/cm.ts';
import { formatAddress, sameAddress } from '../../model/address.ts';
import type { QueuePairs } from '../../model/roce.ts';
import { ActiveConnection, type LocalSide } from './connection.ts';
import { Dcqcn, type DcqcnOptions } from '../../source/dcqcn.ts';
import type { FeedbackOptions } from './feedback-point.ts';
import { InstructedRate, type InstructedRateOptions } from '../../source/instructed-rate.ts';
import { Pacer } from './pacer.ts';
import { Reaction } from '../../source/reaction.ts';
import { type Report, rounded } from './report.ts';
import { Requester } from './requester.ts';
import { SenderNotifications } from './sender-notifications.ts';
import { DataTemplate, type Ends, buildCmPacket, sourcePortOf } from './wire.ts';

const TICK_MS = 1;
/** Sending time that a late timer may make up for. */
const BURST_MS = 4;
/** How long to wait for outstanding acknowledgements at the end. */
const DRAIN_MS = 3000;
/** RTT_est until the first acknowledgement. Too long is better than too short: recovery waits for two of them. */
const UNKNOWN_RTT_MS = 100;

export interface SenderOptions {
  readonly local: LocalSide;
  readonly peer: IpAddress;
  readonly port: number;
  readonly payloadSize: number;
  readonly packetsPerMessage: number;
  /** bit/s of IP packets. */
  readonly rate: number;
  readonly durationMs: number;
  readonly window: number;
  readonly timeoutMs: number;
  readonly reportIntervalMs: number;
  /** Undefined: CNPs are counted and change nothing. */
  readonly dcqcn: DcqcnOptions | undefined;
  /** Notifications from nodes on the path. Absent: none is understood. */
  readonly feedback?: FeedbackOptions | undefined;
  /** The effect of the instructions of Long-haul CNPs; only with `feedback`. */
  readonly instructed?: InstructedRateOptions | undefined;
  /** RTT_est of the path; absent: the minimum measured. */
  readonly rttMs?: number | undefined;
}

interface SenderDependencies {
  readonly now: () => number;
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
  /** Called once, at the end. */
  readonly onEnd: (ok: boolean) => void;
}

export class Sender {
  readonly #opts: SenderOptions;
  readonly #dependencies: SenderDependencies;
  readonly #connection: ActiveConnection;
  readonly #requester: Requester;
  readonly #pacer: Pacer;
  readonly #reaction: Reaction;
  readonly #notifications: SenderNotifications;
  readonly #transaction: bigint;
  readonly #counts = { unsent: 0, payloadBytes: 0 };
  #template: DataTemplate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt: number | undefined;
  #finishingAt: number | undefined;
  #last = { at: 0, sentBytes: 0, acknowledged: 0 };
  #ended = false;

  constructor(opts: SenderOptions, dependencies: SenderDependencies) {
    const now = dependencies.now();
    this.#opts = opts;
    this.#dependencies = dependencies;
    this.#transaction = BigInt(opts.local.commId);
    this.#connection = new ActiveConnection(opts.local, opts.peer, { port: opts.port, payloadSize: opts.payloadSize });
    this.#requester = new Requester({
      startingPsn: opts.local.startingPsn,
      packetsPerMessage: opts.packetsPerMessage,
      window: opts.window,
      ackEvery: 16,
      timeoutMs: opts.timeoutMs,
      retries: 7,
    });
    this.#pacer = new Pacer(opts.rate, BURST_MS, now);
    const parts = {
      dcqcn: opts.dcqcn && new Dcqcn(opts.dcqcn),
      instructed: opts.instructed && new InstructedRate(opts.instructed),
    };
    this.#reaction = new Reaction({ lineRate: opts.rate }, parts);
    this.#notifications = new SenderNotifications(
      { qpn: opts.local.qpn, feedback: opts.feedback },
      {
        reaction: this.#reaction,
        queuePairs: () => this.#queuePairs(),
        rttMs: () => this.#rttMs(),
        report: dependencies.report,
      },
    );
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** Ends early, with an orderly disconnect. */
  stop(): void {
    this.#finishingAt ??= this.#dependencies.now();
    if (this.#connection.state === 'connecting') this.#connection.close();
  }

  #ends(sourcePort: number): Ends {
    return { source: this.#opts.local.address, destination: this.#opts.peer, sourcePort };
  }

  #sendCm(message: CmMessage | undefined): void {
    if (message) this.#dependencies.send(buildCmPacket(this.#ends(sourcePortOf(1, 1)), this.#transaction, message));
  }

  #tick(): void {
    const now = this.#dependencies.now();
    this.#sendCm(this.#connection.poll(now));
    const { state } = this.#connection;
    if (state === 'established') this.#sendData(now);
    else if (state === 'refused' || state === 'unanswered') this.#end(false, `connection ${state}`);
    else if (state === 'closed') this.#end(!this.#requester.lost, this.#requester.lost ? 'retries exceeded' : 'done');
  }

  #sendData(now: number): void {
    const template = (this.#template ??= this.#begin(now));
    if (this.#requester.checkTimeout(now)) this.#dependencies.report('timeout', { timeouts: this.#requester.timeouts });
    this.#reaction.advance(now);
    const halted = this.#reaction.halted(now);
    this.#pacer.setRate(halted ? 0 : this.#reaction.rate, now);
    if (now - this.#startedAt! >= this.#opts.durationMs) this.#finishingAt ??= now;
    const finishing = this.#finishingAt !== undefined;
    while (!halted && this.#pacer.take(template.packet.length, now)) {
      const packet = this.#requester.next(now, finishing);
      if (!packet) break;
      if (!this.#dependencies.send(template.fill(packet))) this.#counts.unsent++;
      this.#counts.payloadBytes += this.#opts.payloadSize;
      this.#reaction.onSent(template.packet.length);
    }
    if (now - this.#last.at >= this.#opts.reportIntervalMs) this.#reportRate(now);
    const drained = finishing && (this.#requester.idle || now - this.#finishingAt! > DRAIN_MS);
    if (drained || this.#requester.lost) this.#connection.close();
  }

  #begin(now: number): DataTemplate {
    const remote = this.#connection.remote!;
    this.#startedAt = now;
    this.#last = { at: now, sentBytes: 0, acknowledged: 0 };
    this.#pacer.setRate(this.#opts.rate, now);
    const sourcePort = sourcePortOf(this.#opts.local.qpn, remote.qpn);
    this.#dependencies.report('connected', {
      qpn: this.#opts.local.qpn,
      peerQpn: remote.qpn,
      peer: formatAddress(this.#opts.peer),
      sourcePort,
      startingPsn: this.#opts.local.startingPsn,
    });
    const payload = new Uint8Array(this.#opts.payloadSize).map((_, i) => i);
    return new DataTemplate(this.#ends(sourcePort), remote.qpn, payload);
  }

  onPacket(packet: RocePacket): void {
    const now = this.#dependencies.now();
    if (this.#notifications.onLongHaulRoce(packet, now)) return;
    if (!sameAddress(packet.source, this.#opts.peer)) return;
    if (packet.ext.deth) {
      const mad = decodeCmMad(packet.payload);
      if (mad.ok) this.#sendCm(this.#connection.onMessage(mad.value.message));
    } else if (packet.bth.opcode === OPCODE.cnp) {
      this.#notifications.onCnp(packet, now);
    } else if (packet.bth.destQpn === this.#opts.local.qpn && packet.ext.aeth) {
      this.#requester.onAnswer(packet.bth.psn, packet.ext.aeth, now);
    }
  }

  /** An IPv6 packet for this host that claims to be a notification of a node on the path. */
  onNotification(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): void {
    this.#notifications.onNotification(format, packet, this.#dependencies.now());
  }

  #rttMs(): number {
    return this.#opts.rttMs ?? this.#requester.minimumRttMs ?? UNKNOWN_RTT_MS;
  }

  /** The Queue Pairs that are sending: one, once connected. */
  #queuePairs(): readonly QueuePairs[] {
    const { local, peer } = this.#opts;
    const { remote, state } = this.#connection;
    return remote && state === 'established'
      ? [{ sender: local.address, receiver: peer, senderQpn: local.qpn, receiverQpn: remote.qpn }]
      : [];
  }

  #reportRate(now: number): void {
    const { payloadBytes } = this.#counts;
    const { acknowledged } = this.#requester;
    const bps = (bytes: number): number => Math.round((bytes * 8000) / (now - this.#last.at));
    this.#dependencies.report('rate', {
      rateBps: Math.round(this.#reaction.rate),
      sentBps: bps(payloadBytes - this.#last.sentBytes),
      goodputBps: bps((acknowledged - this.#last.acknowledged) * this.#opts.payloadSize),
      alpha: rounded(this.#reaction.alpha),
      rttMs: rounded(this.#requester.rttMs),
      cnps: this.#notifications.counts.cnps,
      retransmitted: this.#requester.retransmitted,
    });
    this.#last = { at: now, sentBytes: payloadBytes, acknowledged };
  }

  #end(ok: boolean, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    const r = this.#requester;
    const elapsed = this.#startedAt === undefined ? 0 : this.#dependencies.now() - this.#startedAt;
    this.#dependencies.report('summary', {
      reason,
      qpn: this.#opts.local.qpn,
      durationMs: rounded(elapsed),
      goodputBps: elapsed > 0 ? Math.round((r.acknowledged * this.#opts.payloadSize * 8000) / elapsed) : 0,
      sent: r.sent,
      acknowledged: r.acknowledged,
      retransmitted: r.retransmitted,
      naks: r.naks,
      timeouts: r.timeouts,
      strayAcks: r.strayAcks,
      minimumRttMs: rounded(r.minimumRttMs),
      ...this.#notifications.counts,
      ...this.#counts,
      reductions: this.#reaction.reductions,
      firstDataAt: rounded(this.#startedAt),
      ...this.#notifications.summary(this.#startedAt),
    });
    this.#dependencies.onEnd(ok);
  }
}
