// The kernel in `cnpctl doctor` when no cnpd runs to report about it. The probe itself reports each missing feature
// with
// its remedy (src/kernel/probe.ts).
import type { KernelError } from '../kernel/errors.ts';
import type { KernelFeature } from '../kernel/probe.ts';
import type { Check, Problem } from '../model/problem.ts';
import { problemCheck } from './running.ts';

/** @param problems what planning reports with these features */
export function checkKernel(
  features: readonly KernelFeature[],
  problems: (() => readonly Problem[]) | undefined,
): Check[] {
  const [privileges] = features;
  // One cause, one line: without privileges all the other checks fail as well.
  if (privileges?.name === 'capabilities' && !privileges.ok) return [featureCheck(privileges)];
  return [
    ...features.filter((feature) => feature.required).map(featureCheck),
    ...(problems?.() ?? []).map(problemCheck),
  ];
}

const featureCheck = ({ name, ok, neededFor, detail, remedy }: KernelFeature): Check => ({
  id: `kernel.${name}`,
  claim: detail,
  state: ok ? 'ok' : 'missing',
  ...(ok ? {} : { problem: `${detail} (needed for ${neededFor})`, remedy }),
});

/** The kernel does not answer at all. */
export const kernelSilent = ({ message }: KernelError): Check => ({
  id: 'kernel',
  claim: 'the kernel can be examined',
  state: 'missing',
  problem: message,
  remedy: 'run this as root',
});
