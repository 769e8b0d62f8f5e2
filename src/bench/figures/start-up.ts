// How long cnpd takes from its start until everything that it is configured with is in the kernel and `show status`
// says that it runs, against a Node.js that does nothing.
import { spawnSync } from 'node:child_process';
import { Agent, CONGESTED_NODE, routerNamespace } from '../support/agent/agent.ts';
import type { Figure } from '../support/bench.ts';
import { inTurns, summary } from '../support/statistics.ts';

const ROUNDS = 5;

export const startUp: Figure = {
  name: 'start-up',
  title: 'start of cnpd until it runs, against `node -e 0`',
  async measure(bench) {
    const netns = await routerNamespace(bench);
    const cnpd = async (): Promise<number> => {
      const start = performance.now();
      const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE });
      await agent.running(bench);
      const took = performance.now() - start;
      await agent.stop();
      return took;
    };
    const node = (): number => {
      const start = performance.now();
      spawnSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
      return performance.now() - start;
    };
    const measured = await inTurns(ROUNDS, { cnpd, node });
    const [ours, bare] = [summary(measured.cnpd), summary(measured.node)];
    return [
      {
        figure: this.name,
        what: 'start of cnpd until it runs',
        unit: 'ms',
        measured: ours.median,
        spread: ours,
        reference: 'node -e 0',
        referenceValue: bare.median,
        referenceSpread: bare,
        ratio: ours.median / bare.median,
        target: '—',
        met: null,
      },
    ];
  },
};
