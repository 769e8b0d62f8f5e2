// Congestion notifications at the data sender: CNPs of the peer, and Fast CNPs and Long-haul CNPs of nodes on the path.
// Each accepted one is passed to the reaction; each is counted and reported. Pure.
import type { QueuePairs } from '../../model/roce.ts';
import { formatAddress } from '../../model/address.ts';
import { isCnp } from '../../packet/roce/cnp.ts';
import { isLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import { type FeedbackOptions, FeedbackPoint, type Verdict } from './feedback-point.ts';
import type { FeedbackFormat } from './feedback.ts';
import type { Reaction } from '../../source/reaction.ts';
import { type Report, rounded } from './report.ts';

interface SenderNotificationsOptions {
  /** The sender's Queue Pair. */
  readonly qpn: number;
  /** Notifications from nodes on the path. Undefined: none is understood. */
  readonly feedback: FeedbackOptions | undefined;
}

interface SenderNotificationsDependencies {
  readonly reaction: Reaction;
  /** The Queue Pairs that are sending. */
  readonly queuePairs: () => readonly QueuePairs[];
  readonly rttMs: () => number;
  readonly report: Report;
}

export class SenderNotifications {
  readonly counts = { cnps: 0, foreignCnps: 0 };
  readonly #qpn: number;
  readonly #feedback: FeedbackPoint | undefined;
  readonly #dependencies: SenderNotificationsDependencies;
  #firstCnpAt: number | undefined;
  #firstFeedbackAt: number | undefined;

  constructor({ qpn, feedback }: SenderNotificationsOptions, dependencies: SenderNotificationsDependencies) {
    this.#qpn = qpn;
    this.#feedback = feedback && new FeedbackPoint(feedback);
    this.#dependencies = dependencies;
  }

  /** A CNP of the peer. One for another Queue Pair is not for this connection; network cards ignore it too. */
  onCnp(packet: RocePacket, now: number): void {
    this.#onCnp(packet, isCnp(packet) && packet.bth.destQpn === this.#qpn, now);
  }

  /** An IPv6 packet for this host that claims to be a notification of a node on the path. */
  onNotification(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array, now: number): void {
    if (!this.#feedback) return;
    this.#onVerdict(format, this.#feedback.onPacket(format, packet, this.#dependencies.queuePairs(), now), now);
  }

  /**
   * Takes the packet if it is a Long-haul CNP in its RoCEv2 form and this sender understands notifications. If the
   * sender ignores this format, the packet is what its opcode says: a CNP, of a node that may send one, whatever
   * follows the BTH (LHCNP-5.6-j, LHCNP-8-c).
   * @returns whether it took the packet
   */
  onLongHaulRoce(packet: RocePacket, now: number): boolean {
    const point = this.#feedback;
    if (!point || !isLongHaulRoce(packet)) return false;
    const verdict = point.onRocePacket(packet, this.#dependencies.queuePairs(), now);
    if (verdict.kind !== 'ignored') {
      this.#onVerdict('long-haul-roce', verdict, now);
      return true;
    }
    const { bth, icrcValid } = packet;
    this.#onCnp(packet, point.knownNode(packet.source) && bth.becn && icrcValid && bth.destQpn === this.#qpn, now);
    return true;
  }

  #onCnp({ bth, icrcValid }: RocePacket, accepted: boolean, now: number): void {
    const { reaction, rttMs, report } = this.#dependencies;
    if (accepted) {
      this.counts.cnps++;
      this.#firstCnpAt ??= now;
      this.#firstFeedbackAt ??= now;
      reaction.onCnp(now, rttMs());
    } else this.counts.foreignCnps++;
    report('cnp', {
      accepted,
      opcode: bth.opcode,
      destQpn: bth.destQpn,
      icrcValid,
      rateBps: Math.round(reaction.rate),
    });
  }

  #onVerdict(format: FeedbackFormat, verdict: Verdict, now: number): void {
    const { reaction, rttMs, report } = this.#dependencies;
    if (verdict.kind === 'ignored') return;
    if (verdict.kind === 'refused') {
      report('feedback', {
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
    if (instruction) reaction.onInstruction(instruction, now, rttMs());
    else reaction.onCnp(now, rttMs());
    report('feedback', {
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
      rateBps: Math.round(reaction.rate),
    });
  }

  /**
   * Times of the first CNP and of the first notification of any format; counts of each format.
   * @param startedAt of the data, ms; undefined: none was sent
   */
  summary(startedAt: number | undefined): Readonly<Record<string, unknown>> {
    const afterStart = (at: number | undefined): number | null =>
      at === undefined || startedAt === undefined ? null : rounded(at - startedAt);
    const cnp = { firstCnpAt: rounded(this.#firstCnpAt), firstCnpAfterMs: afterStart(this.#firstCnpAt) };
    if (!this.#feedback) return cnp;
    const formats = Object.entries(this.#feedback.counts).map(([format, { firstAt, ...c }]) => [
      format,
      { ...c, firstAt: rounded(firstAt), firstAfterMs: afterStart(firstAt) },
    ]);
    return {
      ...cnp,
      feedback: Object.fromEntries(formats),
      instructions: this.#dependencies.reaction.instructions ?? null,
      firstFeedbackAt: rounded(this.#firstFeedbackAt),
      firstFeedbackAfterMs: afterStart(this.#firstFeedbackAt),
    };
  }
}
