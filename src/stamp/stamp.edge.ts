// STAMP (RFC 8762) on sockets: cnpd's Session-Sender measures RTT_est of the ports (LHCNP §5.3.1), its
// Session-Reflector answers others. The rules are in prober.ts and admission.ts. Both use the router's loopback
// addresses: probes come from one, so that one entry on an allow-list admits a router, and the reflector listens on
// nothing else.
import { randomInt } from 'node:crypto';
import { type DatagramSocket, type Datagram, openUdpSocket } from '../kernel/datagram-socket.ts';
import type { KernelError } from '../kernel/errors.ts';
import { realtimeNs } from '../kernel/ffi/libc.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import type { RttState } from '../model/state.ts';
import { Admission } from './admission.ts';
import {
  STAMP_HOP_LIMIT,
  STAMP_TRAFFIC_CLASS,
  answerProbe,
  decodeAnswer,
  encodeProbe,
  probeTimestamp,
} from './messages.ts';
import { Prober } from './prober.ts';

/** The intent's section `stamp`, and the router's loopback addresses. */
export interface StampOptions {
  /** At most one per family. */
  readonly loopbacks: readonly IpAddress[];
  readonly reflector: boolean;
  readonly acceptFrom: readonly Prefix[];
  /** Of the reflectors, ours and the others'. */
  readonly udpPort: number;
  readonly intervalMs: number;
  readonly targets: readonly IpAddress[];
  /** Whether addresses handed to learned() are probed. */
  readonly learnTargets: boolean;
  /** Authenticated mode, at both ends. */
  readonly key?: Uint8Array;
}

interface StampModules {
  readonly poller: Poller;
  readonly rtnetlink: Pick<Rtnetlink, 'routeTo' | 'qdiscs'>;
  /** Undefined: there is none of that index. */
  readonly interfaceName: (ifindex: number) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  readonly netns?: Netns;
  /** RTT_est of some port is another: port → milliseconds, for the facts that plan sees. */
  readonly onChange: (rttMs: ReadonlyMap<string, number>) => void;
}

export interface Stamp {
  /** Router addresses that the IGP has taught: the whole list, at most some thousand. */
  learned(routerAddresses: readonly IpAddress[]): void;
  configure(opts: StampOptions): void;
  /** Port → RTT_est, milliseconds. */
  readonly rttMs: ReadonlyMap<string, number>;
  state(): RttState[];
  /** What does not work, for `cnpctl show status`. */
  problems(): Problem[];
  stop(): void;
}

/** A reflector that could not be opened is tried again. */
const RETRY_MS = 10_000;

/** Never throws: what cannot be opened is a problem, and is tried again. */
export function startStamp(opts: StampOptions, modules: StampModules): Stamp {
  const stamp = new RunningStamp(opts, modules);
  stamp.configure(opts);
  return stamp;
}

class RunningStamp implements Stamp {
  readonly #modules: StampModules;
  readonly #prober: Prober;
  readonly #admission: Admission;
  #opts: StampOptions;
  #learned: readonly IpAddress[] = [];
  /** By address text of the loopback. */
  readonly #reflectors = new Map<string, DatagramSocket>();
  readonly #reflectorErrors = new Map<string, string>();
  readonly #senders = new Map<4 | 6, DatagramSocket>();
  readonly #senderErrors = new Map<4 | 6, string>();
  #cancelProbe: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;

  constructor(opts: StampOptions, modules: StampModules) {
    this.#modules = modules;
    this.#opts = opts;
    this.#prober = new Prober(opts, modules);
    this.#admission = new Admission(opts, modules.clock.now());
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
    this.#admission.configure(opts);
    this.#prober.configure(opts);
    if (opts.reflector) this.#openReflectors();
    this.#chooseTargets();
  }

  learned(routerAddresses: readonly IpAddress[]): void {
    this.#learned = routerAddresses;
    if (this.#opts.learnTargets) this.#chooseTargets();
  }

  state(): RttState[] {
    const { clock } = this.#modules;
    return this.#prober.state((at) => new Date(Date.now() - (clock.now() - at)).toISOString());
  }

  problems(): Problem[] {
    const reflectors = [...this.#reflectorErrors].map(([address, error]) => ({
      code: 'stamp.no-reflector' as const,
      feature: 'stamp',
      problem: `the STAMP reflector cannot listen on ${address}: ${error}`,
      remedy: `find what else uses the port with \`ss -ulnp sport = :${this.#opts.udpPort}\`, or change stamp.port`,
    }));
    const senders = [...this.#senderErrors].map(([family, error]) => ({
      code: 'stamp.no-probes' as const,
      feature: 'stamp',
      problem: `no RTT can be probed over IPv${family}: ${error}`,
      remedy: `check router.loopback.ipv${family}, from which probes are sent; cnpd tries again with every probe`,
    }));
    return [...reflectors, ...senders];
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe?.();
    this.#closeSockets();
  }

  #closeSockets(): void {
    this.#cancelRetry?.();
    for (const sockets of [this.#reflectors, this.#senders]) {
      for (const socket of sockets.values()) socket.close();
      sockets.clear();
    }
    this.#reflectorErrors.clear();
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
    this.#cancelProbe = this.#modules.clock.after(inMs, () => {
      for (const target of this.#prober.due()) void this.#probe(target);
      this.#evaluate();
      this.#schedule();
    });
  }

  /** Never rejects. */
  async #probe(target: IpAddress): Promise<void> {
    const { rtnetlink, interfaceName, count } = this.#modules;
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
   * How long what waits at the interface takes to leave: 0 when nothing does, null when only a TBF would say how fast
   * it leaves. A queue that cannot be read is taken to be empty, as one that nobody watches.
   */
  async #queueNs(ifindex: number): Promise<bigint | null> {
    try {
      const qdiscs = await this.#modules.rtnetlink.qdiscs(ifindex);
      if (!qdiscs.some(({ stats }) => stats.backlogBytes > 0)) return 0n;
      const root = qdiscs.find((qdisc) => qdisc.parent === TC_H.ROOT);
      return root?.tbf && root.tbf.rate > 0n
        ? (BigInt(root.stats.backlogBytes) * 1_000_000_000n) / root.tbf.rate
        : null;
    } catch {
      this.#modules.count('stamp.prober.queue-unreadable');
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
        netns: this.#modules.netns,
        bind: own && { address: own, port: 0 },
        hopLimit: STAMP_HOP_LIMIT,
        trafficClass: STAMP_TRAFFIC_CLASS,
      },
      {
        poller: this.#modules.poller,
        onDatagram: (datagram) => this.#answered(datagram),
        onError: (error) => this.#socketError(error),
      },
    );
    this.#senders.set(family, socket);
    return socket;
  }

  #answered({ data, from, receivedNs }: Datagram): void {
    if (from.port !== this.#opts.udpPort) return this.#modules.count('stamp.prober.unknown-source');
    const answer = decodeAnswer(data, this.#opts.key);
    if (!answer.ok) return this.#modules.count(`stamp.prober.${answer.error.code}`);
    this.#prober.answered(from.address, answer.value, receivedNs ?? realtimeNs());
    this.#evaluate();
  }

  #evaluate(): void {
    if (!this.#prober.evaluate()) return;
    this.#modules.log.info({ rttMs: Object.fromEntries(this.rttMs) }, 'RTT of the ports');
    this.#modules.onChange(this.rttMs);
  }

  #openReflectors(): void {
    this.#cancelRetry?.();
    for (const address of this.#opts.loopbacks) {
      const name = formatAddress(address);
      if (this.#reflectors.has(name)) continue;
      try {
        const bind = { address, port: this.#opts.udpPort };
        const options = {
          family: address.family,
          netns: this.#modules.netns,
          bind,
          freebind: true,
          hopLimit: STAMP_HOP_LIMIT,
          trafficClass: STAMP_TRAFFIC_CLASS,
        };
        const reflect = (datagram: Datagram): void => this.#reflect(socket, datagram);
        const socket = openUdpSocket(options, {
          poller: this.#modules.poller,
          onDatagram: reflect,
          onError: (error) => this.#socketError(error),
        });
        this.#reflectors.set(name, socket);
        this.#reflectorErrors.delete(name);
      } catch (error) {
        if (!this.#reflectorErrors.has(name))
          this.#modules.log.warn(
            { address: name, error: messageOf(error) },
            'the STAMP reflector cannot listen; will try again',
          );
        this.#reflectorErrors.set(name, messageOf(error));
      }
    }
    if (this.#reflectorErrors.size > 0)
      this.#cancelRetry = this.#modules.clock.after(RETRY_MS, () => this.#openReflectors());
  }

  #reflect(socket: DatagramSocket, { data, from, hopLimit, receivedNs, ifindex }: Datagram): void {
    const { count, clock, reversePath } = this.#modules;
    const refusal = this.#admission.refusal(from.address, from.port);
    if (refusal) return count(`stamp.reflector.${refusal}`);
    const answer = answerProbe(data, { receivedNs: receivedNs ?? realtimeNs(), hopLimit }, realtimeNs, this.#opts.key);
    if (!answer.ok) return count(`stamp.reflector.${answer.error.code}`);
    // After the HMAC: who does not have the key costs no look-up. Answers to our own probes are not asked about: they
    // name a number that only who saw the probe knows, and may come another way.
    if (reversePath.refuses(from.address, ifindex)) return count('stamp.reflector.reverse-path');
    if (!this.#admission.take(from.address, clock.now())) return count('stamp.reflector.rate-limited');
    try {
      socket.send(answer.value, from);
      count('stamp.reflector.answered');
    } catch {
      // No route back to the sender, or the buffer is full: it will probe again.
      count('stamp.reflector.send-failed');
    }
  }

  #socketError(error: KernelError): void {
    this.#modules.count('stamp.socket-error');
    this.#modules.log.debug({ error: error.message }, 'a STAMP socket reported an error');
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
