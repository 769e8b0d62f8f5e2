// The routing suite that the file names, as what cnpd needs of it (model/router-suite.ts).
import type { FrrLocation } from '../../frr/frr-facts.ts';
import type { Intent } from '../../intent/intent.ts';
import type { RouterSuite } from '../../model/router-suite.ts';
import { frrSuite } from './frr.ts';
import { holoSuite } from './holo.ts';
import { foreignSuite } from './none.ts';

/** @param location of FRR, where that is the suite */
export function suiteBeside(intent: Intent, location: FrrLocation): RouterSuite {
  const { suite } = intent.router;
  if (suite?.name === 'holo') return holoSuite(intent, suite.target);
  return suite?.name === 'none' ? foreignSuite(intent) : frrSuite(intent, location);
}
