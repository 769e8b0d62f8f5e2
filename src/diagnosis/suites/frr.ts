// FRR beside cnpd: asked on its vty sockets, configured through vtysh.
import { configureFrr, runCommand } from '../../frr/configure.ts';
import { type FrrLocation, vtyshCommand } from '../../frr/frr-facts.ts';
import type { Intent } from '../../intent/intent.ts';
import type { RouterSuite, SuiteCheck } from '../../model/router-suite.ts';
import { examineFrr, frrExpectations } from '../frr/examine.ts';

export function frrSuite(intent: Intent, location: FrrLocation): RouterSuite {
  const want = frrExpectations(intent);
  const nothing = Object.keys(want).length === 0;
  const examine = async (): Promise<SuiteCheck[]> =>
    (await examineFrr(location, want)).map((check) => reachedBy(location, check));
  return {
    name: 'frr',
    configuredAfterStart: false,
    examine: async () =>
      nothing
        ? [{ id: 'frr', claim: 'cnpd.yaml has no isis, ospfv2 or ospfv3 section, so FRR is not checked', state: 'ok' }]
        : examine(),
    async configure(options, dependencies) {
      const { remaining } = await configureFrr(
        () => examineFrr(location, want),
        { ...options, ...location },
        { ...dependencies, run: runCommand },
      );
      return remaining.map((check) => reachedBy(location, check));
    },
  };
}

/** Remedies are written for the vtysh on the search path and FRR's own directory of sockets. */
export function reachedBy(location: FrrLocation, check: SuiteCheck): SuiteCheck {
  const command = vtyshCommand(location).join(' ');
  return check.remedy === undefined
    ? check
    : { ...check, remedy: check.remedy.replaceAll('vtysh -c', `${command} -c`) };
}
