// Whether a packet to an address would leave this router.
import type { IpAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Rtnetlink } from './rtnetlink.ts';

/**
 * What a look-up is answered with where no route is, or one that leads nowhere: unreachable, blackhole (EINVAL),
 * prohibit.
 */
const NOWHERE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);

/** True also when the kernel cannot be asked. */
export async function hasRoute(rtnetlink: Pick<Rtnetlink, 'routeTo'> | undefined, to: IpAddress): Promise<boolean> {
  try {
    await rtnetlink?.routeTo(to);
    return true;
  } catch (error) {
    return !(isKernelError(error) && NOWHERE.has(error.code));
  }
}
