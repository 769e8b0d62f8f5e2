// The agent's part in congestion once the programs have notified a sender. It remembers what was sent, sends Resume
// when the queue has drained (resume.ts), and listens to hosts that refuse a Fast CNP (refusals.ts). It reads the depth
// of queues only while a sender waits for a Resume.
import { openIcmpv6Socket, type DatagramSocket } from '../kernel/datagram-socket.ts';
import { realtimeNs } from '../kernel/ffi/libc.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { type RawSocket, openRawSocket } from '../kernel/raw-socket.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import { History, type Numbered } from '../model/history.ts';
import type { Count, Log } from '../model/log.ts';
import type { LongHaulAction, NotificationFormat, SentNotification } from '../model/notification.ts';
import { PARAMETER_PROBLEM } from '../packet/icmpv6/parameter-problem.ts';
import { ntpFromUnixNs } from '../packet/ntp.ts';
import { Refusals, type RefusalSettings } from './refusals.ts';
import { type LongHaulSettings, type ResumeInstruction, buildResume } from './resume-packet.ts';
import {
  type ClaimResume,
  ResumeMachine,
  WAIT_MS,
  type ResumeOrder,
  type ResumePort,
  type NotifiedFlow,
} from './resume.ts';

/** The plan's notifier and ports, and the intent's Resume. */
export interface CongestionSettings extends LongHaulSettings, RefusalSettings {
  readonly ports: readonly ResumePort[];
  readonly resume: ResumeInstruction;
}

export interface CongestionDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Pick<Rtnetlink, 'qdiscs'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  readonly netns?: Netns;
  /** Whether a Resume may be sent to this flow's sender now; takes its tokens. @throws KernelError */
  readonly claimResume: ClaimResume;
  /**
   * A host has shown that it does not understand a format. Called on each such message; returns whether this is new.
   */
  readonly onRefusal: (host: IpAddress, format: NotificationFormat) => boolean;
}

/** A flow of the program's table, with the last instruction to its sender. */
interface FlowWithHistory extends Pick<
  NotifiedFlow,
  'source' | 'destination' | 'destinationQpn' | 'datagram' | 'ifindex'
> {
  readonly lastNotification:
    | (Pick<NotifiedFlow, 'format' | 'sourceQpn' | 'endCon' | 'sourcePort' | 'pkey'> & {
        readonly atNs: bigint;
        readonly action: LongHaulAction | null;
      })
    | null;
}

export interface CongestionLoop {
  /** The program has sent a notification; perhaps some time ago, before this run began to listen. */
  notified(notification: SentNotification): void;
  /**
   * After a restart: senders that were slowed down a moment ago and not resumed since, according to the program's
   * table.
   */
  adopt(flows: Iterable<FlowWithHistory>): void;
  /** After every re-plan. */
  configure(settings: CongestionSettings): void;
  /** The newest first. */
  notifications(): readonly Numbered<SentNotification>[];
  stop(): void;
}

/**
 * A record that waited in the ring longer than this goes into the history only: the flow table knows better who is
 * still slowed down (adopt).
 */
const FRESH_NS = 5_000_000_000n;
/**
 * Reading the qdiscs of a router with hundreds of interfaces takes milliseconds. Between readings, at least this many
 * times as long passes.
 */
const READING_REST = 10;
const isOld = (atNs: bigint): boolean => process.hrtime.bigint() - atNs > FRESH_NS;
/** A sender that was notified so long ago has recovered by itself. */
const isOver = (atNs: bigint): boolean => process.hrtime.bigint() - atNs > BigInt(WAIT_MS) * 1_000_000n;

/** @throws KernelError EPERM: the ICMPv6 socket is not allowed */
export function createCongestionLoop(
  settings: CongestionSettings,
  dependencies: CongestionDependencies,
): CongestionLoop {
  const loop = new RunningLoop(settings, dependencies);
  loop.configure(settings);
  return loop;
}

class RunningLoop implements CongestionLoop {
  readonly #dependencies: CongestionDependencies;
  readonly #history = new History<SentNotification>();
  readonly #resume: ResumeMachine;
  readonly #refusals: Refusals;
  readonly #raw = new Map<4 | 6, RawSocket>();
  #settings: CongestionSettings;
  #icmp: DatagramSocket | undefined;
  #cancelSampling: (() => void) | undefined;
  /** A reading of the queues is under way; the next one is scheduled when it is done. */
  #sampling = false;
  /** How long the last one took, milliseconds. */
  #readingMs = 0;
  #stopped = false;

  constructor(settings: CongestionSettings, dependencies: CongestionDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#resume = new ResumeMachine({ count: dependencies.count, claim: dependencies.claimResume });
    this.#refusals = new Refusals(settings, dependencies.clock.now());
  }

  configure(settings: CongestionSettings): void {
    this.#settings = settings;
    this.#resume.configure(settings.ports);
    this.#refusals.configure(settings);
    const listening = settings.fastCnp !== undefined && settings.source6 !== null;
    if (listening) this.#icmp ??= this.#listen();
    else this.#closeIcmp();
  }

  notified(notification: SentNotification): void {
    const now = this.#dependencies.clock.now();
    this.#history.add(notification);
    if (isOld(notification.atNs)) return;
    this.#refusals.notified(notification, now);
    this.#resume.notified(notification, now);
    this.#schedule();
  }

  adopt(flows: Iterable<FlowWithHistory>): void {
    const now = this.#dependencies.clock.now();
    for (const { lastNotification: last, ...flow } of flows) {
      if (!last || isOver(last.atNs)) continue;
      if (last.action === 'pause' || last.action === 'rate-reduce') this.#resume.wait({ ...flow, ...last }, now);
    }
    this.#schedule();
  }

  notifications(): readonly Numbered<SentNotification>[] {
    return [...this.#history.latest()];
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelSampling?.();
    this.#closeIcmp();
    for (const socket of this.#raw.values()) socket.close();
    this.#raw.clear();
  }

  #schedule(): void {
    if (this.#stopped || this.#sampling || this.#cancelSampling) return;
    const sampling = this.#resume.nextSampling(this.#dependencies.clock.now());
    if (!sampling) return;
    const inMs = Math.max(sampling.inMs, READING_REST * this.#readingMs);
    this.#cancelSampling = this.#dependencies.clock.after(inMs, () => {
      this.#cancelSampling = undefined;
      this.#sampling = true;
      void this.#sample(new Set(sampling.ifindexes)).finally(() => {
        this.#sampling = false;
        this.#schedule();
      });
    });
  }

  /** Never rejects. */
  async #sample(ifindexes: ReadonlySet<number>): Promise<void> {
    const { rtnetlink, clock, count, log } = this.#dependencies;
    const startedAt = clock.now();
    try {
      const qdiscs = await rtnetlink.qdiscs();
      this.#readingMs = clock.now() - startedAt;
      const roots = qdiscs.filter((qdisc) => qdisc.parent === TC_H.ROOT && ifindexes.has(qdisc.ifindex));
      if (this.#stopped) return;
      for (const { ifindex, stats } of roots)
        for (const order of this.#resume.sample(ifindex, stats.backlogBytes, clock.now())) this.#send(order);
    } catch (error) {
      count('congestion.resume.queue-unreadable');
      log.warn({ error: messageOf(error) }, 'cannot read the queues; senders wait longer for their Resume');
    }
  }

  #send(order: ResumeOrder): void {
    const { count, log } = this.#dependencies;
    const { flow, queueBytes } = order;
    const { level, parameter } = this.#settings.resume;
    try {
      const packet = buildResume(order, this.#settings.resume, this.#settings, ntpFromUnixNs(realtimeNs()));
      if (!packet) return count('congestion.resume.not-set-up');
      this.#rawSocket(packet[0]! >>> 4 === 4 ? 4 : 6).send(packet);
    } catch (error) {
      count('congestion.resume.send-failed');
      log.debug(
        { error: messageOf(error), sender: formatAddress(flow.source) },
        'cannot send a Resume; its sender recovers by itself',
      );
      return;
    }
    count('congestion.resume.sent');
    this.#history.add({
      ...flow,
      atNs: process.hrtime.bigint(),
      reason: 'resume',
      action: 'resume',
      level,
      parameter,
      queueBytes,
    });
  }

  #rawSocket(family: 4 | 6): RawSocket {
    const socket = this.#raw.get(family) ?? openRawSocket({ family, netns: this.#dependencies.netns });
    this.#raw.set(family, socket);
    return socket;
  }

  #listen(): DatagramSocket {
    const { poller, netns, clock, count, log, reversePath, onRefusal } = this.#dependencies;
    return openIcmpv6Socket(
      { netns, types: [PARAMETER_PROBLEM] },
      {
        poller,
        onDatagram: ({ data, from, ifindex }) => {
          const refusal = this.#refusals.parameterProblem(from.address, data, clock.now());
          if (!refusal.ok) return count(`congestion.parameter-problem.${refusal.error}`);
          const { host, sentTo } = refusal.value;
          if (reversePath.refuses(sentTo, ifindex)) return count('congestion.parameter-problem.reverse-path');
          count('congestion.parameter-problem.believed');
          if (onRefusal(host, 'fast-cnp'))
            log.info({ host: formatAddress(host) }, 'the host does not understand Fast CNP');
        },
        onError: (error) => {
          count('congestion.parameter-problem.socket-error');
          log.debug({ error: error.message }, 'the ICMPv6 socket reported an error');
        },
      },
    );
  }

  #closeIcmp(): void {
    this.#icmp?.close();
    this.#icmp = undefined;
  }
}
