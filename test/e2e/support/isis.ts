// IS-IS carriers in the test process, each in the namespace of a router, with what they learn kept for looking at.
import { byKind, origination as originationOf, type Declared } from '../../../src/model/advertisement.fixture.ts';
import type { AdvertisementOf, LearnedOf, LearnedReport, Origination } from '../../../src/model/advertisement.ts';
import { address, formatAddress } from '../../../src/model/address.ts';
import type { AreaTopology } from '../../../src/model/topology.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { silentLog } from '../../../src/model/log.ts';
import { formatPrefix, prefix } from '../../../src/model/prefix.ts';
import { type IsisCarrier, type IsisCarrierOptions, createIsisCarrier } from '../../../src/carriers/isis/carrier.ts';
import type { Poller } from '../../../src/kernel/poller.ts';
import { parseSystemId } from '../../../src/packet/isis/lsp-id.ts';
import type { FrrRouter } from './frr.ts';

export const isisOptions = (systemId: string, overrides: Partial<IsisCarrierOptions> = {}): IsisCarrierOptions => ({
  systemId: parseSystemId(systemId)!,
  area: Uint8Array.of(0x49, 0x00, 0x01),
  levels: '2',
  interface: 'cnpd-isis',
  mtu: 1500,
  helloIntervalMs: 1000,
  holdMultiplier: 10,
  lifetimeSeconds: 1200,
  refreshSeconds: 900,
  authentication: {},
  holdUnreachableMs: 120_000,
  ...overrides,
});

export const proxied = (text: string, proxy: string): AdvertisementOf<'sender-prefix'> => ({
  kind: 'sender-prefix',
  prefix: prefix(text),
  proxy: address(proxy),
});

/** To be declared: proxies, and whatever else. */
export const origination = (proxies: NonNullable<Declared['proxies']>, rest: Declared = {}): Origination =>
  originationOf({ ...rest, proxies });

export class IsisAgent {
  readonly carrier: IsisCarrier;
  readonly counters = new Map<string, number>();
  readonly reports = new Map<string, LearnedReport>();
  reachable: ReadonlySet<string> = new Set();
  topology: readonly AreaTopology[] = [];

  constructor(router: FrrRouter, options: IsisCarrierOptions, modules: { poller: Poller; hostname?: string }) {
    this.carrier = createIsisCarrier(options, {
      poller: modules.poller,
      ...(modules.hostname !== undefined && { hostname: modules.hostname }),
      sink: {
        learned: (report) => void this.reports.set(report.source, report),
        reachability: (report) => void (this.reachable = report.reachable),
        topology: ({ areas }) => void (this.topology = areas),
      },
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      count: (name, by = 1) => void this.counters.set(name, this.count(name) + by),
      codePoints: DEFAULT_CODE_POINTS,
      netns: router.netns,
    });
  }

  count(name: string): number {
    return this.counters.get(name) ?? 0;
  }

  get state(): string {
    return this.carrier.neighbors()[0]?.state ?? 'none';
  }

  /** The entries for one prefix, as `originator proxy`, flagged ones only; sorted. */
  proxiesOf(text: string): string[] {
    const found = [...this.reports.values()].flatMap((r) =>
      byKind(r.advertisements)
        .prefixes.filter((p) => p.pnc && formatPrefix(p.prefix) === text)
        .map((p) => `${r.originator} ${nameOf(p)}`),
    );
    return found.sort();
  }

  /** How many flagged prefixes are learned. */
  get flagged(): number {
    return [...this.reports.values()].reduce(
      (n, r) => n + byKind(r.advertisements).prefixes.filter((p) => p.pnc).length,
      0,
    );
  }
}

const nameOf = (p: LearnedOf<'sender-prefix'>): string => (p.proxy ? formatAddress(p.proxy) : 'none');
