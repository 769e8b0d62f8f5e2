// The SRv6 SIDs for `cnpctl show srv6 sids`: this router's, with their state in the kernel, and those that others
// advertise.
import type { Intent } from '../intent/intent.ts';
import type { LearnedRouters, SidEntry } from '../learned/routers.ts';
import { type IpAddress, formatAddress, mapKey } from '../model/address.ts';
import type { SidState } from '../model/state.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Srv6 } from '../reconcile/srv6.ts';

/** Name of a behavior, and the code point of its number. */
const BEHAVIORS = [
  ['END.CON', 'end-con-behavior'],
  ['End.MT', 'end-mt-behavior'],
  ['replication', 'replication-behavior'],
] as const;
/** The IGP still hears the originator, but this router has no route to the SID. */
const NO_WAY = 'no route to it from this router';
const NOT_PLANNED = 'not programmed: `cnpctl show status` shows why';
const REFUSED = 'not in service: `cnpctl show status` shows why';

export interface SidDependencies {
  readonly intent: Intent;
  readonly routers: Pick<LearnedRouters, 'sidsOf'>;
  readonly desired: Pick<DesiredState, 'srv6' | 'multicast'> | undefined;
  readonly dataplane:
    | (Pick<Dataplane, 'refusedSids'> & { readonly srv6: Pick<Srv6, 'refusal'> | undefined })
    | undefined;
  /** Whether this router has a route to an address. */
  readonly hasRoute: (sid: IpAddress) => Promise<boolean>;
}

export async function sidStates(dependencies: SidDependencies): Promise<SidState[]> {
  return [...ownSids(dependencies), ...(await learnedSids(dependencies))];
}

const local = (sid: string, behavior: string, status: string, table: number | null): SidState => ({
  sid,
  behavior,
  origin: 'local',
  status,
  table,
  carrier: '',
  originator: '',
});

function ownSids({ intent: { srv6 }, desired, dataplane }: SidDependencies): SidState[] {
  const endCon = (srv6?.endCon ?? []).map(({ sid, table }) => {
    const text = formatAddress(sid);
    const status = desired?.srv6 ? (dataplane?.srv6?.refusal(text) ?? 'programmed') : NOT_PLANNED;
    return local(text, 'END.CON', status, table);
  });
  const refused = dataplane?.refusedSids();
  const ofGroups = (
    [
      ['End.MT', srv6?.endMt],
      ['replication', srv6?.replication],
    ] as const
  ).flatMap(([behavior, declared]) => {
    if (!declared) return [];
    const text = formatAddress(declared.sid);
    const status = !desired?.multicast ? NOT_PLANNED : refused?.has(text) ? REFUSED : 'programmed';
    return [local(text, behavior, status, null)];
  });
  return [...endCon, ...ofGroups];
}

/** A SID has one row, with all behaviors and originators that it is advertised with: more than one is a mistake. */
function learnedSids({ intent: { codePoints }, routers, hasRoute }: SidDependencies): Promise<SidState[]> {
  const found = new Map<string, { readonly entry: SidEntry; readonly behaviors: string[]; readonly by: Set<string> }>();
  for (const [behavior, codePoint] of BEHAVIORS)
    for (const entry of routers.sidsOf(codePoints[codePoint])) {
      const key = mapKey(entry.sid);
      const known = found.get(key);
      if (known) {
        known.behaviors.push(behavior);
        known.by.add(entry.originator);
      } else found.set(key, { entry, behaviors: [behavior], by: new Set([entry.originator]) });
    }
  return Promise.all(
    [...found.values()].map(async ({ entry: { sid, carrier, heldUntil }, behaviors, by }) => ({
      sid: formatAddress(sid),
      behavior: behaviors.join(', '),
      origin: 'learned',
      status: heldUntil !== undefined ? `held until ${heldUntil}` : (await hasRoute(sid)) ? 'reachable' : NO_WAY,
      table: null,
      carrier,
      originator: [...by].join(', '),
    })),
  );
}
