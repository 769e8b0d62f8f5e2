// The SRv6 SIDs that matter to cnpd, for `cnpctl show srv6 sids`: its own END.CON SIDs and whether they are in the
// kernel, and those that the network has advertised.
import type { Intent } from '../intent/intent.ts';
import type { LearnedRouters } from '../learned/routers.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { SidState } from '../model/state.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Srv6 } from '../reconcile/srv6.ts';

const END_CON = 'END.CON';
/** The IGP still hears its originator, but packets to it go nowhere. */
const NO_WAY = 'no route to it from this router';
const NOT_PLANNED = 'not programmed: `cnpctl show status` says why';

export interface SidDependencies {
  readonly intent: Intent;
  readonly routers: Pick<LearnedRouters, 'endConSids'>;
  readonly desired: Pick<DesiredState, 'srv6'> | undefined;
  readonly dataplane: { readonly srv6: Pick<Srv6, 'refusal'> | undefined } | undefined;
  /** Whether this router's routing has a way to an address. */
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
