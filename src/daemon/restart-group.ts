// A group's stream that begins anew (decision "Groups"): asked for by its Proxy Address. Only a root does something.
import { formatAddress, parseAddress } from '../model/address.ts';
import type { ChangeRefusal, ChangeResult } from '../model/group-change.ts';
import type { Count, Log } from '../model/log.ts';
import { fail, ok } from '../model/result.ts';

interface RestartOptions {
  /** Whether this router is the root of the group, by its Proxy Address in canonical text. */
  readonly restart: (group: string) => boolean;
  readonly count: Count;
  readonly log: Log;
}

/** @param text the Proxy Address in any form */
export function restartGroup(text: string, { restart, count, log }: RestartOptions): ChangeResult {
  const refuse = (code: ChangeRefusal['code'], error: string): ChangeResult => {
    count(`groups.restart.refused.${code}`);
    return fail({ code, errors: [error] });
  };
  const proxyAddress = parseAddress(text);
  if (proxyAddress?.family !== 6) return refuse('invalid', 'proxy-address: allowed: an IPv6 address');
  const group = formatAddress(proxyAddress);
  if (!restart(group))
    return refuse('conflict', `group ${group}: this router is not its root, or has no tree of it yet`);
  count('groups.restart.done');
  log.info({ group }, 'the stream of the group begins anew');
  return ok(undefined);
}
