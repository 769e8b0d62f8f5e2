// What the IS-IS tests with FRR have in common: routers, agents and processes that are all gone after each test,
// whatever happened in it.
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, expect } from 'vitest';
import type { IsisCarrierOptions } from '../../../src/carriers/isis/carrier.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { FrrNetwork, type FrrRouter, isisdConfig } from './frr.ts';
import { IsisAgent, isisOptions } from './isis.ts';
import { Processes } from './processes.ts';
import { is, until } from '../../support/until.ts';

export const SENDERS = '2001:db8:1::/64';
export const PROXY = '2001:db8:ffff::1';
export const SYSTEM = ['', '0000.0000.c001', '0000.0000.c002', '0000.0000.c003'] as const;

interface RouterOptions {
  isType?: string;
  links?: string[];
  interfaceLines?: string[];
  lines?: string[];
  area?: string;
}

export class IsisScene {
  net!: FrrNetwork;
  private poller!: Poller;
  private agents: IsisAgent[] = [];
  private readonly processes = new Processes();
  private errors: unknown[] = [];
  private static count = 0;

  /** Begins and ends with each test of the file. */
  static forEachTest(): IsisScene {
    const scene = new IsisScene();
    beforeEach(() => scene.begin());
    afterEach(() => scene.end());
    return scene;
  }

  /**
   * For tests that run side by side: each has a scene, and network namespaces, of its own. `it.concurrent('…',
   * IsisScene.alone(async (scene) => …))`
   */
  static alone(test: (scene: IsisScene) => Promise<void>): () => Promise<void> {
    return async () => {
      const scene = new IsisScene();
      scene.begin(`t-isis-${++IsisScene.count}`);
      try {
        await test(scene);
      } finally {
        await scene.end();
      }
    };
  }

  private begin(prefix = 't-isis'): void {
    this.net = new FrrNetwork(prefix);
    this.errors = [];
    this.poller = Poller.open({ onError: (error) => this.errors.push(error) });
  }

  private async end(): Promise<void> {
    await this.processes.end();
    await Promise.allSettled(this.agents.splice(0).map((agent) => agent.carrier.stop()));
    this.poller.close();
    await this.net.remove();
    expect(this.errors).toEqual([]);
  }

  /** Router `n` with IS-IS on `cnpd-isis` and the given links; not started yet. */
  router(n: number, opts: RouterOptions = {}): FrrRouter {
    const { links = [], ...rest } = opts;
    return this.net.router(
      `r${n}`,
      isisdConfig({ systemId: `0000.0000.${n}${n}${n}${n}`, interfaces: ['cnpd-isis', ...links], ...rest }),
    );
  }

  /** Three started routers in a row. */
  async chain(opts: RouterOptions = {}): Promise<FrrRouter[]> {
    const r1 = this.router(1, { ...opts, links: ['east'] });
    const r2 = this.router(2, { ...opts, links: ['west', 'east'] });
    const r3 = this.router(3, { ...opts, links: ['west'] });
    this.net.link(r1, 'east', r2, 'west');
    this.net.link(r2, 'east', r3, 'west');
    await this.net.start();
    return [r1, r2, r3];
  }

  /** A started carrier beside a router. */
  async agent(at: FrrRouter, n: 1 | 2 | 3, overrides: Partial<IsisCarrierOptions> = {}): Promise<IsisAgent> {
    const agent = new IsisAgent(at, isisOptions(SYSTEM[n], overrides), { poller: this.poller, hostname: `agent${n}` });
    this.agents.push(agent);
    await agent.carrier.start();
    return agent;
  }

  /** Starts one of support/*.process.ts in the namespace of a router. */
  launch(name: string, at: FrrRouter, args: readonly string[]): Promise<ChildProcess> {
    return this.processes.launch(name, at, args);
  }
}

export const up = (agent: IsisAgent): Promise<unknown> => until('adjacency up', () => agent.state, is('up'));
