// When a sender may speed up again (LHCNP §5.5.1 Resume; LHCNP-5.5.1-i). A sender that was instructed to pause or to
// slow down waits here until the queue of its port has been below K_min for more than one RTT_est. The programs cannot
// do this: they run when packets leave, and no packets leave through a drained queue. The depth is therefore sampled,
// and only while a sender waits.
//
// A pure machine: notifications and samples in, orders out. One Resume ends all earlier instructions to the sender.
// Resumes of a port are sent at the rate of its notices (LHCNP-5.5-g), which also keeps a hundred senders from speeding
// up at once.
import type { ResumeAnswer, SentNotification } from '../model/notification.ts';
import type { Count } from '../model/log.ts';
import { notifiedFlowKey } from './flow-key.ts';

/** Of a monitored port, as planned. */
export interface ResumePort {
  readonly ifindex: number;
  /** Bytes; null: no marking, no notification. */
  readonly kMin: number | null;
  readonly kMax: number | null;
  /** RTT_est; null or absent: not known, perFlowIntervalNs serves. */
  readonly rttNs?: number | null;
  readonly perFlowIntervalNs: number;
}

/** The notified sender, and how to reach it. */
export type NotifiedFlow = Pick<
  SentNotification,
  | 'format'
  | 'ifindex'
  | 'source'
  | 'destination'
  | 'destinationQpn'
  | 'sourceQpn'
  | 'datagram'
  | 'endCon'
  | 'sourcePort'
  | 'pkey'
>;

export interface ResumeOrder {
  readonly flow: NotifiedFlow;
  /** Depth of the queue now, bytes. */
  readonly queueBytes: number;
}

/** Requests the tokens of a Resume, and spends them if there are any. */
export type ClaimResume = (flow: NotifiedFlow) => ResumeAnswer;

/**
 * A sender recovers by itself two RTTs after the last notification (LHCNP-5.6-f): after this time there is nothing to
 * resume. Milliseconds.
 */
export const WAIT_MS = 60_000;
export const MOST_WAITING = 4096;
/** Samples in the time that the queue has to stay low. */
const SAMPLES = 8;
const SHORTEST_SAMPLING_MS = 5;
const LONGEST_SAMPLING_MS = 250;

interface Port {
  readonly plan: ResumePort;
  /** Since when every sample was below K_min. */
  lowSince: number | undefined;
  sampledAt: number | undefined;
  /** Between the last two samples. */
  gap: number;
}

interface Waiting {
  readonly flow: NotifiedFlow;
  readonly notifiedAt: number;
}

const holdMs = ({ rttNs, perFlowIntervalNs }: ResumePort): number => (rttNs ?? perFlowIntervalNs) / 1e6;
const samplingMs = (plan: ResumePort): number =>
  Math.min(LONGEST_SAMPLING_MS, Math.max(SHORTEST_SAMPLING_MS, holdMs(plan) / SAMPLES));
/**
 * Without K_min, its recommended value applies (LHCNP-5.3.2-g). A port that notifies only by other triggers must be
 * empty.
 */
const lowBelow = ({ kMin, kMax }: ResumePort): number => kMin ?? (kMax === null ? 1 : kMax / 2);

/** LHCNP §5.5.1: only a reduction can be reverted. */
const slowsDown = ({ action }: SentNotification): boolean => action === 'pause' || action === 'rate-reduce';

export class ResumeMachine {
  readonly #count: Count;
  readonly #claim: ClaimResume;
  #ports = new Map<number, Port>();
  /** By flow; the one notified longest ago first. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(dependencies: { readonly count: Count; readonly claim: ClaimResume }) {
    this.#count = dependencies.count;
    this.#claim = dependencies.claim;
  }

  /** Sets all monitored ports. Senders that wait at other ports are forgotten. */
  configure(plans: Iterable<ResumePort>): void {
    const before = this.#ports;
    this.#ports = new Map([...plans].map((plan) => [plan.ifindex, configured(plan, before.get(plan.ifindex))]));
    for (const [key, { flow }] of this.#waiting)
      if (!this.#ports.has(flow.ifindex)) this.#forget(key, 'congestion.resume.port-gone');
  }

  /**
   * A notification was sent. It shows that its port is still congested. If it slows its sender down, that sender waits
   * for a Resume.
   * @param now monotonic milliseconds, here and below
   */
  notified(notification: SentNotification, now: number): void {
    const port = this.#ports.get(notification.ifindex);
    if (!port) return;
    port.lowSince = undefined;
    if (slowsDown(notification)) this.wait(notification, now);
  }

  /** A sender that waits. */
  wait(flow: NotifiedFlow, now: number): void {
    if (!this.#ports.has(flow.ifindex)) return;
    const key = notifiedFlowKey(flow);
    this.#waiting.delete(key);
    this.#waiting.set(key, { flow, notifiedAt: now });
    if (this.#waiting.size > MOST_WAITING)
      this.#forget(this.#waiting.keys().next().value!, 'congestion.resume.table-full');
  }

  /** Ports whose queue depth is needed, and in how many milliseconds; undefined: no sender waits. */
  nextSampling(now: number): { readonly ifindexes: readonly number[]; readonly inMs: number } | undefined {
    this.#expire(now);
    const ifindexes = [...new Set([...this.#waiting.values()].map(({ flow }) => flow.ifindex))];
    if (ifindexes.length === 0) return undefined;
    return { ifindexes, inMs: Math.min(...ifindexes.map((ifindex) => samplingMs(this.#ports.get(ifindex)!.plan))) };
  }

  /** Takes the depth of a port's queue at `now`, bytes. Senders in the returned orders wait no longer. */
  sample(ifindex: number, queueBytes: number, now: number): ResumeOrder[] {
    const port = this.#ports.get(ifindex);
    if (!port) return [];
    const low = this.#lowFor(port, queueBytes, now);
    if (low === undefined || low <= holdMs(port.plan)) return [];
    const orders: ResumeOrder[] = [];
    for (const [key, { flow }] of this.#waiting) {
      if (flow.ifindex !== ifindex) continue;
      const answer = this.#claim(flow);
      if (answer === 'port-unknown') break;
      if (answer !== 'granted') this.#count('congestion.resume.rate-limited');
      if (answer === 'port-waits') break;
      if (answer === 'flow-waits') continue;
      this.#waiting.delete(key);
      orders.push({ flow, queueBytes });
    }
    return orders;
  }

  /** Senders that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * For how long the queue has been low, ms; undefined: it is not. A pause in sampling is no evidence, unless samples
   * cannot come faster.
   */
  #lowFor(port: Port, queueBytes: number, now: number): number | undefined {
    const gap = now - (port.sampledAt ?? now);
    const pause = gap > Math.max(holdMs(port.plan), SAMPLES * samplingMs(port.plan), 2 * port.gap);
    [port.sampledAt, port.gap] = [now, gap];
    if (queueBytes >= lowBelow(port.plan)) port.lowSince = undefined;
    else if (port.lowSince === undefined || pause) port.lowSince = now;
    return port.lowSince === undefined ? undefined : now - port.lowSince;
  }

  #expire(now: number): void {
    for (const [key, { notifiedAt }] of this.#waiting) {
      if (now - notifiedAt <= WAIT_MS) return;
      this.#forget(key, 'congestion.resume.expired');
    }
  }

  #forget(key: string, counter: string): void {
    this.#waiting.delete(key);
    this.#count(counter);
  }
}

const configured = (plan: ResumePort, before: Port | undefined): Port =>
  before ? { ...before, plan } : { plan, lowSince: undefined, sampledAt: undefined, gap: 0 };
