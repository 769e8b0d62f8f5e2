// Fast CNP (FCNP §4): how it is built. Off unless a policy orders it (FCNP-5-f, FCNP-5-g).
import type { Intent } from '../intent/intent.ts';
import type { FastCnpPlan } from './desired.ts';

export function planFastCnp({ notifications, codePoints }: Intent): FastCnpPlan | undefined {
  if (!notifications?.senders.some(({ order }) => order.includes('fast-cnp'))) return undefined;
  return { option: codePoints['fast-cnp-option'], ioamOption: codePoints['fast-cnp-ioam-option'], icrc: notifications.fastCnp.icrc };
}
