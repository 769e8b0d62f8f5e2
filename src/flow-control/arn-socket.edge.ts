// ARNs on a UDP socket (docs/explanation/decisions.md, "ARN"): IPv6, hop limit 255, CS6, the same port at both ends.
// The kernel has checked the checksum, mandatory over IPv6, and drops what cannot be of a neighbor at a port that
// holds. A port that cannot be opened is a problem, and is tried again.
import { type Datagram, type DatagramSocket, openUdpSocket } from '../kernel/datagram-socket.ts';
import { ERRNO, KernelError } from '../kernel/errors.ts';
import { neighborFilter } from '../kernel/neighbor-filter.ts';
import type { FilterInstruction } from '../kernel/socket-filter.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import { address } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { ArnBitOrder } from '../model/code-points.ts';
import type { ArnToSend } from './asked.ts';
import { ARN_HOP_LIMIT, ARN_TRAFFIC_CLASS, arnFor } from './received-arn.ts';

interface ArnSocketDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly count: Count;
  readonly log: Log;
  readonly netns?: Netns | undefined;
  readonly onDatagram: (datagram: Datagram) => void;
}

/** Time until the port is tried again. */
const RETRY_MS = 10_000;
/** What the kernel has dropped is counted this often. */
const COUNT_MS = 1000;
const MODULUS = 2 ** 32;

export class ArnSocket {
  readonly #dependencies: ArnSocketDependencies;
  readonly #port: number;
  readonly #bitOrder: ArnBitOrder;
  /** Indexes of the ports at which ARNs are received. */
  #ports: readonly number[];
  #drops = 0;
  #cancelCount: () => void = () => {};
  #socket: DatagramSocket | undefined;
  #error: string | undefined;
  #cancelRetry: () => void = () => {};

  /** Opens the port. Never throws. */
  constructor(
    opts: { readonly port: number; readonly bitOrder: ArnBitOrder; readonly ports: readonly number[] },
    dependencies: ArnSocketDependencies,
  ) {
    this.#dependencies = dependencies;
    this.#port = opts.port;
    this.#bitOrder = opts.bitOrder;
    this.#ports = opts.ports;
    this.#open();
  }

  /** From now on, ARNs are received at these ports. @throws KernelError */
  configure(ports: readonly number[]): void {
    this.#ports = ports;
    this.#socket?.setFilter(this.#filter());
  }

  problems(): Problem[] {
    if (this.#error === undefined) return [];
    return [
      {
        code: 'flow-control.no-socket',
        feature: 'flow-control',
        problem: `no ARN can be sent or received at UDP port ${this.#port}: ${this.#error}`,
        remedy: `find what else uses the port with \`ss -ulnp sport = :${this.#port}\`, or change code-points.arn-udp-port`,
      },
    ];
  }

  /** @throws KernelError ENOTCONN (no socket), ENETUNREACH, ENOBUFS … */
  send({ to, traffic, pauseMs, metric }: ArnToSend): void {
    if (!this.#socket) throw new KernelError('send(ARN)', ERRNO.ENOTCONN, 'the UDP port is not open');
    this.#socket.send(arnFor(traffic, pauseMs, metric, this.#bitOrder), {
      address: to.address,
      port: this.#port,
      scope: to.ifindex,
    });
  }

  close(): void {
    this.#cancelRetry();
    this.#cancelCount();
    this.#countDrops();
    this.#socket?.close();
    this.#socket = undefined;
  }

  #open(): void {
    const { poller, clock, count, log, netns, onDatagram } = this.#dependencies;
    try {
      this.#socket = openUdpSocket(
        {
          ...{ family: 6, netns, bind: { address: address('::'), port: this.#port } },
          ...{ hopLimit: ARN_HOP_LIMIT, trafficClass: ARN_TRAFFIC_CLASS, filter: this.#filter() },
        },
        { poller, onDatagram, onError: () => count('flow-control.socket-error') },
      );
      this.#error = undefined;
      this.#drops = 0;
      this.#countSoon();
    } catch (thrown) {
      const error = messageOf(thrown);
      if (this.#error === undefined) log.warn({ port: this.#port, error }, 'the port of ARNs cannot be opened');
      this.#error = error;
      this.#cancelRetry = clock.after(RETRY_MS, () => this.#open());
    }
  }

  #filter(): FilterInstruction[] {
    return neighborFilter({ interfaces: this.#ports, hopLimit: ARN_HOP_LIMIT });
  }

  #countSoon(): void {
    this.#cancelCount = this.#dependencies.clock.after(COUNT_MS, () => (this.#countDrops(), this.#countSoon()));
  }

  #countDrops(): void {
    const drops = this.#socket?.drops();
    if (drops === undefined || drops === this.#drops) return;
    this.#dependencies.count('flow-control.arn.dropped', (drops - this.#drops + MODULUS) % MODULUS);
    this.#drops = drops;
  }
}
