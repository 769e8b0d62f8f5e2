// The SRv6 SIDs for `cnpctl show srv6 sids`: this router's END.CON SIDs with their state in the kernel, and those that
// other routers advertise.
import type { Intent } from '../intent/intent.ts';
import type { LearnedRouters } from '../learned/routers.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { SidState } from '../model/state.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Srv6 } from '../reconcile/srv6.ts';

const END_CON = 'END.CON';
/** The IGP still hears the originator, but this router has no route to the SID. */
const NO_WAY = 'no route to it from this router';
const NOT_PLANNED = 'not programmed: `cnpctl show status` shows why';

export interface SidDependencies {
  readonly intent: Intent;
  readonly routers: Pick<LearnedRouters, 'endConSids'>;
  readonly desired: Pick<DesiredState, 'srv6'> | undefined;
  readonly dataplane: { readonly srv6: Pick<Srv6, 'refusal'> | undefined } | undefined;
  /** Whether this router has a route to an address. */
  readonly hasRoute: (sid: IpAddress) => Promise<boolean>;
}

export async function sidStates({
  intent,
  routers,
  desired,
  dataplane,
  hasRoute,
}: SidDependencies): Promise<SidState[]> {
  const own = (intent.srv6?.endCon ?? []).map(({ sid, table }): SidState => {
    const text = formatAddress(sid);
    return {
      sid: text,
      behavior: END_CON,
      origin: 'local',
      status: desired?.srv6 ? (dataplane?.srv6?.refusal(text) ?? 'programmed') : NOT_PLANNED,
      table,
      carrier: '',
      originator: '',
    };
  });
  const learned = routers
    .endConSids(intent.codePoints['end-con-behavior'])
    .map(async ({ sid, carrier, originator, heldUntil }): Promise<SidState> => ({
      sid: formatAddress(sid),
      behavior: END_CON,
      origin: 'learned',
      status: heldUntil !== undefined ? `held until ${heldUntil}` : (await hasRoute(sid)) ? 'reachable' : NO_WAY,
      table: null,
      carrier,
      originator,
    }));
  return [...own, ...(await Promise.all(learned))];
}
