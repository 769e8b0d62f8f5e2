// The data receiver: accepts connections, acknowledges what arrives in order, and answers congestion marks with CNPs.
// The edge of the endpoint's receiving half.
import { type IpAddress, formatAddress, sameAddress } from '../../model/address.ts';
import { type CmMessage, type CmReq, decodeCmMad } from '../../packet/roce/cm.ts';
import { buildCnp } from '../../packet/roce/cnp.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import { type LocalSide, PassiveConnection } from './connection.ts';
import { NotificationPoint } from './notification-point.ts';
import { type Report, rounded } from './report.ts';
import { Responder } from './responder.ts';
import { type Ends, buildAcknowledge, buildCmPacket, sourcePortOf } from './wire.ts';

interface ListenerOptions {
  readonly address: IpAddress;
  /** Least time between two CNPs of one flow; undefined: no CNPs. */
  readonly cnpIntervalMs: number | undefined;
  readonly reportIntervalMs: number;
  /** REQs beyond this many open connections are not answered. */
  readonly maxConnections: number;
}

interface ListenerDependencies {
  readonly now: () => number;
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
  /** Draws Queue Pair, communication ID and starting PSN. */
  readonly draw: () => Omit<LocalSide, 'address'>;
}

interface Accepted {
  readonly peer: IpAddress;
  readonly connection: PassiveConnection;
  readonly responder: Responder;
  readonly notifications: NotificationPoint;
  readonly ends: Ends;
  reported: { at: number; bytes: number };
}

export class Listener {
  readonly #opts: ListenerOptions;
  readonly #dependencies: ListenerDependencies;
  /** By this side's Queue Pair. */
  readonly #accepted = new Map<number, Accepted>();
  #refused = 0;
  #unknown = 0;

  constructor(opts: ListenerOptions, dependencies: ListenerDependencies) {
    this.#opts = opts;
    this.#dependencies = dependencies;
  }

  onPacket(packet: RocePacket): void {
    if (packet.ext.deth) {
      const mad = decodeCmMad(packet.payload);
      if (mad.ok) this.#onCm(packet.source, mad.value.transactionId, mad.value.message);
      return;
    }
    const flow = this.#accepted.get(packet.bth.destQpn);
    // Network cards check the peer's address as well as the Queue Pair.
    if (!flow || !sameAddress(flow.peer, packet.source)) {
      this.#unknown++;
      return;
    }
    this.#onData(flow, packet, this.#dependencies.now());
  }

  #onData(flow: Accepted, packet: RocePacket, now: number): void {
    const { remote } = flow.connection;
    const first = flow.notifications.firstMarkedAt === undefined;
    if (flow.notifications.onData(packet.trafficClass, now)) {
      this.#dependencies.send(buildCnp({ ...flow.ends, destQpn: remote.qpn }));
    }
    if (first && flow.notifications.firstMarkedAt !== undefined)
      this.#dependencies.report('first-marked', { qpn: flow.connection.local.qpn, psn: packet.bth.psn });
    const answer = flow.responder.onRequest({ ...packet.bth, reth: packet.ext.reth }, packet.payload);
    if (answer) this.#dependencies.send(buildAcknowledge(flow.ends, remote.qpn, answer.psn, answer.aeth));
    if (now - flow.reported.at >= this.#opts.reportIntervalMs) this.#reportRate(flow, now);
  }

  #reportRate(flow: Accepted, now: number): void {
    const { bytes } = flow.responder;
    const goodputBps = Math.round(((bytes - flow.reported.bytes) * 8000) / (now - flow.reported.at));
    this.#dependencies.report('received', {
      qpn: flow.connection.local.qpn,
      goodputBps,
      marked: flow.notifications.marked,
      cnpsSent: flow.notifications.sent,
    });
    flow.reported = { at: now, bytes };
  }

  #onCm(peer: IpAddress, transaction: bigint, message: CmMessage | { kind: 'other' }): void {
    if (message.kind === 'other') return;
    const flow =
      message.kind === 'req'
        ? (this.#find(peer, message.localCommId) ?? this.#accept(peer, message))
        : this.#find(peer, message.localCommId);
    if (!flow) return;
    const before = flow.connection.state;
    const answer = flow.connection.onMessage(message);
    if (answer)
      this.#dependencies.send(buildCmPacket({ ...flow.ends, sourcePort: sourcePortOf(1, 1) }, transaction, answer));
    if (flow.connection.state === 'established' && before === 'answered')
      this.#dependencies.report('accepted', this.#names(flow));
    if (flow.connection.state === 'closed') this.#close(flow, 'closed');
  }

  #find(peer: IpAddress, commId: number): Accepted | undefined {
    return [...this.#accepted.values()].find((f) => f.connection.remote.commId === commId && sameAddress(f.peer, peer));
  }

  #accept(peer: IpAddress, req: CmReq): Accepted | undefined {
    if (this.#accepted.size >= this.#opts.maxConnections) {
      this.#refused++;
      return undefined;
    }
    const local: LocalSide = { ...this.#dependencies.draw(), address: this.#opts.address };
    const flow: Accepted = {
      peer,
      connection: new PassiveConnection(local, req),
      responder: new Responder({ startingPsn: req.startingPsn }),
      notifications: new NotificationPoint(this.#opts.cnpIntervalMs),
      ends: { source: this.#opts.address, destination: peer, sourcePort: sourcePortOf(local.qpn, req.localQpn) },
      reported: { at: this.#dependencies.now(), bytes: 0 },
    };
    this.#accepted.set(local.qpn, flow);
    return flow;
  }

  #names(flow: Accepted): { qpn: number; peerQpn: number; peer: string } {
    return { qpn: flow.connection.local.qpn, peerQpn: flow.connection.remote.qpn, peer: formatAddress(flow.peer) };
  }

  #close(flow: Accepted, reason: string): void {
    this.#accepted.delete(flow.connection.local.qpn);
    const { responder: r, notifications: n } = flow;
    this.#dependencies.report('summary', {
      reason,
      ...this.#names(flow),
      packets: r.packets,
      bytes: r.bytes,
      messages: r.messages,
      duplicates: r.duplicates,
      outOfOrder: r.outOfOrder,
      invalid: r.invalid,
      marked: n.marked,
      cnpsSent: n.sent,
      firstMarkedAt: rounded(n.firstMarkedAt),
    });
  }

  /** Reports connections that are still open. */
  end(): void {
    for (const flow of [...this.#accepted.values()]) this.#close(flow, 'stopped');
    this.#dependencies.report('end', { refused: this.#refused, unknown: this.#unknown });
  }
}
