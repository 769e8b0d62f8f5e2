// Where the flows of senders with `action: enforce` are held (LHCNP §5.6): the egress ports that the file names, and
// their rate, above which no flow recovers.
import type { Intent } from '../intent/intent.ts';
import type { EnforceIntent } from '../intent/source.ts';
import type { Problem } from '../model/problem.ts';
import type { EnforcePlan } from './source-plan.ts';
import { type Facts, type LinkFact, findLink, interfaceMissing, missingFeatures } from './facts.ts';

/** @param problems gets what is wrong with the ports. Returns undefined without a port, or if the rate is not known. */
export function planEnforce({ source }: Intent, facts: Facts, problems: Problem[]): EnforcePlan | undefined {
  if (!source?.enforce) return undefined;
  const missing = missingFeatures('enforce', facts).map((problem) => ({ ...problem, feature: 'source' }));
  problems.push(...missing);
  if (missing.length > 0) return undefined;
  const { enforce } = source;
  const links = enforce.ports.flatMap((name) => {
    const link = findLink(facts, name);
    if (!link) problems.push(interfaceMissing('source.enforce.ports', name));
    return link ? [link] : [];
  });
  const lineRate = rateOf(enforce, links);
  if (links.length === 0) return undefined;
  if (lineRate === undefined) {
    problems.push({
      code: 'source.rate-unknown',
      feature: 'source',
      problem: `the rate of ${links.map(({ name }) => name).join(', ')} is not known, so no flow can be held there`,
      remedy: 'set `bandwidth:` under source.enforce in cnpd.yaml',
    });
    return undefined;
  }
  return {
    ports: links.map(({ name, ifindex }) => ({ id: name, interface: name, ifindex })),
    lineRate,
    rttMs: enforce.rttMs,
    response: Math.round(enforce.response * 100),
    queueing: enforce.queueing,
    buffer: enforce.buffer,
    flows: enforce.flows,
    ...(enforce.ioam && { ioam: { capacity: lineRate, ...enforce.ioam } }),
  };
}

/** The declared rate, else that of the slowest link. */
function rateOf({ bandwidth }: EnforceIntent, links: readonly LinkFact[]): number | undefined {
  if (bandwidth !== undefined) return bandwidth;
  const speeds = links.map(({ speedBitPerS }) => speedBitPerS);
  return speeds.includes(undefined) ? undefined : Math.min(...(speeds as number[]));
}
