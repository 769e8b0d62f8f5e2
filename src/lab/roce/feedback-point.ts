// The sender's gate for notifications from nodes on the path: supported formats are read and validated, and everything
// is counted by format. Unsupported ones are silently discarded (LHCNP-5.6-j, LHCNP-8-b); a Long-haul CNP in its RoCEv2
// form, which is a CNP as well, may then still count as one. Pure.
import type { IpAddress } from '../../model/address.ts';
import { type Prefix, prefixContains } from '../../model/prefix.ts';
import type { QueuePairs } from '../../model/roce.ts';
import type { Decoded } from '../../packet/decode.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import {
  FEEDBACK_FORMATS,
  type Feedback,
  type FeedbackCodes,
  type FeedbackFormat,
  readFeedback,
  readRoceFeedback,
  validate,
} from './feedback.ts';

export interface FeedbackOptions {
  readonly understands: ReadonlySet<FeedbackFormat>;
  /** Nodes whose notifications are accepted (LHCNP-9-a, FCNP-5-c). Nobody else's are. */
  readonly nodes: readonly Prefix[];
  readonly codes: FeedbackCodes;
}

interface FormatCounts {
  accepted: number;
  /** Formats that are not understood. */
  ignored: number;
  /** By reason: error codes of the decoders, `unknown-node`, `unknown-queue-pair`. */
  refused: Record<string, number>;
  /** Of the first one accepted, ms. */
  firstAt: number | undefined;
}

export type Verdict =
  | { readonly kind: 'accepted'; readonly feedback: Feedback; readonly queuePairs: readonly QueuePairs[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly node: IpAddress | undefined }
  | { readonly kind: 'ignored' };

export class FeedbackPoint {
  readonly counts = Object.fromEntries(
    FEEDBACK_FORMATS.map((format): [FeedbackFormat, FormatCounts] => [
      format,
      { accepted: 0, ignored: 0, refused: {}, firstAt: undefined },
    ]),
  ) as Readonly<Record<FeedbackFormat, FormatCounts>>;
  readonly #opts: FeedbackOptions;

  constructor(opts: FeedbackOptions) {
    this.#opts = opts;
  }

  knownNode(node: IpAddress): boolean {
    return this.#opts.nodes.some((prefix) => prefixContains(prefix, node));
  }

  understands(format: FeedbackFormat): boolean {
    return this.#opts.understands.has(format);
  }

  /** An IPv6 packet that claims a format. @param active the Queue Pairs that are sending */
  onPacket(
    format: 'fast-cnp' | 'long-haul-icmpv6',
    packet: Uint8Array,
    active: readonly QueuePairs[],
    now: number,
  ): Verdict {
    return this.#judge(format, () => readFeedback(format, packet, this.#opts.codes), active, now);
  }

  /** A RoCEv2 packet with the E bit. */
  onRocePacket(packet: RocePacket, active: readonly QueuePairs[], now: number): Verdict {
    return this.#judge('long-haul-roce', () => readRoceFeedback(packet, this.#opts.codes), active, now);
  }

  #judge(format: FeedbackFormat, read: () => Decoded<Feedback>, active: readonly QueuePairs[], now: number): Verdict {
    const counts = this.counts[format];
    if (!this.understands(format)) {
      counts.ignored++;
      return { kind: 'ignored' };
    }
    const feedback = read();
    if (!feedback.ok) return this.#refuse(counts, feedback.error.code);
    const valid = validate(feedback.value, (node) => this.knownNode(node), active);
    if (!valid.ok) return this.#refuse(counts, valid.error, feedback.value.node);
    counts.accepted++;
    counts.firstAt ??= now;
    return { kind: 'accepted', feedback: feedback.value, queuePairs: valid.value };
  }

  #refuse(counts: FormatCounts, reason: string, node?: IpAddress): Verdict {
    counts.refused[reason] = (counts.refused[reason] ?? 0) + 1;
    return { kind: 'refused', reason, node };
  }
}
