// Which ARNs are obeyed (FCN §4.1.2), and as what. An ARN comes from a neighbor on the link: a router forwards none
// with the hop limit that it must have. A neighbor may ask only for traffic that leaves towards it, by the port at
// which its ARN arrived, and only in the mode that this router is configured for. Pure.
import type { IpAddress } from '../model/address.ts';
import type { ArnBitOrder } from '../model/code-points.ts';
import type { FlowControlMode, Traffic } from '../model/flow-control.ts';
import { type Prefix, prefixContains } from '../model/prefix.ts';
import { type Result, fail, ok } from '../model/result.ts';
import { type RateLimit, TokenBucket } from '../model/token-bucket.ts';
import { type Arn, decodeArn, encodeArn, scopeOf } from '../packet/arn/arn.ts';
import type { PauseRequest } from './paused.ts';

/** GTSM (RFC 5082): no router has forwarded it. */
export const ARN_HOP_LIMIT = 255;
/** CS6, as routing protocols have. */
export const ARN_TRAFFIC_CLASS = 0xc0;

export interface ArnAdmissionOptions {
  readonly mode: FlowControlMode;
  readonly bitOrder: ArnBitOrder;
  readonly acceptFrom: readonly Prefix[];
  /** Ports at which traffic can be held. */
  readonly ports: ReadonlySet<number>;
  readonly limit: RateLimit;
}

interface Received {
  readonly data: Uint8Array;
  readonly from: IpAddress;
  readonly hopLimit: number | undefined;
  readonly ifindex: number | undefined;
}

/** Names of counters, after `flow-control.arn.`. */
export type ArnRefusal =
  | 'hop-limit'
  | 'not-a-hold-port'
  | 'not-accepted'
  | 'limited'
  | 'malformed'
  | 'unknown-type'
  | 'no-scope'
  | 'other-mode'
  | 'no-time';

export class ArnAdmission {
  #opts: ArnAdmissionOptions;
  /** By port: a neighbor that sends too many takes nothing from those at other ports. */
  readonly #buckets = new Map<number, TokenBucket>();

  constructor(opts: ArnAdmissionOptions) {
    this.#opts = opts;
  }

  configure(opts: ArnAdmissionOptions, now: number): void {
    this.#opts = opts;
    for (const [port, bucket] of this.#buckets)
      if (opts.ports.has(port)) bucket.configure(opts.limit, now);
      else this.#buckets.delete(port);
  }

  /** What a datagram asks for; otherwise why it is not obeyed. */
  request({ data, from, hopLimit, ifindex }: Received, now: number): Result<PauseRequest, ArnRefusal> {
    const { ports, acceptFrom, mode, bitOrder } = this.#opts;
    if (hopLimit !== ARN_HOP_LIMIT) return fail('hop-limit');
    if (ifindex === undefined || !ports.has(ifindex)) return fail('not-a-hold-port');
    if (!acceptFrom.some((prefix) => prefixContains(prefix, from))) return fail('not-accepted');
    if (!this.#bucketOf(ifindex, now).take(now)) return fail('limited');
    const decoded = decodeArn(data, bitOrder);
    if (!decoded.ok) return fail('malformed');
    const arn = decoded.value;
    if (arn.type !== 'congestion' && arn.type !== 'congestion-eliminated') return fail('unknown-type');
    const traffic = trafficOf(arn);
    if (!traffic) return fail('no-scope');
    if (traffic.mode !== mode) return fail('other-mode');
    if (arn.type === 'congestion' && arn.pauseUs === undefined) return fail('no-time');
    const pauseMs = arn.type === 'congestion' ? arn.pauseUs! / 1000 : undefined;
    return ok({ held: { traffic, egress: ifindex }, neighbor: from, pauseMs });
  }

  #bucketOf(port: number, now: number): TokenBucket {
    let bucket = this.#buckets.get(port);
    if (!bucket) this.#buckets.set(port, (bucket = new TokenBucket(this.#opts.limit, now)));
    return bucket;
  }
}

/** Undefined: no traffic, or traffic of two kinds, is named, or a flow that is no UDP datagram's. */
export function trafficOf(arn: Arn): Traffic | undefined {
  const mode = scopeOf(arn);
  if (mode === 'priority') return { mode, priority: arn.priority! };
  if (mode === undefined) return undefined;
  const { source, destination, protocol, sourcePort, destinationPort } = arn.flow!;
  if (mode === 'service') return { mode, source, destination, protocol };
  return protocol === UDP ? { mode, source, destination, sourcePort, destinationPort } : undefined;
}

const UDP = 17;

/** @param pauseMs undefined: congestion is eliminated */
export function arnFor(traffic: Traffic, pauseMs: number | undefined, metric: number, order: ArnBitOrder): Uint8Array {
  const time = pauseMs === undefined ? {} : { pauseUs: Math.round(pauseMs * 1000) };
  const type = pauseMs === undefined ? 'congestion-eliminated' : 'congestion';
  if (traffic.mode === 'priority') return encodeArn({ type, metric, priority: traffic.priority, ...time }, order);
  const { source, destination } = traffic;
  const flow =
    traffic.mode === 'service'
      ? { source, destination, protocol: traffic.protocol, sourcePort: 0, destinationPort: 0 }
      : { ...traffic, protocol: UDP };
  return encodeArn({ type, metric, flow, ...time }, order);
}
