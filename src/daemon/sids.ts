// The SRv6 SIDs that matter to cnpd, for `cnpctl show srv6 sids`: its own END.CON SIDs and whether they are in the kernel, and those that the network has advertised.
import type { Intent } from '../intent/intent.ts';
import type { LearnedRouters } from '../learned/routers.ts';
import { formatAddress } from '../model/address.ts';
import type { SidState } from '../model/state.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Srv6 } from '../reconcile/srv6.ts';

const END_CON = 'END.CON';
const NOT_PLANNED = 'not programmed: `cnpctl show status` says why';

export interface SidModules {
  readonly intent: Intent;
  readonly routers: Pick<LearnedRouters, 'endConSids'>;
  readonly desired: Pick<DesiredState, 'srv6'> | undefined;
  readonly dataplane: { readonly srv6: Pick<Srv6, 'refusal'> | undefined } | undefined;
}

export function sidStates({ intent, routers, desired, dataplane }: SidModules): SidState[] {
  const own = (intent.srv6?.endCon ?? []).map(({ sid, table }): SidState => {
    const text = formatAddress(sid);
    return { sid: text, behavior: END_CON, origin: 'local', status: desired?.srv6 ? (dataplane?.srv6?.refusal(text) ?? 'programmed') : NOT_PLANNED, table, carrier: '', originator: '' };
  });
  const learned = routers.endConSids(intent.codePoints['end-con-behavior']).map(({ sid, carrier, originator, heldUntil }): SidState => ({
    sid: formatAddress(sid),
    behavior: END_CON,
    origin: 'learned',
    status: heldUntil === undefined ? 'reachable' : `held until ${heldUntil}`,
    table: null,
    carrier,
    originator,
  }));
  return [...own, ...learned];
}
