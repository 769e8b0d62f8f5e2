// Runs STAMP while the intent has its section, and hands it the router addresses learned from the carriers.
import type { Intent } from '../intent/intent.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import type { IpAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import type { RttState } from '../model/state.ts';
import type { Problem } from '../model/problem.ts';
import { type Stamp, type StampOptions, startStamp } from '../stamp/stamp.edge.ts';

export interface StampSupervisorDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Rtnetlink;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  readonly interfaceName: (ifindex: number) => string | undefined;
  /** The measured RTT of some port has changed. */
  readonly onChange: () => void;
}

const NOTHING_MEASURED: ReadonlyMap<string, number> = new Map();

export class StampSupervisor {
  readonly #dependencies: StampSupervisorDependencies;
  #stamp: Stamp | undefined;
  #learned: readonly IpAddress[] = [];

  constructor(dependencies: StampSupervisorDependencies) {
    this.#dependencies = dependencies;
  }

  /** Called after the start and after every reload. Never throws. */
  apply(intent: Intent): void {
    const options = optionsOf(intent);
    if (!options) {
      const measured = this.rttMs.size > 0;
      this.stop();
      if (measured) this.#dependencies.onChange();
    } else if (this.#stamp) {
      this.#stamp.configure(options);
    } else {
      this.#stamp = startStamp(options, this.#dependencies);
      this.#stamp.learned(this.#learned);
    }
  }

  learned(routerAddresses: readonly IpAddress[]): void {
    this.#learned = routerAddresses;
    this.#stamp?.learned(routerAddresses);
  }

  /** Port → RTT_est, milliseconds. */
  get rttMs(): ReadonlyMap<string, number> {
    return this.#stamp?.rttMs ?? NOTHING_MEASURED;
  }

  state(): RttState[] {
    return this.#stamp?.state() ?? [];
  }

  get problems(): readonly Problem[] {
    return this.#stamp?.problems() ?? [];
  }

  stop(): void {
    this.#stamp?.stop();
    this.#stamp = undefined;
  }
}

function optionsOf({ stamp, router }: Intent): StampOptions | undefined {
  if (!stamp) return undefined;
  const { hmacKey, ...options } = stamp;
  const key = hmacKey === undefined ? {} : { key: new TextEncoder().encode(hmacKey) };
  return { ...options, ...key, loopbacks: [router.loopback4, router.loopback6].filter((a) => a !== undefined) };
}
