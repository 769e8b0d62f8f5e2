// `cnpd --configure`: gives the routing suite beside cnpd the configuration that cnpd needs.
import type { FrrLocation } from '../frr/frr-facts.ts';
import { suiteBeside } from '../diagnosis/suites/suite.ts';
import type { Intent } from '../intent/intent.ts';
import { silentLog } from '../model/log.ts';
import { ConfigureError, SUITE_TITLES, isForTheOperator } from '../model/router-suite.ts';

/** Whether the carriers' interfaces must exist before the suite's configuration names them. */
export const isConfiguredAfterStart = (intent: Intent): boolean => suiteBeside(intent, {}).configuredAfterStart;

/**
 * Returns whether the suite has the configuration that cnpd needs. Items that only the operator can decide are printed
 * and do not prevent the start.
 * @param location of FRR, where that is the suite
 */
export async function configureSuite(intent: Intent, location: FrrLocation): Promise<boolean> {
  const say = (line: string): void => void process.stdout.write(`configure: ${line}\n`);
  const suite = suiteBeside(intent, location);
  if (!intent.isis && !intent.ospfv2 && !intent.ospfv3) {
    say(`cnpd.yaml has no isis, ospfv2 or ospfv3 section: ${SUITE_TITLES[suite.name]} needs nothing`);
    return true;
  }
  try {
    const remaining = await suite.configure({ save: false }, { say, log: silentLog });
    for (const check of remaining.filter(isForTheOperator))
      say(`left to the operator: ${check.problem ?? check.claim}${check.remedy ? ` — ${check.remedy}` : ''}`);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigureError)) throw error;
    process.stderr.write(`configure: ${error.message}\n`);
    return false;
  }
}
