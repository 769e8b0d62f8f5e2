// A data receiver with one reliable connection that was set up out of band: what a network card with a Queue Pair
// connected to the Proxy Address of a group is (RMC §5.2), though nothing here knows about groups. Strict: a request
// counts only if it comes from the peer, is for this Queue Pair and has a valid ICRC. The edge of the responder.
import { createHash } from 'node:crypto';
import { type IpAddress, formatAddress, sameAddress } from '../../model/address.ts';
import { buildCnp } from '../../packet/roce/cnp.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import { Confirmations } from './confirmations.ts';
import { NotificationPoint } from './notification-point.ts';
import { type Report, rounded } from './report.ts';
import { Responder, type ResponderOptions } from './responder.ts';
import { type Ends, buildAcknowledge, sourcePortOf } from './wire.ts';

export interface ReceiverOptions extends Pick<ResponderOptions, 'startingPsn' | 'memory' | 'notReady'> {
  readonly address: IpAddress;
  readonly qpn: number;
  readonly peer: IpAddress;
  readonly peerQpn: number;
  /** Least time between two CNPs; undefined: none. */
  readonly cnpIntervalMs: number | undefined;
  /** After so many bytes in order it reports `complete`; it goes on answering. */
  readonly expectedBytes: number | undefined;
}

interface ReceiverDependencies {
  readonly now: () => number;
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
}

export class Receiver {
  readonly #opts: ReceiverOptions;
  readonly #dependencies: ReceiverDependencies;
  readonly #responder: Responder;
  readonly #notifications: NotificationPoint;
  readonly #ends: Ends;
  readonly #hash = createHash('sha256');
  readonly #memory: Uint8Array | undefined;
  readonly #sent = { acks: 0, naks: 0, rnrNaks: 0 };
  /** From another than the peer; for another Queue Pair. */
  readonly #refused = { strangers: 0, otherQueuePair: 0 };
  readonly #confirmations = new Confirmations();
  #firstAt: number | undefined;
  #lastAt: number | undefined;
  #complete = false;

  constructor(opts: ReceiverOptions, dependencies: ReceiverDependencies) {
    this.#opts = opts;
    this.#dependencies = dependencies;
    this.#memory = opts.memory && new Uint8Array(opts.memory.length);
    this.#responder = new Responder(opts, (payload, at) => this.#deliver(payload, at));
    this.#notifications = new NotificationPoint(opts.cnpIntervalMs);
    const sourcePort = sourcePortOf(opts.qpn, opts.peerQpn);
    this.#ends = { source: opts.address, destination: opts.peer, sourcePort };
  }

  get address(): IpAddress {
    return this.#opts.address;
  }

  onPacket(packet: RocePacket): void {
    const { qpn, peer, peerQpn } = this.#opts;
    if (packet.bth.destQpn !== qpn) {
      this.#refused.otherQueuePair++;
      return;
    }
    if (!sameAddress(packet.source, peer)) {
      this.#refused.strangers++;
      return;
    }
    const { send, now } = this.#dependencies;
    this.#firstAt ??= now();
    if (this.#notifications.onData(packet.trafficClass, now())) send(buildCnp({ ...this.#ends, destQpn: peerQpn }));
    const answer = this.#responder.onRequest({ ...packet.bth, reth: packet.ext.reth }, packet.payload);
    if (answer) {
      const { kind } = answer.aeth;
      // Before it is sent: no peer can know of it earlier.
      this.#confirmations.note(this.#responder.packets, now());
      this.#sent[kind === 'ack' ? 'acks' : kind === 'nak' ? 'naks' : 'rnrNaks']++;
      send(buildAcknowledge(this.#ends, peerQpn, answer.psn, answer.aeth));
    }
    if (!this.#complete && this.#responder.bytes === this.#opts.expectedBytes) {
      this.#complete = true;
      this.#dependencies.report('complete', this.#statistics());
    }
  }

  #deliver(payload: Uint8Array, at: bigint | undefined): void {
    this.#lastAt = this.#dependencies.now();
    this.#hash.update(payload);
    if (at !== undefined && this.#memory) this.#memory.set(payload, Number(at - this.#opts.memory!.virtualAddress));
  }

  #statistics(): Readonly<Record<string, unknown>> {
    const { packets, bytes, messages, duplicates, outOfOrder, invalid, afterError, error } = this.#responder;
    return {
      address: formatAddress(this.#opts.address),
      qpn: this.#opts.qpn,
      ...{ packets, bytes, messages, duplicates, outOfOrder, invalid, afterError },
      error: error ?? null,
      ...this.#sent,
      ...this.#refused,
      marked: this.#notifications.marked,
      cnpsSent: this.#notifications.sent,
      firstAt: rounded(this.#firstAt),
      lastAt: rounded(this.#lastAt),
      // SHA-256 over what was delivered, in order; of a WRITE also over the memory.
      hash: this.#hash.copy().digest('hex'),
      memoryHash: this.#memory ? createHash('sha256').update(this.#memory).digest('hex') : null,
    };
  }

  /** Reports what it has. */
  end(): void {
    this.#dependencies.report('confirmations', { qpn: this.#opts.qpn, list: this.#confirmations.list });
    this.#dependencies.report('summary', { complete: this.#complete, ...this.#statistics() });
  }
}
