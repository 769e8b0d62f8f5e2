// The data sender: connects, sends SENDs at the rate that pacing and the reaction to notifications allow, and
// disconnects. The edge of the endpoint: it owns the timer and hands packets to the pure parts (connection, requester,
// reaction, feedback point, pacer).
import type { IpAddress } from '../../model/address.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { decodeCmMad, type CmMessage } from '../../packet/roce/cm.ts';
import { isCnp } from '../../packet/roce/cnp.ts';
import { formatAddress, sameAddress } from '../../model/address.ts';
import type { QueuePairs } from '../../model/roce.ts';
import { isLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { ActiveConnection, type LocalSide } from './connection.ts';
import { Dcqcn, type DcqcnOptions } from './dcqcn.ts';
import type { FeedbackFormat } from './feedback.ts';
import { FeedbackPoint, type FeedbackOptions, type Verdict } from './feedback-point.ts';
import { InstructedRate, type InstructedRateOptions } from './instructed-rate.ts';
import { Pacer } from './pacer.ts';
import { Reaction } from './reaction.ts';
import { type Report, rounded } from './report.ts';
import { Requester } from './requester.ts';
import { DataTemplate, type Ends, buildCmPacket, sourcePortOf } from './wire.ts';

const TICK_MS = 1;
/** Sending time that may be made up for after a late timer. */
const BURST_MS = 4;
/** How long to wait for outstanding acknowledgements at the end. */
const DRAIN_MS = 3000;
/**
 * RTT_est until the first acknowledgement: rather too long for a WAN than too short, since recovery waits for two of
 * them.
 */
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
  /** Notifications from nodes on the way. Absent: none is understood. */
  readonly feedback?: FeedbackOptions | undefined;
  /** The effect of the instructions of Long-haul CNPs; only with `feedback`. */
  readonly instructed?: InstructedRateOptions | undefined;
  /** RTT_est of the path; absent: the least that was measured. */
  readonly rttMs?: number | undefined;
}

interface SenderModules {
  readonly now: () => number;
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
  /** Called once, when all is over. */
  readonly onEnd: (ok: boolean) => void;
}

export class Sender {
  readonly #opts: SenderOptions;
  readonly #modules: SenderModules;
  readonly #connection: ActiveConnection;
  readonly #requester: Requester;
  readonly #pacer: Pacer;
  readonly #reaction: Reaction;
  readonly #feedback: FeedbackPoint | undefined;
  readonly #transaction: bigint;
  readonly #counts = { cnps: 0, foreignCnps: 0, unsent: 0, payloadBytes: 0 };
  #template: DataTemplate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt: number | undefined;
  #finishingAt: number | undefined;
  #firstCnpAt: number | undefined;
  #firstFeedbackAt: number | undefined;
  #last = { at: 0, sentBytes: 0, acknowledged: 0 };
  #ended = false;

  constructor(opts: SenderOptions, modules: SenderModules) {
    const now = modules.now();
    this.#opts = opts;
    this.#modules = modules;
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
    this.#feedback = opts.feedback && new FeedbackPoint(opts.feedback);
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** Ends early, but in order. */
  stop(): void {
    this.#finishingAt ??= this.#modules.now();
    if (this.#connection.state === 'connecting') this.#connection.close();
  }

  #ends(sourcePort: number): Ends {
    return { source: this.#opts.local.address, destination: this.#opts.peer, sourcePort };
  }

  #sendCm(message: CmMessage | undefined): void {
    if (message) this.#modules.send(buildCmPacket(this.#ends(sourcePortOf(1, 1)), this.#transaction, message));
  }

  #tick(): void {
    const now = this.#modules.now();
    this.#sendCm(this.#connection.poll(now));
    const { state } = this.#connection;
    if (state === 'established') this.#sendData(now);
    else if (state === 'refused' || state === 'unanswered') this.#end(false, `connection ${state}`);
    else if (state === 'closed') this.#end(!this.#requester.lost, this.#requester.lost ? 'retries exceeded' : 'done');
  }

  #sendData(now: number): void {
    const template = (this.#template ??= this.#begin(now));
    if (this.#requester.checkTimeout(now)) this.#modules.report('timeout', { timeouts: this.#requester.timeouts });
    this.#reaction.advance(now);
    const halted = this.#reaction.halted(now);
    this.#pacer.setRate(halted ? 0 : this.#reaction.rate, now);
    if (now - this.#startedAt! >= this.#opts.durationMs) this.#finishingAt ??= now;
    const finishing = this.#finishingAt !== undefined;
    while (!halted && this.#pacer.take(template.packet.length, now)) {
      const packet = this.#requester.next(now, finishing);
      if (!packet) break;
      if (!this.#modules.send(template.fill(packet))) this.#counts.unsent++;
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
    this.#modules.report('connected', {
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
    const now = this.#modules.now();
    if (this.#feedback && isLongHaulRoce(packet)) return this.#onLongHaulRoce(this.#feedback, packet, now);
    if (!sameAddress(packet.source, this.#opts.peer)) return;
    if (packet.ext.deth) {
      const mad = decodeCmMad(packet.payload);
      if (mad.ok) this.#sendCm(this.#connection.onMessage(mad.value.message));
    } else if (packet.bth.opcode === OPCODE.cnp) {
      this.#onCnp(packet, now);
    } else if (packet.bth.destQpn === this.#opts.local.qpn && packet.ext.aeth) {
      const { kind } = packet.ext.aeth;
      if (kind === 'ack') this.#requester.onAck(packet.bth.psn, now);
      else if (kind === 'nak') this.#requester.onNak(packet.bth.psn, now);
    }
  }

  /**
   * A CNP from another than the peer, or for another Queue Pair, is not for this connection: network cards ignore it
   * too.
   */
  #onCnp(packet: RocePacket, now: number): void {
    const accepted = isCnp(packet) && packet.bth.destQpn === this.#opts.local.qpn;
    if (accepted) this.#takeCnp(now);
    else this.#counts.foreignCnps++;
    this.#reportCnp(packet, accepted);
  }

  #takeCnp(now: number): void {
    this.#counts.cnps++;
    this.#firstCnpAt ??= now;
    this.#firstFeedbackAt ??= now;
    this.#reaction.onCnp(now, this.#rttMs());
  }

  #reportCnp({ bth, icrcValid }: RocePacket, accepted: boolean): void {
    this.#modules.report('cnp', {
      accepted,
      opcode: bth.opcode,
      destQpn: bth.destQpn,
      icrcValid,
      rateBps: Math.round(this.#reaction.rate),
    });
  }

  #rttMs(): number {
    return this.#opts.rttMs ?? this.#requester.minimumRttMs ?? UNKNOWN_RTT_MS;
  }

  #queuePairs(): readonly QueuePairs[] {
    const { local, peer } = this.#opts;
    const { remote, state } = this.#connection;
    return remote && state === 'established'
      ? [{ sender: local.address, receiver: peer, senderQpn: local.qpn, receiverQpn: remote.qpn }]
      : [];
  }

  /** An IPv6 packet for this host that claims to be a notification of a node on the way. */
  onNotification(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): void {
    const now = this.#modules.now();
    if (this.#feedback) this.#onVerdict(format, this.#feedback.onPacket(format, packet, this.#queuePairs(), now), now);
  }

  /**
   * Not understood, it is what its opcode says: a CNP, of a node that may send one, whatever follows the BTH
   * (LHCNP-5.6-j, LHCNP-8-c).
   */
  #onLongHaulRoce(point: FeedbackPoint, packet: RocePacket, now: number): void {
    const verdict = point.onRocePacket(packet, this.#queuePairs(), now);
    if (verdict.kind !== 'ignored') return this.#onVerdict('long-haul-roce', verdict, now);
    const { bth, icrcValid } = packet;
    const accepted = point.knownNode(packet.source) && bth.becn && icrcValid && bth.destQpn === this.#opts.local.qpn;
    if (accepted) this.#takeCnp(now);
    else this.#counts.foreignCnps++;
    this.#reportCnp(packet, accepted);
  }

  #onVerdict(format: FeedbackFormat, verdict: Verdict, now: number): void {
    if (verdict.kind === 'ignored') return;
    if (verdict.kind === 'refused') {
      this.#modules.report('feedback', {
        format,
        accepted: false,
        reason: verdict.reason,
        node: verdict.node ? formatAddress(verdict.node) : null,
      });
      return;
    }
    const { feedback } = verdict;
    this.#firstFeedbackAt ??= now;
    const instruction = feedback.format === 'fast-cnp' ? undefined : feedback.cnp;
    if (instruction) this.#reaction.onInstruction(instruction, now, this.#rttMs());
    else this.#reaction.onCnp(now, this.#rttMs());
    this.#modules.report('feedback', {
      format,
      accepted: true,
      node: formatAddress(feedback.node),
      queuePairs: verdict.queuePairs.map((pair) => pair.senderQpn),
      ...(instruction && {
        level: instruction.level,
        action: instruction.action,
        parameter: instruction.parameter,
        metric: instruction.metric,
      }),
      rateBps: Math.round(this.#reaction.rate),
    });
  }

  #reportRate(now: number): void {
    const { payloadBytes } = this.#counts;
    const { acknowledged } = this.#requester;
    const bps = (bytes: number): number => Math.round((bytes * 8000) / (now - this.#last.at));
    this.#modules.report('rate', {
      rateBps: Math.round(this.#reaction.rate),
      sentBps: bps(payloadBytes - this.#last.sentBytes),
      goodputBps: bps((acknowledged - this.#last.acknowledged) * this.#opts.payloadSize),
      alpha: rounded(this.#reaction.alpha),
      rttMs: rounded(this.#requester.rttMs),
      cnps: this.#counts.cnps,
      retransmitted: this.#requester.retransmitted,
    });
    this.#last = { at: now, sentBytes: payloadBytes, acknowledged };
  }

  #end(ok: boolean, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    const r = this.#requester;
    const elapsed = this.#startedAt === undefined ? 0 : this.#modules.now() - this.#startedAt;
    this.#modules.report('summary', {
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
      ...this.#counts,
      reductions: this.#reaction.reductions,
      firstDataAt: rounded(this.#startedAt),
      firstCnpAt: rounded(this.#firstCnpAt),
      firstCnpAfterMs: this.#afterStart(this.#firstCnpAt),
      ...(this.#feedback && this.#feedbackSummary(this.#feedback)),
    });
    this.#modules.onEnd(ok);
  }

  #afterStart(at: number | undefined): number | null {
    return at === undefined || this.#startedAt === undefined ? null : rounded(at - this.#startedAt);
  }

  /** Per format: counts and the time of the first; and of the first of all, CNPs included. */
  #feedbackSummary({ counts }: FeedbackPoint): Readonly<Record<string, unknown>> {
    const formats = Object.entries(counts).map(([format, { firstAt, ...c }]) => [
      format,
      { ...c, firstAt: rounded(firstAt), firstAfterMs: this.#afterStart(firstAt) },
    ]);
    return {
      feedback: Object.fromEntries(formats),
      instructions: this.#reaction.instructions ?? null,
      firstFeedbackAt: rounded(this.#firstFeedbackAt),
      firstFeedbackAfterMs: this.#afterStart(this.#firstFeedbackAt),
    };
  }
}
