// The Session-Sender of STAMP (RFC 8762 §4.2) as a pure machine: when to probe which target, which answer belongs to
// which probe, and the resulting RTT. One session per target (LHCNP-5.3.1-e), identified by the reflector's address;
// sequence numbers begin at 0. Time is handed in: `now` in monotonic milliseconds for deadlines, wall-clock nanoseconds
// for measurements. Sockets and route look-ups are in stamp.edge.ts.
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import type { RttState } from '../model/state.ts';
import { PortRtt, type TargetRtt } from './port-rtt.ts';
import { RttEstimator } from './rtt-estimator.ts';
import { type Candidate, TargetSet } from './targets.ts';

/**
 * Unanswered probes after which the interval doubles. Each further unanswered probe doubles it again, up to 64 times.
 */
const PATIENCE = 3;
const MOST_DOUBLINGS = 6;
/** Probes without any answer after which a waiting target replaces a learned one. */
const GIVE_UP = 6;
/** A probe without an answer by then is lost; a path around the earth twice is not that long. Milliseconds. */
export const LOST_MS = 10_000;
const MOST_OUTSTANDING = 16;
/** An estimate outlives its target's silence by this: a reflector that restarts does not change K_max. Milliseconds. */
export const ESTIMATE_HOLD_MS = 300_000;

/** What an answer says, whatever its mode. */
export interface ProbeAnswer {
  /** The probe's own sequence number and timestamp, as they came back. */
  readonly senderSequence: number;
  readonly senderTimestamp: bigint;
  /** How long the reflector had it, by its clock, nanoseconds. */
  readonly heldNs: bigint;
}

interface Outstanding {
  readonly sequence: number;
  /** The NTP timestamp that was sent. */
  readonly timestamp: bigint;
  readonly sentNs: bigint;
  /**
   * Time that the bytes ahead of it in the port's own queue take, nanoseconds; null: there were some, of unknown
   * length.
   */
  readonly queueNs: bigint | null;
  readonly at: number;
}

interface Session extends Candidate {
  readonly estimator: RttEstimator;
  readonly outstanding: Outstanding[];
  port: string | null;
  /** The port whose path the estimate is of; it survives a time without a route. */
  measured: string | null;
  sequence: number;
  sent: number;
  received: number;
  /** Probes since the last answer. */
  silent: number;
  /** Monotonic milliseconds. */
  dueAt: number;
  lastAnswerAt: number | undefined;
}

interface ProberOptions {
  readonly intervalMs: number;
}

export class Prober {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #count: Count;
  readonly #targets = new TargetSet();
  readonly #sessions = new Map<string, Session>();
  readonly #ports = new PortRtt();
  #intervalMs: number;

  constructor(opts: ProberOptions, dependencies: { readonly clock: Pick<Clock, 'now'>; readonly count: Count }) {
    this.#intervalMs = opts.intervalMs;
    this.#clock = dependencies.clock;
    this.#count = dependencies.count;
  }

  configure({ intervalMs }: ProberOptions): void {
    this.#intervalMs = intervalMs;
    const latest = this.#clock.now() + intervalMs;
    for (const session of this.#sessions.values()) session.dueAt = Math.min(session.dueAt, latest);
  }

  setTargets(configured: readonly IpAddress[], learned: readonly IpAddress[]): void {
    const { added, removed } = this.#targets.replace(configured, learned);
    for (const address of removed) this.#sessions.delete(formatAddress(address));
    for (const [i, candidate] of added.entries()) this.#begin(candidate, (i * this.#intervalMs) / added.length);
  }

  /** Targets to be probed now. Each is due again later, however this probe goes. */
  due(): IpAddress[] {
    const now = this.#clock.now();
    const due: IpAddress[] = [];
    // A copy: a target may be replaced by another.
    for (const session of [...this.#sessions.values()]) {
      if (session.dueAt > now) continue;
      this.#forgetLost(session, now);
      if (session.received === 0 && session.silent >= GIVE_UP && this.#makeRoom(session)) continue;
      session.dueAt = now + this.#intervalMs * 2 ** Math.min(Math.max(0, session.silent - PATIENCE), MOST_DOUBLINGS);
      due.push(session.address);
    }
    return due;
  }

  /** Milliseconds until something is due; undefined: never. */
  nextDueIn(): number | undefined {
    const next = Math.min(...[...this.#sessions.values()].map((session) => session.dueAt));
    return next === Infinity ? undefined : Math.max(0, next - this.#clock.now());
  }

  /** Sets the interface through which the target is reached; null: none. A new path begins a new estimate. */
  routed(target: IpAddress, port: string | null): void {
    const session = this.#sessions.get(formatAddress(target));
    if (!session) return;
    // No probe will leave; it counts as one that was not answered.
    if (port === null) session.silent++;
    session.port = port;
    if (port === null || port === session.measured) return;
    session.estimator.restart();
    session.outstanding.length = 0;
    session.measured = port;
  }

  /**
   * A probe leaves. Returns its sequence number; undefined: the target no longer exists.
   * @param timestamp the NTP timestamp in it
   * @param sentNs the same time, nanoseconds
   * @param queueNs time that the bytes ahead of it in the port's own queue take; null: there are some, of unknown
   *   length
   */
  sent(target: IpAddress, timestamp: bigint, sentNs: bigint, queueNs: bigint | null = 0n): number | undefined {
    const session = this.#sessions.get(formatAddress(target));
    if (!session) return undefined;
    const { sequence } = session;
    session.sequence = (sequence + 1) >>> 0;
    session.sent++;
    session.silent++;
    session.outstanding.push({ sequence, timestamp, sentNs, queueNs, at: this.#clock.now() });
    if (session.outstanding.length > MOST_OUTSTANDING) this.#lose(session);
    this.#count('stamp.prober.sent');
    return sequence;
  }

  /** An answer came from `from` at `receivedNs` (wall clock). Answers to none of our probes are counted and ignored. */
  answered(from: IpAddress, answer: ProbeAnswer, receivedNs: bigint): void {
    const session = this.#sessions.get(formatAddress(from));
    if (!session) return this.#count('stamp.prober.unknown-source');
    const at = session.outstanding.findIndex(
      (probe) => probe.sequence === answer.senderSequence && probe.timestamp === answer.senderTimestamp,
    );
    if (at < 0) return this.#count('stamp.prober.unexpected');
    const [probe] = session.outstanding.splice(at, 1);
    session.received++;
    session.silent = 0;
    session.lastAnswerAt = this.#clock.now();
    // While silent it was probed rarely: no longer.
    session.dueAt = Math.min(session.dueAt, session.lastAnswerAt + this.#intervalMs);
    this.#count('stamp.prober.received');
    const rttNs = receivedNs - probe!.sentNs - answer.heldNs;
    // A reflector that claims to have had it for longer than it was under way, or a clock that was set meanwhile.
    if (answer.heldNs < 0n || rttNs <= 0n || rttNs > BigInt(LOST_MS) * 1_000_000n)
      return this.#count('stamp.prober.bad-times');
    const rttMs = Number(rttNs) / 1e6;
    const estimate = session.estimator.smoothedMs;
    // K_max grows with RTT_est: if a standing queue were included in the measurement, it would never exceed the
    // threshold that it has raised. Without the queue's own time a first estimate is better than none. Where that time
    // is unknown it is not (K_base is right until the queue is empty once). A sample shorter than an estimate is nearer
    // to the path.
    const { queueNs } = probe!;
    if (queueNs !== 0n && estimate === undefined) {
      if (queueNs === null || queueNs >= rttNs) return this.#count('stamp.prober.own-queue');
      return session.estimator.add(Number(rttNs - queueNs) / 1e6);
    }
    if (queueNs !== 0n && rttMs >= estimate!) return this.#count('stamp.prober.own-queue');
    session.estimator.add(rttMs);
  }

  /** Recomputes RTT_est of the ports. Returns whether any has changed. */
  evaluate(): boolean {
    const now = this.#clock.now();
    const targets = [...this.#sessions.values()].flatMap(({ port, estimator, lastAnswerAt }): TargetRtt[] => {
      const rttMs = estimator.smoothedMs;
      return port === null || rttMs === undefined || lastAnswerAt === undefined || now - lastAnswerAt > ESTIMATE_HOLD_MS
        ? []
        : [{ port, rttMs }];
    });
    return this.#ports.update(targets);
  }

  /** Port → RTT_est, milliseconds. */
  get rttMs(): ReadonlyMap<string, number> {
    return this.#ports.values;
  }

  /** @param timeOfDay turns monotonic milliseconds into RFC 3339 */
  state(timeOfDay: (at: number) => string): RttState[] {
    return [...this.#sessions].map(([target, session]) => ({
      target,
      port: session.port,
      source: session.source,
      sent: session.sent,
      received: session.received,
      rttMs: session.estimator.smoothedMs ?? null,
      minRttMs: session.estimator.leastMs ?? null,
      lastAnswer: session.lastAnswerAt === undefined ? null : timeOfDay(session.lastAnswerAt),
    }));
  }

  #begin(candidate: Candidate, delayMs: number): void {
    this.#sessions.set(formatAddress(candidate.address), {
      ...candidate,
      estimator: new RttEstimator(),
      outstanding: [],
      port: null,
      measured: null,
      sequence: 0,
      sent: 0,
      received: 0,
      silent: 0,
      dueAt: this.#clock.now() + delayMs,
      lastAnswerAt: undefined,
    });
  }

  #makeRoom(session: Session): boolean {
    const next = this.#targets.yieldPlace(session.address);
    if (!next) return false;
    this.#sessions.delete(formatAddress(session.address));
    this.#begin(next, 0);
    this.#count('stamp.prober.made-room');
    return true;
  }

  #forgetLost(session: Session, now: number): void {
    while (session.outstanding.length > 0 && now - session.outstanding[0]!.at > LOST_MS) this.#lose(session);
  }

  #lose(session: Session): void {
    session.outstanding.shift();
    this.#count('stamp.prober.lost');
  }
}
