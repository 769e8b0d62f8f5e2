// Whether this router would forward a packet to an address.
import type { IpAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Rtnetlink } from './rtnetlink.ts';

/** Errors of a look-up without a usable route: none, unreachable, blackhole (EINVAL), prohibit. */
const NOWHERE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);

/** True also when the look-up itself fails. */
export async function hasRoute(rtnetlink: Pick<Rtnetlink, 'routeTo'> | undefined, to: IpAddress): Promise<boolean> {
  try {
    await rtnetlink?.routeTo(to);
    return true;
  } catch (error) {
    return !(isKernelError(error) && NOWHERE.has(error.code));
  }
}
