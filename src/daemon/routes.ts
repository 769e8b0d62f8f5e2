// Ways for notifications that this router has not. The programs ask its routing before they tell a sender (bpf/lib/notice-route.h) and count what it refuses; here that becomes
// a problem, and a SID that the network advertises is asked for when somebody wants to see it. What happens beyond this router is not known.
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { isKernelError } from '../kernel/errors.ts';
import type { IpAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Problem } from '../plan/desired.ts';

export const NO_ROUTE = 'egress.format.no-route';
/** How long after the last one it stays a problem: two readings of the facts, with room. Milliseconds. */
const FRESH_MS = 90_000;

export class RouteWatch {
  readonly #modules: { readonly clock: Pick<Clock, 'now'>; readonly read: () => bigint | undefined };
  #before: bigint | undefined;
  #grewAt = -Infinity;

  /** `read`: the counter NO_ROUTE, which outlives a run of cnpd; undefined: there is no congested node here. */
  constructor(modules: { readonly clock: Pick<Clock, 'now'>; readonly read: () => bigint | undefined }) {
    this.#modules = modules;
  }

  /** To be called now and then. What an earlier run has counted says nothing. */
  observe(): void {
    const value = this.#modules.read();
    if (value !== undefined && this.#before !== undefined && value > this.#before) this.#grewAt = this.#modules.clock.now();
    this.#before = value;
  }

  problems(): Problem[] {
    this.observe();
    if (this.#modules.clock.now() - this.#grewAt >= FRESH_MS) return [];
    const problem = `there was congestion just now, and this router has no route for the notification: to the proxy, the END.CON or the sender (${NO_ROUTE})`;
    return [{ feature: 'ports', problem, remedy: 'ask `ip route get ADDRESS` for the proxies (`cnpctl show senders`), the SIDs (`cnpctl show srv6 sids`) and the senders, and mend that route' }];
  }
}

/** What a look-up is answered with where no route is, or one that leads nowhere: unreachable, blackhole (EINVAL), prohibit. */
const NOWHERE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);

/** True also when the kernel cannot be asked. */
export async function hasRoute(rtnetlink: Pick<Rtnetlink, 'routeTo'> | undefined, to: IpAddress): Promise<boolean> {
  try {
    await rtnetlink?.routeTo(to);
    return true;
  } catch (error) {
    return !(isKernelError(error) && NOWHERE.has(error.code));
  }
}
