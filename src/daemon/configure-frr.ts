// `cnpd --configure-frr`: FRR's share of the configuration, before the daemon starts.
import type { FrrExpectations } from '../frr/examine.ts';
import { ConfigureError, configureFrr as configure, runCommand } from '../frr/configure.ts';
import type { FrrCheck } from '../frr/finding.ts';
import type { Intent } from '../intent/intent.ts';
import { silentLog } from '../model/log.ts';

/** What each declared carrier needs of FRR. */
export const frrExpectations = ({ isis, ospfv2, ospfv3, srv6 }: Intent): FrrExpectations => ({
  ...(isis && { isis: { ...isis, endCon: srv6?.endCon ?? [] } }),
  ...(ospfv2 && { ospfv2 }),
  ...(ospfv3 && { ospfv3: { ...ospfv3, endCon: srv6?.endCon ?? [] } }),
});

/** Its interfaces cnpd creates in a moment; what cannot be told without them is no finding. */
export const isForTheOperator = ({ state, problem }: Pick<FrrCheck, 'state' | 'problem'>): boolean =>
  state === 'missing' && !/^there is no interface /.test(problem ?? '');

/** True when FRR has what it needs. What only the operator can decide is printed, and is no reason not to start. */
export async function configureFrr(intent: Intent, vtyDir?: string): Promise<boolean> {
  const say = (line: string): void => void process.stdout.write(`configure-frr: ${line}\n`);
  const want = frrExpectations(intent);
  if (Object.keys(want).length === 0) {
    say('cnpd.yaml has no isis, ospfv2 or ospfv3 section: FRR needs nothing');
    return true;
  }
  try {
    const { remaining } = await configure(
      want,
      { save: false, ...(vtyDir !== undefined && { vtyDir }) },
      { run: runCommand, say, log: silentLog },
    );
    for (const check of remaining.filter(isForTheOperator))
      say(`left to you: ${check.problem ?? check.claim}${check.remedy ? ` — ${check.remedy}` : ''}`);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigureError)) throw error;
    process.stderr.write(`configure-frr: ${error.message}\n`);
    return false;
  }
}
