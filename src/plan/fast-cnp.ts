// How Fast CNPs are built (FCNP §4). Off unless a policy or a prefix of the proxy orders them (FCNP-5-f, FCNP-5-g).
import type { Intent } from '../intent/intent.ts';
import type { FastCnpPlan } from './desired.ts';

export function planFastCnp({ notifications, proxy, codePoints }: Intent): FastCnpPlan | undefined {
  const ordered =
    notifications?.senders.some(({ order }) => order.includes('fast-cnp')) ||
    proxy?.senders.some(({ format }) => format === 'fast-cnp');
  if (!ordered) return undefined;
  return {
    option: codePoints['fast-cnp-option'],
    ioamOption: codePoints['fast-cnp-ioam-option'],
    icrc: notifications?.fastCnp.icrc ?? 'cover',
  };
}
