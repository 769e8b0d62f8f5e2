// Formats that hosts do not understand: ICMPv6 Parameter Problem code 2 that quotes a Fast CNP of ours (FCNP-4-j; RFC
// 4443 §3.4). Anybody can send one, and accepting it excludes a sender from Fast CNP for `capability-expiry`. So it
// must come from the host itself and quote a Fast CNP that was just sent to that host: our address, the flow's receiver
// in the option, the flow's Queue Pair in the BTH. An attacker off the path cannot know these. A pure machine.
import { type IpAddress, sameAddress } from '../model/address.ts';
import type { SentNotification } from '../model/notification.ts';
import { type Result, fail, ok } from '../model/result.ts';
import { TokenBucket } from '../model/token-bucket.ts';
import { decodeParameterProblem, refusedFastCnp } from '../packet/icmpv6/parameter-problem.ts';
import type { FastCnpOptionCodes } from '../packet/ip/fast-cnp-option.ts';
import { flowKey } from './flow-key.ts';

/** A Parameter Problem comes at once: older Fast CNPs are not remembered. Milliseconds. */
export const EVIDENCE_MS = 10_000;
export const MOST_EVIDENCE = 8192;
/** Parameter Problems inspected per second. */
const RATE = { perSecond: 100, burst: 100 };

export interface RefusalSettings {
  /** Source of our Fast CNPs; null: none are sent. */
  readonly source6: IpAddress | null;
  readonly fastCnp?: FastCnpOptionCodes;
}

/**
 * Why a Parameter Problem is refused; each is a counter `congestion.parameter-problem.…`. `other`: about something
 * other than a Fast CNP. `not-ours`: quotes one from another address. `not-from-host`: another node answers for the
 * host. `unknown`: no such Fast CNP was sent, or none at all to this host.
 */
type Disbelief = 'rate-limited' | 'malformed' | 'other' | 'not-ours' | 'not-from-host' | 'unknown';

/** A Parameter Problem that is accepted if it came from where the host is. */
interface Refusal {
  /** That does not understand Fast CNP. */
  readonly host: IpAddress;
  /**
   * Where the Fast CNP was sent, and so from where the answer comes: the host, or END.CON in front of it (this node may
   * have no route to the host then).
   */
  readonly sentTo: IpAddress;
}

interface Evidence {
  readonly at: number;
  readonly sentTo: IpAddress;
}

/** Codes of refusedFastCnp that mean: a well-formed message about something else. */
const ABOUT_SOMETHING_ELSE: ReadonlySet<string> = new Set([
  'not-unrecognized-option',
  'no-fast-cnp-option',
  'pointer-elsewhere',
  'not-alone',
]);

export class Refusals {
  #settings: RefusalSettings;
  readonly #bucket: TokenBucket;
  /** Flow, whose source is the host → when and where a Fast CNP was sent, the longest ago first. */
  readonly #evidence = new Map<string, Evidence>();
  /** Host → when the last Fast CNP was sent to it, the longest ago first. */
  readonly #hosts = new Map<bigint, number>();

  /** @param now monotonic milliseconds, here and below */
  constructor(settings: RefusalSettings, now: number) {
    this.#settings = settings;
    this.#bucket = new TokenBucket(RATE, now);
  }

  configure(settings: RefusalSettings): void {
    this.#settings = settings;
  }

  /** A notification was sent. */
  notified(notification: SentNotification, now: number): void {
    if (notification.format !== 'fast-cnp') return;
    remember(this.#evidence, flowKey(notification), { at: now, sentTo: notification.endCon ?? notification.source });
    remember(this.#hosts, notification.source.value, now);
  }

  /** An ICMPv6 message from `from`, from its type on. */
  parameterProblem(from: IpAddress, message: Uint8Array, now: number): Result<Refusal, Disbelief> {
    // A host that was sent nothing has nothing to refuse, and costs no token: any host can send such messages.
    const notifiedAt = this.#hosts.get(from.value);
    if (notifiedAt === undefined || now - notifiedAt > EVIDENCE_MS) return fail('unknown');
    if (!this.#bucket.take(now)) return fail('rate-limited');
    const { fastCnp, source6 } = this.#settings;
    const problem = decodeParameterProblem(message);
    if (!problem.ok) return fail('malformed');
    if (!fastCnp || !source6) return fail('not-ours');
    const refused = refusedFastCnp(problem.value, fastCnp);
    if (!refused.ok) return fail(ABOUT_SOMETHING_ELSE.has(refused.error.code) ? 'other' : 'malformed');
    const { source, destination, option, destQpn } = refused.value;
    if (!sameAddress(source, source6)) return fail('not-ours');
    if (!sameAddress(destination, from)) return fail('not-from-host');
    if (destQpn === undefined) return fail('malformed');
    const sent = this.#evidence.get(
      flowKey({ source: destination, destination: option.originalDestination, destinationQpn: destQpn }),
    );
    return sent !== undefined && now - sent.at <= EVIDENCE_MS
      ? ok({ host: destination, sentTo: sent.sentTo })
      : fail('unknown');
  }
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_EVIDENCE) map.delete(map.keys().next().value!);
}
