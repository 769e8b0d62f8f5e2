// `cnpctl doctor` when the configuration in force is not the file's: it is on trial, was not written, or the file has
// changed since. cnpd shows it without its keys, so what depends on one cannot be judged.
import { HIDDEN } from '../model/masks.ts';
import type { Check } from '../model/problem.ts';

/** What a running cnpd has in force, as it shows it. */
export interface ConfigInForce {
  readonly text: string;
  /** Whether a restart would come up with it, as far as cnpd knows. */
  readonly isPersistent: boolean;
  /** On trial until then. */
  readonly confirmBy?: string;
}

/** Valid as a key of any kind. */
const NO_KEY = 'key-not-shown';

/** @param text as cnpd shows it */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, NO_KEY);

/** Says what is examined, if that is not the file. */
export function checkInForce(file: string, { confirmBy, isPersistent }: ConfigInForce): Check {
  const common = { id: 'config.in-force', claim: `${file} is in force`, state: 'warning' } as const;
  const examined = 'all below is about what is in force, also where it says cnpd.yaml';
  if (confirmBy !== undefined)
    return {
      ...common,
      problem: `a configuration is in force on trial until ${confirmBy}, not ${file}; ${examined}`,
      remedy: 'cnpctl confirm keeps it, cnpctl rollback takes it back; cnpctl diff shows the difference',
    };
  const why = isPersistent ? `${file} has changed since it was loaded` : `a configuration that ${file} does not have`;
  return {
    ...common,
    problem: `${isPersistent ? why : `in force is ${why}`}; ${examined}`,
    remedy: 'cnpctl reload puts the file in force; cnpctl diff shows the difference',
  };
}

export const inForceUnreadable = ({ errors }: { readonly errors: readonly string[] }): Check => ({
  id: 'config.in-force',
  claim: 'the configuration in force can be read',
  state: 'missing',
  problem: errors[0] ?? 'unreadable',
  remedy: 'use the cnpctl of the version that runs: cnpctl show status',
});

/** A finding that compares with a key that is not shown says so. */
export const withoutVerdictOnKeys = (checks: readonly (Check & { readonly code?: string })[]): Check[] =>
  checks.map((check) =>
    check.code === 'keys-differ'
      ? {
          id: check.id,
          claim: check.claim,
          state: 'warning',
          problem: 'both have a key; whether it is the same is not known, as cnpd does not show its keys',
          remedy: 'cnpctl doctor -c FILE, with the file that was applied, compares them',
        }
      : check,
  );
