// A running cnpd in `cnpctl doctor`: whether it runs, its own problems, and its paths in gobgpd.
import type { BgpSessionState } from '../model/carrier-state.ts';
import { type Check, type Problem, isHazard } from '../model/problem.ts';

const DAEMON = { id: 'cnpd', claim: 'cnpd runs' } as const;

export const RUNNING: Check = { ...DAEMON, state: 'ok' };

/** @param unreachable no process listens at its socket; otherwise it answers with an error */
export const notRunning = (error: Error, unreachable: boolean): Check => ({
  ...DAEMON,
  state: 'missing',
  problem: error.message,
  remedy: unreachable ? 'systemctl start cnpd' : 'systemctl restart cnpd; journalctl -u cnpd',
});

/** As the running cnpd tells it. */
type ToldProblem = Omit<Problem, 'code'> & { readonly code?: string };

/** A problem as a check of `cnpctl doctor`. */
export const problemCheck = ({ code, feature, problem, remedy }: ToldProblem): Check => ({
  id: feature,
  claim: `${feature} works`,
  state: isHazard({ code }) ? 'warning' : 'missing',
  problem,
  remedy,
});

type Session = Pick<BgpSessionState, 'state' | 'originated' | 'wanted' | 'refusal'>;

/**
 * How many of the running cnpd's paths gobgpd has. If gobgpd is away, the problems explain it.
 * @param explained whether one of the problems is of BGP
 */
export function checkOriginated(explained: boolean, session: Session | undefined): Check[] {
  if (session?.state !== 'ready') return [];
  const { originated, wanted: desired, refusal } = session;
  const [id, count] = ['bgp.originated', `${originated} of ${desired} of cnpd's paths`];
  if (originated === desired && refusal === undefined) return [{ id, claim: `${count} are in gobgpd`, state: 'ok' }];
  const remedy =
    explained || refusal !== undefined ? 'fix the bgp problems above' : 'ask again in a moment: they are being added';
  return [{ id, claim: "cnpd's paths are in gobgpd", state: 'missing', problem: `${count} are in gobgpd`, remedy }];
}
