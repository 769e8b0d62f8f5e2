// Hosts that do not understand a format: they answered our notification with an ICMPv6 Parameter Problem (code 2,
// unrecognized option) or a similar error. Such a host is not sent the format until the entry expires, because it may
// be upgraded (FCNP §4; decision B6). The caller has already checked that the report quotes a packet that we sent.
import { type IpAddress, compareAddresses } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import { NOTIFICATION_FORMATS, type NotificationFormat } from '../model/notification.ts';

/** Hosts remembered. Beyond this, a new host replaces the one that would expire first. */
const CAPABILITY_LIMIT = 16_384;

interface HostCapabilitiesOptions {
  /** How long an entry lasts, ms. */
  readonly expiryMs: number;
  readonly limit?: number;
}

interface HostCapabilitiesDependencies {
  readonly clock: Pick<Clock, 'now'>;
  readonly count: Count;
}

export interface HostCapability {
  readonly host: IpAddress;
  /** In the order of NOTIFICATION_FORMATS; never empty. */
  readonly lacks: readonly NotificationFormat[];
}

/** Until when each format counts as not understood, milliseconds of the clock. */
type Until = Map<NotificationFormat, number>;

export class HostCapabilities {
  readonly #dependencies: HostCapabilitiesDependencies;
  #options: HostCapabilitiesOptions;
  /** In the order of the latest report, oldest first. */
  readonly #hosts = new Map<string, { readonly host: IpAddress; readonly until: Until }>();
  #changed = false;

  constructor(options: HostCapabilitiesOptions, dependencies: HostCapabilitiesDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** For a reload; entries keep their expiry, unless the new time is shorter. */
  configure(options: HostCapabilitiesOptions): void {
    this.#options = options;
    const latest = this.#dependencies.clock.now() + options.expiryMs;
    for (const { until } of this.#hosts.values())
      for (const [format, at] of until) until.set(format, Math.min(at, latest));
    this.#makeRoom();
  }

  /** Records that the host does not understand the format. @returns whether that was not known */
  lacks(host: IpAddress, format: NotificationFormat): boolean {
    const { clock, count } = this.#dependencies;
    const key = `${host.family} ${host.value}`;
    const until: Until = this.#hosts.get(key)?.until ?? new Map<NotificationFormat, number>();
    const now = clock.now();
    const news = (until.get(format) ?? -Infinity) <= now;
    until.set(format, now + this.#options.expiryMs);
    this.#hosts.delete(key);
    this.#hosts.set(key, { host, until });
    this.#makeRoom();
    if (news) {
      count('learned.capability.lacking');
      this.#changed = true;
    }
    return news;
  }

  /** The entries in force, in address order. */
  entries(): HostCapability[] {
    const now = this.#dependencies.clock.now();
    const entries = [...this.#hosts.values()].map(({ host, until }) => ({
      host,
      lacks: NOTIFICATION_FORMATS.filter((format) => (until.get(format) ?? -Infinity) > now),
    }));
    return entries.filter(({ lacks }) => lacks.length > 0).sort((a, b) => compareAddresses(a.host, b.host));
  }

  /** Forgets expired entries. @returns whether there were any */
  tick(): boolean {
    const now = this.#dependencies.clock.now();
    let forgotten = 0;
    for (const [key, { until }] of this.#hosts) {
      for (const [format, at] of until) if (at <= now && until.delete(format)) forgotten++;
      if (until.size === 0) this.#hosts.delete(key);
    }
    if (forgotten > 0) {
      this.#dependencies.count('learned.capability.expired', forgotten);
      this.#changed = true;
    }
    return forgotten > 0;
  }

  /** When tick has work to do, milliseconds of the clock; undefined: not before something is learned. */
  nextDeadline(): number | undefined {
    let next: number | undefined;
    for (const { until } of this.#hosts.values())
      for (const at of until.values()) if (next === undefined || at < next) next = at;
    return next;
  }

  /** Whether entries may differ from those of the last call. */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  #makeRoom(): void {
    const limit = this.#options.limit ?? CAPABILITY_LIMIT;
    for (const key of this.#hosts.keys()) {
      if (this.#hosts.size <= limit) return;
      this.#hosts.delete(key);
      this.#dependencies.count('learned.capability.displaced');
      this.#changed = true;
    }
  }
}
