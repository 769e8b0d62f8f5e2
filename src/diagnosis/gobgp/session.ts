// Problems of a running cnpd with its gobgpd: it cannot be reached or understood, or does not accept or keep paths.
import type { BgpSession } from '../../model/carrier-state.ts';
import type { Problem, ProblemCode } from '../../model/problem.ts';
import { droppedRemedy, gobgpRemedy, policyRemedy, refusalRemedy } from './remedies.ts';

/**
 * How long gobgpd may be away before that is a problem, milliseconds: time for its restart, with a margin. It is also
 * the time that gobgpd may take to list a large table.
 */
const GOBGP_PATIENCE_MS = { connecting: 30_000, waiting: 30_000, loading: 120_000, ready: Infinity } as const;

/** Times are milliseconds since 1970. */
export function bgpProblems(session: BgpSession | undefined, startedAt: number, now: number): Problem[] {
  if (!session) return [];
  if (session.state === 'ready') return connectedProblems(session);
  const { since, state, target, reason, fault = 'other' } = session;
  if (now - Math.max(startedAt, Date.parse(since)) < GOBGP_PATIENCE_MS[state]) return [];
  const problem =
    `gobgpd cannot be used at ${target} (${reason}): nothing is advertised in BGP, ` +
    'and learned entries are held for a while and then dropped';
  return bgp('bgp.unusable', problem, gobgpRemedy(target, fault));
}

const bgp = (code: ProblemCode, problem: string, remedy: string): Problem[] => [
  { code, feature: 'bgp', problem, remedy },
];

/** The first problem of a connected gobgpd. */
function connectedProblems(session: BgpSession): Problem[] {
  const {
    refusal,
    refusalFault = 'other',
    policy,
    policyReason = '',
    policyNameTaken = false,
    silent,
    originated,
    wanted: desired,
    dropped,
    noTable,
    target,
  } = session;
  if (refusal !== undefined && policy !== 'failed' && silent === undefined) {
    const problem =
      `gobgpd refuses cnpd's changes (${refusal}): ` +
      `it has ${originated} of ${desired} paths, as far as is known; cnpd keeps retrying`;
    return bgp('bgp.refused', problem, refusalRemedy(target, refusalFault));
  }
  if (dropped) {
    const problem =
      `gobgpd accepts ${dropped} of cnpd's ${desired} paths without an error but does not have ` +
      `them${noTable ? `: it has no table of ${noTable.join(', ')}` : ''}; no router learns those proxies, ` +
      'and cnpd keeps retrying';
    return bgp('bgp.dropped', problem, droppedRemedy(noTable));
  }
  if (silent !== undefined) {
    const problem = `gobgpd does not answer (for ${silent} s): cnpd continues with its last report`;
    return bgp('bgp.silent', problem, gobgpRemedy(target, 'no-answer'));
  }
  if (policy === 'failed') {
    const problem =
      `cnpd's policies are missing in gobgpd (${policyReason}): cnpd adds no path, ` +
      'and paths from neighbors outside the domain are not marked for the others';
    return bgp('bgp.no-policies', problem, policyRemedy(policyNameTaken));
  }
  return [];
}

/** A gobgpd serves a single cnpd: two would take each other's paths for those of an earlier run. */
export function disputeProblems(disputed: boolean): Problem[] {
  if (!disputed) return [];
  const problem =
    "another client adds, replaces or removes cnpd's paths at this gobgpd (path identifier 1668182116), " +
    'again and again: the proxies change with them';
  const remedy =
    'each cnpd needs a gobgpd of its own: compare bgp.gobgp.target in the cnpd.yaml of other routers, ' +
    'and look for scripts that run `gobgp global rib`, and for an import policy of gobgpd that changes paths ' +
    '(`gobgp global policy`)';
  return bgp('bgp.disputed', problem, remedy);
}
