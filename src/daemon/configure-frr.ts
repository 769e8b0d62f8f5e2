// `cnpd --configure-frr`: FRR's share of the configuration, before the daemon starts.
import { ConfigureError, configureFrr as configure, runCommand } from '../frr/configure.ts';
import type { Intent } from '../intent/intent.ts';
import { silentLog } from '../model/log.ts';

/** True when FRR has what it needs. What only the operator can decide is printed, and is no reason not to start. */
export async function configureFrr(intent: Intent): Promise<boolean> {
  const say = (line: string): void => void process.stdout.write(`configure-frr: ${line}\n`);
  if (!intent.isis) {
    say('cnpd.yaml has no isis section: FRR needs nothing');
    return true;
  }
  try {
    const { remaining } = await configure(intent.isis, { save: false }, { run: runCommand, say, log: silentLog });
    for (const check of remaining) say(`left to you: ${check.problem ?? check.claim}${check.remedy ? ` — ${check.remedy}` : ''}`);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigureError)) throw error;
    process.stderr.write(`configure-frr: ${error.message}\n`);
    return false;
  }
}
