// Gathers what plan needs to know of this machine (src/plan/facts.ts) and says when it changed. Announcements of the kernel only trigger a new
// reading: a burst of them costs one, and a lost one is made good by the next.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMonitor } from '../kernel/netlink/monitor.ts';
import type { Link } from '../kernel/netlink/link.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Poller } from '../kernel/poller.ts';
import type { KernelFeature } from '../kernel/probe.ts';
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import type { Facts, LinkFact, QdiscFact } from '../plan/facts.ts';

/** Announcements that come in bursts are answered once. Milliseconds. */
const SETTLE_MS = 50;
const RETRY_MS = 1000;

const linkFact = (link: Link): LinkFact => ({
  name: link.name,
  ifindex: link.ifindex,
  up: link.up,
  kind: link.kind,
  // The loopback has a hardware address too, of zeros.
  etherLike: link.mac.length === 6 && link.mac.some((byte) => byte !== 0),
});

const qdiscFact = (qdisc: Qdisc): QdiscFact => ({
  ifindex: qdisc.ifindex,
  rootKind: qdisc.kind,
  ...(qdisc.tbf ? { limitBytes: qdisc.tbf.limit, rateBitPerS: Number(qdisc.tbf.rate) * 8 } : {}),
});

/** Reads links, root qdiscs and addresses. `features` comes from the kernel probe, which is asked once. */
export async function gatherFacts(rtnetlink: Rtnetlink, features: readonly KernelFeature[]): Promise<Facts> {
  const [links, qdiscs, addresses] = await Promise.all([rtnetlink.links(), rtnetlink.qdiscs(), rtnetlink.addresses()]);
  return {
    links: links.map(linkFact),
    qdiscs: qdiscs.filter((q) => q.parent === TC_H.ROOT).map(qdiscFact),
    features,
    addresses: addresses.map((a) => a.address),
    forwarding: { 4: isOn('net/ipv4/ip_forward'), 6: isOn('net/ipv6/conf/all/forwarding') },
  };
}

/** A sysctl of the process's network namespace. One that is not there (a kernel without IPv6) is off. */
function isOn(sysctl: string): boolean {
  const path = join('/proc/sys', sysctl);
  return existsSync(path) && readFileSync(path, 'utf8').trim() !== '0';
}

export interface FactsWatch {
  /** As if something had changed. */
  again(): void;
  close(): void;
}

/**
 * Calls `onChange` some time after links, addresses or qdiscs changed, one call at a time; what changes meanwhile is one more call. A call that rejects is repeated:
 * the change it was for has not been taken in.
 */
export function watchFacts(modules: { poller: Poller; clock: Clock; log: Log; count: Count; onChange: () => Promise<void> }): FactsWatch {
  const { poller, log, count } = modules;
  const repeat = createRepeat(modules);
  const monitor = openMonitor(
    {},
    {
      poller,
      onChange: repeat.again,
      onResync: () => {
        count('kernel.monitor.resync');
        repeat.again();
      },
      onError: (error) => {
        count('kernel.monitor.error');
        log.error({ error: error.message, code: error.code }, 'kernel announcements cannot be read');
      },
    },
  );
  return {
    again: repeat.again,
    close: () => {
      repeat.close();
      monitor.close();
    },
  };
}

/** The rule of watchFacts, without the kernel. */
export function createRepeat(modules: { clock: Clock; log: Log; count: Count; onChange: () => Promise<void> }): FactsWatch {
  const { clock, log, count, onChange } = modules;
  let cancel: (() => void) | undefined;
  let running = false;
  let dirty = false;
  let closed = false;
  const later = (ms: number): void => {
    if (!closed) cancel ??= clock.after(ms, () => void run());
  };
  const run = async (): Promise<void> => {
    cancel = undefined;
    dirty = false;
    running = true;
    try {
      await onChange();
    } catch (error) {
      count('kernel.facts.not-taken-in');
      log.error({ error: error instanceof Error ? error.message : String(error) }, 'a change of links, addresses or qdiscs could not be taken in; will try again');
      later(RETRY_MS);
    } finally {
      running = false;
      if (dirty) later(SETTLE_MS);
    }
  };
  return {
    again: () => {
      if (running) dirty = true;
      else later(SETTLE_MS);
    },
    close: () => {
      closed = true;
      cancel?.();
    },
  };
}
