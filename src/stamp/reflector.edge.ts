// The Session-Reflector on sockets (RFC 8762 §4.3): it listens at the router's loopback addresses and answers probes
// that admission.ts accepts. An address at which it cannot listen is a problem, and is tried again.
import { type Datagram, type DatagramSocket, openUdpSocket } from '../kernel/datagram-socket.ts';
import type { KernelError } from '../kernel/errors.ts';
import { realtimeNs } from '../kernel/ffi/libc.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import { Admission } from './admission.ts';
import { STAMP_HOP_LIMIT, STAMP_TRAFFIC_CLASS, answerProbe } from './messages.ts';

export interface ReflectorOptions {
  readonly reflector: boolean;
  /** At most one per family. */
  readonly loopbacks: readonly IpAddress[];
  readonly acceptFrom: readonly Prefix[];
  readonly udpPort: number;
  /** Authenticated mode. */
  readonly key?: Uint8Array;
}

interface ReflectorDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  readonly netns?: Netns;
  readonly onSocketError: (error: KernelError) => void;
}

/** Time until an address is tried again. */
const RETRY_MS = 10_000;

export class Reflector {
  readonly #dependencies: ReflectorDependencies;
  readonly #admission: Admission;
  #options: ReflectorOptions;
  /** By address text of the loopback. */
  readonly #sockets = new Map<string, DatagramSocket>();
  readonly #errors = new Map<string, string>();
  #cancelRetry: (() => void) | undefined;

  /** Opens nothing yet. */
  constructor(options: ReflectorOptions, dependencies: ReflectorDependencies) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#admission = new Admission(options, dependencies.clock.now());
  }

  /** Opens missing sockets. Close them first if their addresses or their port have changed. Never throws. */
  configure(options: ReflectorOptions): void {
    this.#options = options;
    this.#admission.configure(options);
    if (options.reflector) this.#open();
  }

  problems(): Problem[] {
    return [...this.#errors].map(([address, error]) => ({
      code: 'stamp.no-reflector' as const,
      feature: 'stamp',
      problem: `the STAMP reflector cannot listen on ${address}: ${error}`,
      remedy: `find what else uses the port with \`ss -ulnp sport = :${this.#options.udpPort}\`, or change stamp.port`,
    }));
  }

  /** Closes all sockets; configure() opens them again. */
  close(): void {
    this.#cancelRetry?.();
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
    this.#errors.clear();
  }

  #open(): void {
    const { clock, log } = this.#dependencies;
    this.#cancelRetry?.();
    for (const address of this.#options.loopbacks) {
      const name = formatAddress(address);
      if (this.#sockets.has(name)) continue;
      try {
        this.#sockets.set(name, this.#listen(address));
        this.#errors.delete(name);
      } catch (thrown) {
        const error = messageOf(thrown);
        if (!this.#errors.has(name))
          log.warn({ address: name, error }, 'the STAMP reflector cannot listen; will try again');
        this.#errors.set(name, error);
      }
    }
    if (this.#errors.size > 0) this.#cancelRetry = clock.after(RETRY_MS, () => this.#open());
  }

  /** @throws KernelError */
  #listen(address: IpAddress): DatagramSocket {
    const { poller, netns, onSocketError } = this.#dependencies;
    const socket = openUdpSocket(
      {
        family: address.family,
        netns,
        bind: { address, port: this.#options.udpPort },
        freebind: true,
        hopLimit: STAMP_HOP_LIMIT,
        trafficClass: STAMP_TRAFFIC_CLASS,
      },
      { poller, onDatagram: (datagram) => this.#reflect(socket, datagram), onError: onSocketError },
    );
    return socket;
  }

  #reflect(socket: DatagramSocket, { data, from, hopLimit, receivedNs, ifindex }: Datagram): void {
    const { count, clock, reversePath } = this.#dependencies;
    const refusal = this.#admission.refusal(from.address, from.port);
    if (refusal) return count(`stamp.reflector.${refusal}`);
    const arrival = { receivedNs: receivedNs ?? realtimeNs(), hopLimit };
    const answer = answerProbe(data, arrival, realtimeNs, this.#options.key);
    if (!answer.ok) return count(`stamp.reflector.${answer.error.code}`);
    // After the HMAC check: a probe without the key costs no route lookup. Answers to this router's own probes are not
    // checked: they contain a number that only a node on the path knows, and may arrive by another path.
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
}
