// The flows whose notices are timed, as the kernel's proxy, the user-space proxy and the timing programs all know them:
// one flow per notice, distinguished by Queue Pair.
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';

export const PROXY = address('2001:db8:ffff::1');
export const CONGESTED = address('2001:db8:ffff::2');
export const NOTICE_PORT = 1021;
export const SENDER_PREFIX = prefix('2001:db8:1::/64');
export const ACCEPTED_SOURCES = [prefix('2001:db8:ffff::/48')];

/** SLOTS in bpf/bench/wire.bpf.c. */
export const FLOWS = 4096;
/** The lowest 12 bits of both Queue Pairs are the flow's number. */
export const firstQpn = 0x100000;
export const senderQpnOf = (receiverQpn: number): number => receiverQpn + 0x100000;
