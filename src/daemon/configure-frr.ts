// `cnpd --configure-frr`: gives FRR the configuration lines that cnpd needs, before the daemon starts.
import { examineFrr, frrExpectations, isForTheOperator } from '../diagnosis/frr/examine.ts';
import { ConfigureError, configureFrr as configure, runCommand } from '../frr/configure.ts';
import type { Intent } from '../intent/intent.ts';
import { silentLog } from '../model/log.ts';

/**
 * Returns whether FRR has the configuration that cnpd needs. Items that only the operator can decide are printed and do
 * not prevent the start.
 */
export async function configureFrr(intent: Intent, vtyDir?: string): Promise<boolean> {
  const say = (line: string): void => void process.stdout.write(`configure-frr: ${line}\n`);
  const want = frrExpectations(intent);
  if (Object.keys(want).length === 0) {
    say('cnpd.yaml has no isis, ospfv2 or ospfv3 section: FRR needs nothing');
    return true;
  }
  try {
    const location = vtyDir === undefined ? {} : { vtyDir };
    const { remaining } = await configure(
      () => examineFrr(location, want),
      { save: false, ...location },
      { run: runCommand, say, log: silentLog },
    );
    for (const check of remaining.filter(isForTheOperator))
      say(`left to the operator: ${check.problem ?? check.claim}${check.remedy ? ` — ${check.remedy}` : ''}`);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigureError)) throw error;
    process.stderr.write(`configure-frr: ${error.message}\n`);
    return false;
  }
}
