// What cnpd is to a gobgpd: its BGP carrier in the test process, which declares prefixes.
import { origination } from '../../../src/model/advertisement.fixture.ts';
import { type BgpCarrier, type BgpCarrierOptions, createBgpCarrier } from '../../../src/carriers/bgp/carrier.ts';
import { bgpOptions } from '../../../src/carriers/bgp/options.fixture.ts';
import { bgpProblems, disputeProblems } from '../../../src/diagnosis/gobgp/session.ts';
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
  readonly #counters = new Map<string, number>();

  private constructor(options: BgpCarrierOptions) {
    this.carrier = createBgpCarrier(options, {
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      codePoints: DEFAULT_CODE_POINTS,
      sink: { learned: () => {}, reachability: () => {} },
      count: (name, by = 1) => void this.#counters.set(name, (this.#counters.get(name) ?? 0) + by),
      random: () => 0,
    });
  }

  static async start(
    { target }: { readonly target: string },
    { loopback, proxy, prefixes }: Declaration,
    rest: Partial<BgpCarrierOptions> = {},
  ): Promise<BgpAgent> {
    const gobgp = { target, maxMessageBytes: 1 << 20 };
    const agent = new BgpAgent(bgpOptions(loopback, { gobgp, holdUnreachableMs: 1000, ...rest }));
    agent.carrier.originate(
      origination({ proxies: prefixes.map((text) => ({ prefix: prefix(text), proxy: address(proxy) })) }),
    );
    await agent.carrier.start();
    return agent;
  }

  count(name: string): number {
    return this.#counters.get(`bgp.${name}`) ?? 0;
  }

  /** What `show status` says of BGP. */
  problems(): string[] {
    const { carrier } = this;
    return [...bgpProblems(carrier.session(), 0, 0), ...disputeProblems(carrier.disputed())].map(
      (p) => `${p.problem}; ${p.remedy}`,
    );
  }

  /** How the path of a prefix is judged that gobgpd tells of. */
  async status(text: string): Promise<string | undefined> {
    return (await this.carrier.paths()).find((row) => row.prefix === text)?.status;
  }
}
