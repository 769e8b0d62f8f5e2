// Notifications that this router loses, and why. The causes are other programs' routes, hooks and policies, so planning
// cannot find them. Instead the programs count losses (bpf/lib/builder/route-check.h, bpf/lib/srv6/forward.h), and a
// counter that increases is a problem for a while. Losses beyond this router are unknown.
import type { Intent } from '../intent/intent.ts';
import { MAIN_TABLE } from '../intent/sid-allocation.ts';
import { formatAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';

/** How long after the last packet, milliseconds. Notifications come in bursts, and operators may look later. */
const RECENT_MS = 600_000;

type Configured = Pick<Intent, 'srv6'>;

interface Loss {
  readonly counter: string;
  /** Undefined: with this configuration the loss does not matter (any more). */
  problem(intent: Configured): Problem | undefined;
}

/** @see docs/how-to/srv6-pe.md */
function lostIpv4(counter: string, what: string, because: string, remedy: string): Loss {
  return {
    counter,
    problem: ({ srv6 }) => {
      const sids = (srv6?.endCon ?? [])
        .filter(({ table }) => table !== MAIN_TABLE)
        .map(({ sid, table }) => `${formatAddress(sid)} (table ${table})`);
      if (sids.length === 0) return undefined;
      return {
        code: 'srv6.ipv4-lost',
        feature: 'srv6',
        problem:
          `${what} behind END.CON ${sids.join(' or ')} is lost: the kernel's End.DT6 takes only IPv6, ` +
          `and packets are left to it because ${because} (${counter})`,
        remedy,
      };
    },
  };
}

/** Packets that the reverse-path check refused (bpf/lib/proxy/port-roles.h). */
const wrongPort = (what: string, counter: string): Problem => ({
  code: 'router.wrong-port',
  feature: 'router',
  problem:
    `${what} arrived on a port to which the route back to their source does not lead, ` +
    `and were refused (${counter}): their source is forged, or routing is asymmetric`,
  remedy:
    'find out who sends them (`ip route get SOURCE`, `tcpdump`); name the ports to other routers under ' +
    'router.core-ports, or set router.reverse-path-check: off, if routing is asymmetric',
});

const NO_ROUTE = 'egress.format.no-route';

const LOSSES: readonly Loss[] = [
  {
    counter: NO_ROUTE,
    problem: () => ({
      code: 'notifications.no-route',
      feature: 'ports',
      problem:
        'a port was congested, and this router has no route for the notification: to the proxy, ' +
        `the END.CON or the sender (${NO_ROUTE})`,
      remedy:
        'ask `ip route get ADDRESS` for the proxies (`cnpctl show senders`), ' +
        'the SIDs (`cnpctl show srv6 sids`) and the senders, and fix that route',
    }),
  },
  {
    counter: 'proxy.notice.wrong-port',
    problem: () => wrongPort('notices to this proxy', 'proxy.notice.wrong-port'),
  },
  {
    counter: 'proxy.cm.wrong-port',
    problem: () => wrongPort('CM messages', 'proxy.cm.wrong-port'),
  },
  {
    counter: 'proxy.qp.wrong-port',
    problem: () => wrongPort('RoCEv2 packets', 'proxy.qp.wrong-port'),
  },
  {
    counter: 'proxy.qp.full',
    problem: () => ({
      code: 'queue-pairs.full',
      feature: 'queue-pairs',
      problem: 'the table of connections is full (32,768): new ones are known for a while only (proxy.qp.full)',
      remedy: '`cnpctl show flows` lists them; a shorter queue-pairs.ageing in cnpd.yaml frees entries sooner',
    }),
  },
  lostIpv4(
    'srv6.decap.no-ipv4.hook',
    'IPv4',
    'a netfilter hook or an IPsec policy of this router applies to them',
    'put the SID in the main table (`table: main`), or remove the hooks (`nft list hooks`) ' +
      'and policies (`ip xfrm policy`)',
  ),
  lostIpv4(
    'srv6.decap.no-ipv4.shared',
    'IPv4 other than CNPs',
    'a proxy or Queue Pair learning inspects packets at the same port',
    'put the SID in the main table (`table: main`), ' + 'or give other traffic a SID of its own (End.DT4)',
  ),
];

const COUNTERS: readonly string[] = LOSSES.map(({ counter }) => counter);

interface LostNotificationsDependencies {
  /** These counters of the dataplane; a counter is absent while its programs are. */
  readonly counters: (names: readonly string[]) => ReadonlyMap<string, bigint> | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

export class LostNotifications {
  readonly #dependencies: LostNotificationsDependencies;
  readonly #seen = new Map<string, { value: bigint; movedAt: number }>();

  constructor(dependencies: LostNotificationsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Called periodically, so that the time of a problem is right. The first value may be an earlier run's: no problem.
   */
  sample(): void {
    const counters = this.#dependencies.counters(COUNTERS);
    const now = this.#dependencies.clock.now();
    for (const { counter } of LOSSES) {
      const value = counters?.get(counter);
      const before = this.#seen.get(counter);
      if (value === undefined || value === before?.value) continue;
      const moved = before !== undefined && value > before.value;
      if (moved && !this.#isRecent(counter)) this.#dependencies.log.warn({ counter }, 'notifications are lost');
      this.#seen.set(counter, { value, movedAt: moved ? now : -Infinity });
    }
  }

  problems(intent: Configured): Problem[] {
    this.sample();
    return LOSSES.filter(({ counter }) => this.#isRecent(counter)).flatMap((loss) => loss.problem(intent) ?? []);
  }

  #isRecent(counter: string): boolean {
    const seen = this.#seen.get(counter);
    return seen !== undefined && this.#dependencies.clock.now() - seen.movedAt < RECENT_MS;
  }
}

/** Notifications are sent, but the agent's part of congestion handling cannot run. */
export const noResume = (error: unknown): Problem => ({
  code: 'notifications.no-resume',
  feature: 'notifications',
  problem: `notifications are sent, but no Resume: ${messageOf(error)}`,
  remedy: 'cnpd tries again at the next change of links or configuration; `cnpctl reload` triggers one',
});
