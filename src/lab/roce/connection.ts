// Connection management of one connection (InfiniBand vol. 1 §12.9): the active side requests (REQ), is answered (REP)
// and confirms (RTU); at the end DREQ and DREP. Each request is repeated until it is answered. Middleboxes learn Queue
// Pairs from exactly this exchange. Pure: messages out, time in.
import type { IpAddress } from '../../model/address.ts';
import { concat, put16 } from '../../packet/bytes.ts';
import { addressBytes } from '../../model/address.ts';
import { DEFAULT_PKEY } from '../../packet/roce/bth.ts';
import type { CmMessage, CmOther, CmReq } from '../../packet/roce/cm.ts';

const RETRY_MS = 500;
const RETRIES = 10;
const PATH_MTU_1024 = 3;
const PATH_MTU_4096 = 5;

export interface LocalSide {
  readonly address: IpAddress;
  /** Queue Pair, communication ID and starting PSN of this side; the caller draws them. */
  readonly qpn: number;
  readonly commId: number;
  readonly startingPsn: number;
}

interface RemoteSide {
  readonly qpn: number;
  readonly commId: number;
  readonly startingPsn: number;
}

/** Service ID of the Linux RDMA CM: TCP port space and a port (codec facts §5.8). */
const serviceId = (port: number): bigint => (0x01n << 24n) | (0x06n << 16n) | BigInt(port);

/** The Linux RDMA CM's prefix of a REQ's private data. */
function rdmaCmPrivateData(local: IpAddress, remote: IpAddress): Uint8Array {
  const head = new Uint8Array(4);
  head[1] = local.family << 4;
  put16(head, 2, 0xc000);
  const padded = (a: IpAddress): Uint8Array => concat(new Uint8Array(16 - addressBytes(a).length), addressBytes(a));
  return concat(head, padded(local), padded(remote));
}

type ActiveState = 'connecting' | 'established' | 'closing' | 'closed' | 'refused' | 'unanswered';

/** The side that connects. */
export class ActiveConnection {
  state: ActiveState = 'connecting';
  remote: RemoteSide | undefined;
  readonly #local: LocalSide;
  readonly #req: CmReq;
  #attempts = 0;
  #dueAt = -Infinity;

  constructor(local: LocalSide, peer: IpAddress, opts: { port: number; payloadSize: number }) {
    this.#local = local;
    this.#req = {
      kind: 'req',
      localCommId: local.commId,
      serviceId: serviceId(opts.port),
      localQpn: local.qpn,
      startingPsn: local.startingPsn,
      transport: 0,
      responderResources: 1,
      initiatorDepth: 1,
      pkey: DEFAULT_PKEY,
      pathMtu: opts.payloadSize > 1024 ? PATH_MTU_4096 : PATH_MTU_1024,
      retryCount: 7,
      rnrRetryCount: 7,
      localGid: local.address,
      remoteGid: peer,
      privateData: rdmaCmPrivateData(local.address, peer),
    };
  }

  /** What to send now, if anything: a first or repeated REQ or DREQ. */
  poll(now: number): CmMessage | undefined {
    if ((this.state !== 'connecting' && this.state !== 'closing') || now < this.#dueAt) return undefined;
    if (this.#attempts++ >= RETRIES) {
      this.state = this.state === 'connecting' ? 'unanswered' : 'closed';
      return undefined;
    }
    this.#dueAt = now + RETRY_MS;
    if (this.state === 'connecting') return this.#req;
    return {
      kind: 'dreq',
      localCommId: this.#local.commId,
      remoteCommId: this.remote!.commId,
      remoteQpn: this.remote!.qpn,
      privateData: new Uint8Array(),
    };
  }

  /** @returns what to answer at once */
  onMessage(message: CmMessage | CmOther): CmMessage | undefined {
    if (message.kind === 'other' || message.kind === 'req' || message.remoteCommId !== this.#local.commId)
      return undefined;
    const ids = { localCommId: this.#local.commId, remoteCommId: message.localCommId, privateData: new Uint8Array() };
    if (message.kind === 'rep' && (this.state === 'connecting' || this.state === 'established')) {
      // A repeated REP means that our RTU was lost.
      this.state = 'established';
      this.remote ??= { qpn: message.localQpn, commId: message.localCommId, startingPsn: message.startingPsn };
      return { kind: 'rtu', ...ids };
    }
    if (message.kind === 'rej' && this.state === 'connecting') this.state = 'refused';
    if (message.kind === 'drep' && this.state === 'closing') this.state = 'closed';
    if (message.kind === 'dreq') {
      this.state = 'closed';
      return { kind: 'drep', ...ids };
    }
    return undefined;
  }

  /** Begins the orderly end; DREQs come out of poll. */
  close(): void {
    if (this.state === 'established') {
      this.state = 'closing';
      this.#attempts = 0;
      this.#dueAt = -Infinity;
    } else if (this.state === 'connecting') {
      this.state = 'closed';
    }
  }
}

/** The side that is connected to; one for each REQ. */
export class PassiveConnection {
  state: 'answered' | 'established' | 'closed' = 'answered';
  readonly remote: RemoteSide;
  readonly local: LocalSide;

  constructor(local: LocalSide, req: CmReq) {
    this.local = local;
    this.remote = { qpn: req.localQpn, commId: req.localCommId, startingPsn: req.startingPsn };
  }

  #ids(): { localCommId: number; remoteCommId: number; privateData: Uint8Array } {
    return { localCommId: this.local.commId, remoteCommId: this.remote.commId, privateData: new Uint8Array() };
  }

  /** The REP; also the answer to a repeated REQ. */
  reply(): CmMessage {
    return {
      kind: 'rep',
      ...this.#ids(),
      localQpn: this.local.qpn,
      startingPsn: this.local.startingPsn,
      responderResources: 1,
      initiatorDepth: 1,
    };
  }

  /** @returns what to answer at once */
  onMessage(message: CmMessage | CmOther): CmMessage | undefined {
    if (message.kind === 'req') return this.reply();
    if (message.kind === 'rtu' && this.state === 'answered') this.state = 'established';
    if (message.kind !== 'dreq') return undefined;
    this.state = 'closed';
    return { kind: 'drep', ...this.#ids() };
  }
}
