// Whom the Session-Reflector answers (RFC 8762 §4.3, §7): sources on the allow-list, up to a rate in total and a rate
// per source. An answer is never longer than the probe. Probes from well-known ports are refused, and from the
// reflector's own port: two reflectors would answer each other's answers for ever. There are two checks, because only
// valid probes spend tokens. Anybody can write a router's address into a packet, and would spend that router's tokens
// (RFC 8762 §6: an HMAC is checked before anything else is done with a packet). Pure.
import { type IpAddress, formatAddress } from '../model/address.ts';
import { type Prefix, prefixContains } from '../model/prefix.ts';
import { type RateLimit, TokenBucket } from '../model/token-bucket.ts';

const ALL: RateLimit = { perSecond: 2000, burst: 400 };
const EACH: RateLimit = { perSecond: 100, burst: 50 };
/** Sources remembered; the one that was quiet longest goes. */
const MOST_SOURCES = 1024;
const FIRST_UNPRIVILEGED_PORT = 1024;

interface AdmissionOptions {
  readonly acceptFrom: readonly Prefix[];
  /** The reflector's own port. */
  readonly udpPort: number;
}

export class Admission {
  #options: AdmissionOptions;
  readonly #all: TokenBucket;
  /** By address text, the quiet ones in front. */
  readonly #each = new Map<string, TokenBucket>();

  constructor(opts: AdmissionOptions, now: number) {
    this.#options = opts;
    this.#all = new TokenBucket(ALL, now);
  }

  configure(opts: AdmissionOptions): void {
    this.#options = opts;
  }

  /** By the addresses alone; spends no tokens. */
  refusal(source: IpAddress, port: number): 'not-accepted' | 'source-port' | undefined {
    const { acceptFrom, udpPort } = this.#options;
    if (!acceptFrom.some((prefix) => prefixContains(prefix, source))) return 'not-accepted';
    return port < FIRST_UNPRIVILEGED_PORT || port === udpPort ? 'source-port' : undefined;
  }

  /**
   * Whether one more probe of this source is answered now; if so its tokens are taken. For probes that have passed
   * every check.
   * @param now milliseconds, monotonic
   */
  take(source: IpAddress, now: number): boolean {
    return this.#bucketOf(source, now).take(now) && this.#all.take(now);
  }

  #bucketOf(source: IpAddress, now: number): TokenBucket {
    const key = formatAddress(source);
    const bucket = this.#each.get(key) ?? new TokenBucket(EACH, now);
    this.#each.delete(key);
    this.#each.set(key, bucket);
    if (this.#each.size > MOST_SOURCES) this.#each.delete(this.#each.keys().next().value!);
    return bucket;
  }
}
