// What cnpd is to a gobgpd: its BGP carrier in the test process, which declares prefixes and keeps what it learns.
import { origination } from '../../../src/model/advertisement.fixture.ts';
import { type BgpCarrier, type BgpCarrierOptions, createBgpCarrier } from '../../../src/carriers/bgp/carrier.ts';
import { BGP_KINDS, type BgpKinds } from '../../../src/carriers/bgp/kinds/table.ts';
import { bgpOptions } from '../../../src/carriers/bgp/options.fixture.ts';
import { bgpProblems, disputeProblems } from '../../../src/diagnosis/gobgp/session.ts';
import type { LearnedReport } from '../../../src/model/advertisement.ts';
import { address } from '../../../src/model/address.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { silentLog } from '../../../src/model/log.ts';
import { prefix } from '../../../src/model/prefix.ts';

interface Declaration {
  /** Of the router, as cnpd.yaml has it. */
  readonly loopback: string;
  readonly proxy: string;
  readonly prefixes: readonly string[];
}

export class BgpAgent {
  readonly carrier: BgpCarrier;
  /** The last of each source that is not withdrawn. */
  readonly reports = new Map<string, LearnedReport>();
  readonly #counters = new Map<string, number>();

  private constructor(options: BgpCarrierOptions, kinds: BgpKinds) {
    this.carrier = createBgpCarrier(options, {
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      codePoints: DEFAULT_CODE_POINTS,
      kinds,
      sink: {
        learned: (report) => {
          if (report.advertisements.length > 0) this.reports.set(report.source, report);
          else this.reports.delete(report.source);
        },
        reachability: () => {},
        topology: () => {},
      },
      count: (name, by = 1) => void this.#counters.set(name, (this.#counters.get(name) ?? 0) + by),
      random: () => 0,
    });
  }

  static async start(
    { target }: { readonly target: string },
    { loopback, proxy, prefixes }: Declaration,
    rest: Partial<BgpCarrierOptions> = {},
    kinds = BGP_KINDS,
  ): Promise<BgpAgent> {
    const gobgp = { target, maxMessageBytes: 1 << 20 };
    const agent = new BgpAgent(bgpOptions(loopback, { gobgp, holdUnreachableMs: 1000, ...rest }), kinds);
    agent.carrier.originate(
      origination({ proxies: prefixes.map((text) => ({ prefix: prefix(text), proxy: address(proxy) })) }),
    );
    await agent.carrier.start();
    return agent;
  }

  count(name: string): number {
    return this.#counters.get(`bgp.${name}`) ?? 0;
  }

  /** What `show status` shows of BGP. */
  problems(): string[] {
    const { carrier } = this;
    return [...bgpProblems(carrier.session(), 0, 0), ...disputeProblems(carrier.disputed())].map(
      (p) => `${p.problem}; ${p.remedy}`,
    );
  }

  /** How the path of a prefix is judged that gobgpd reports. */
  async status(text: string): Promise<string | undefined> {
    return (await this.carrier.paths()).find((row) => row.prefix === text)?.status;
  }
}
