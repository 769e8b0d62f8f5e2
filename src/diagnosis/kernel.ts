// The kernel in `cnpctl doctor`, if no cnpd runs that knows it. The probe itself reports each missing feature with its
// remedy (src/kernel/probe.ts).
import type { KernelError } from '../kernel/errors.ts';
import type { KernelFeature } from '../kernel/probe.ts';
import type { Check, Problem } from '../model/problem.ts';
import { problemCheck } from './running.ts';

/** @param problems what planning finds with these features */
export function checkKernel(
  features: readonly KernelFeature[],
  problems: (() => readonly Problem[]) | undefined,
): Check[] {
  const [privileges] = features;
  // One cause, one line: without its privileges everything else fails as well.
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

/** The kernel cannot be asked at all. */
export const kernelSilent = ({ message }: KernelError): Check => ({
  id: 'kernel',
  claim: 'the kernel can be examined',
  state: 'missing',
  problem: message,
  remedy: 'run this as root',
});
