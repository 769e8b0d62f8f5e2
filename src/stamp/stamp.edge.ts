// STAMP (RFC 8762) on sockets: cnpd's Session-Sender measures RTT_est of the ports (LHCNP §5.3.1); its rules are in
// prober.ts. The Session-Reflector (reflector.edge.ts) answers others. Both use only the router's loopback addresses,
// so one entry on an allow-list admits a router.
import { randomInt } from 'node:crypto';
import { type DatagramSocket, type Datagram, openUdpSocket } from '../kernel/datagram-socket.ts';
import type { KernelError } from '../kernel/errors.ts';
import { realtimeNs } from '../kernel/ffi/libc.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { type IpAddress, sameAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { RttState } from '../model/state.ts';
import { WallTime } from '../model/wall-time.ts';
import { STAMP_HOP_LIMIT, STAMP_TRAFFIC_CLASS, decodeAnswer, encodeProbe, probeTimestamp } from './messages.ts';
import { Prober } from './prober.ts';
import { Reflector, type ReflectorOptions } from './reflector.edge.ts';

/** The intent's section `stamp`, and the router's loopback addresses. `udpPort`: of all reflectors. */
export interface StampOptions extends ReflectorOptions {
  readonly intervalMs: number;
  readonly targets: readonly IpAddress[];
  /** Whether addresses handed to learned() are probed. */
  readonly learnTargets: boolean;
}

interface StampDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Pick<Rtnetlink, 'routeTo' | 'qdiscs'>;
  /** Undefined: no interface has that index. */
  readonly interfaceName: (ifindex: number) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  readonly netns?: Netns;
  /** RTT_est of some port has changed: port → milliseconds, for the plan's facts. */
  readonly onChange: (rttMs: ReadonlyMap<string, number>) => void;
}

export interface Stamp {
  /** Sets the router addresses learned from the carriers: the whole list, at most some thousand. */
  learned(routerAddresses: readonly IpAddress[]): void;
  configure(opts: StampOptions): void;
  /** Port → RTT_est, milliseconds. */
  readonly rttMs: ReadonlyMap<string, number>;
  state(): RttState[];
  /** Problems for `cnpctl show status`. */
  problems(): Problem[];
  stop(): void;
}

/** Never throws: a socket that cannot be opened is a problem, and is tried again. */
export function startStamp(opts: StampOptions, dependencies: StampDependencies): Stamp {
  const stamp = new RunningStamp(opts, dependencies);
  stamp.configure(opts);
  return stamp;
}

class RunningStamp implements Stamp {
  readonly #dependencies: StampDependencies;
  readonly #wallTime: WallTime;
  readonly #prober: Prober;
  readonly #reflector: Reflector;
  #opts: StampOptions;
  #learned: readonly IpAddress[] = [];
  readonly #senders = new Map<4 | 6, DatagramSocket>();
  readonly #senderErrors = new Map<4 | 6, string>();
  #cancelProbe: (() => void) | undefined;
  #stopped = false;

  constructor(opts: StampOptions, dependencies: StampDependencies) {
    this.#dependencies = dependencies;
    this.#opts = opts;
    this.#wallTime = new WallTime(dependencies.clock, Date.now);
    this.#prober = new Prober(opts, dependencies);
    this.#reflector = new Reflector(opts, {
      ...dependencies,
      onSocketError: (error) => this.#socketError(error),
    });
  }

  get rttMs(): ReadonlyMap<string, number> {
    return this.#prober.rttMs;
  }

  configure(opts: StampOptions): void {
    const before = this.#opts;
    this.#opts = opts;
    const sameAddresses =
      opts.loopbacks.length === before.loopbacks.length &&
      opts.loopbacks.every((a, i) => sameAddress(a, before.loopbacks[i]!));
    if (!sameAddresses || opts.udpPort !== before.udpPort || opts.reflector !== before.reflector) this.#closeSockets();
    this.#prober.configure(opts);
    this.#reflector.configure(opts);
    this.#chooseTargets();
  }

  learned(routerAddresses: readonly IpAddress[]): void {
    this.#learned = routerAddresses;
    if (this.#opts.learnTargets) this.#chooseTargets();
  }

  state(): RttState[] {
    return this.#prober.state((at) => this.#wallTime.iso(at));
  }

  problems(): Problem[] {
    const senders = [...this.#senderErrors].map(([family, error]) => ({
      code: 'stamp.no-probes' as const,
      feature: 'stamp',
      problem: `no RTT can be probed over IPv${family}: ${error}`,
      remedy: `check router.loopback.ipv${family}, from which probes are sent; cnpd tries again with every probe`,
    }));
    return [...this.#reflector.problems(), ...senders];
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe?.();
    this.#closeSockets();
  }

  #closeSockets(): void {
    this.#reflector.close();
    for (const socket of this.#senders.values()) socket.close();
    this.#senders.clear();
    this.#senderErrors.clear();
  }

  #chooseTargets(): void {
    const { targets, learnTargets, loopbacks } = this.#opts;
    const foreign = (list: readonly IpAddress[]): IpAddress[] =>
      list.filter((a) => !loopbacks.some((own) => sameAddress(own, a)));
    this.#prober.setTargets(foreign(targets), learnTargets ? foreign(this.#learned) : []);
    this.#evaluate();
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    const inMs = this.#stopped ? undefined : this.#prober.nextDueIn();
    if (inMs === undefined) return;
    this.#cancelProbe = this.#dependencies.clock.after(inMs, () => {
      for (const target of this.#prober.due()) void this.#probe(target);
      this.#evaluate();
      this.#schedule();
    });
  }

  /** Never rejects. */
  async #probe(target: IpAddress): Promise<void> {
    const { rtnetlink, interfaceName, count } = this.#dependencies;
    const route = await rtnetlink.routeTo(target).catch(() => undefined);
    if (this.#stopped) return;
    const port = route?.ifindex === undefined ? undefined : interfaceName(route.ifindex);
    this.#prober.routed(target, port ?? null);
    if (port === undefined) return count('stamp.prober.no-route');
    const queueNs = await this.#queueNs(route!.ifindex!);
    if (this.#stopped) return;
    try {
      const socket = this.#sender(target.family);
      const sentNs = realtimeNs();
      const timestamp = probeTimestamp(sentNs, randomInt(0x1_0000_0000));
      const sequence = this.#prober.sent(target, timestamp, sentNs, queueNs);
      if (sequence !== undefined)
        socket.send(encodeProbe(sequence, timestamp, this.#opts.key), { address: target, port: this.#opts.udpPort });
      this.#senderErrors.delete(target.family);
    } catch (error) {
      count('stamp.prober.send-failed');
      this.#senderErrors.set(target.family, messageOf(error));
    }
  }

  /**
   * Time until the interface's queue has drained, nanoseconds. 0: it is empty; null: unknown, since only a TBF has a
   * known rate. A queue that cannot be read counts as empty.
   */
  async #queueNs(ifindex: number): Promise<bigint | null> {
    try {
      const qdiscs = await this.#dependencies.rtnetlink.qdiscs(ifindex);
      if (!qdiscs.some(({ stats }) => stats.backlogBytes > 0)) return 0n;
      const root = qdiscs.find((qdisc) => qdisc.parent === TC_H.ROOT);
      return root?.tbf && root.tbf.rate > 0n
        ? (BigInt(root.stats.backlogBytes) * 1_000_000_000n) / root.tbf.rate
        : null;
    } catch {
      this.#dependencies.count('stamp.prober.queue-unreadable');
      return 0n;
    }
  }

  #sender(family: 4 | 6): DatagramSocket {
    const open = this.#senders.get(family);
    if (open) return open;
    const own = this.#opts.loopbacks.find((a) => a.family === family);
    const socket = openUdpSocket(
      {
        family,
        netns: this.#dependencies.netns,
        bind: own && { address: own, port: 0 },
        hopLimit: STAMP_HOP_LIMIT,
        trafficClass: STAMP_TRAFFIC_CLASS,
      },
      {
        poller: this.#dependencies.poller,
        onDatagram: (datagram) => this.#answered(datagram),
        onError: (error) => this.#socketError(error),
      },
    );
    this.#senders.set(family, socket);
    return socket;
  }

  #answered({ data, from, receivedNs }: Datagram): void {
    if (from.port !== this.#opts.udpPort) return this.#dependencies.count('stamp.prober.unknown-source');
    const answer = decodeAnswer(data, this.#opts.key);
    if (!answer.ok) return this.#dependencies.count(`stamp.prober.${answer.error.code}`);
    this.#prober.answered(from.address, answer.value, receivedNs ?? realtimeNs());
    this.#evaluate();
  }

  #evaluate(): void {
    if (!this.#prober.evaluate()) return;
    this.#dependencies.log.info({ rttMs: Object.fromEntries(this.rttMs) }, 'RTT of the ports');
    this.#dependencies.onChange(this.rttMs);
  }

  #socketError(error: KernelError): void {
    this.#dependencies.count('stamp.socket-error');
    this.#dependencies.log.debug({ error: error.message }, 'a STAMP socket reported an error');
  }
}
