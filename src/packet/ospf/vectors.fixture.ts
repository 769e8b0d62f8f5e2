// LSAs for the tests of this folder, written out by hand from the RFCs; their checksums agree with those that scapy
// computes.
import { fromHex } from '../hex.ts';

/**
 * OSPFv2 10/7 of 1.1.1.1: 10.1.0.0/24, intra-area, P-flag, source router ID 1.1.1.1, source router address 192.0.2.1.
 */
export const EXTENDED_PREFIX_LSA = fromHex(`
  0001420a070000010101010180000001 8b15 0038 0001 0020 01180000 0a010000 000b 0004 20000000 0004 0004 01010101 0005 0004 c0000201
`);

/**
 * OSPFv3 E-Intra-Area-Prefix of 1.1.1.1: 2001:db8:a::/64, metric 10, P-flag, source router ID 1.1.1.1, source router
 * address 2001:db8::1.
 */
export const E_INTRA_AREA_PREFIX_LSA = fromHex(`
  0001a029000000010101010180000001 217a 0058 0000a021 00000000 01010101 0006 0034 0000000a 40000000 20010db8000a0000
  0025 0004 20000000 001b 0004 01010101 001c 0010 20010db8000000000000000000000001
`);

/** OSPFv3 SRv6 Locator LSA of 1.1.1.1: fc00:1:1::/48 with an End SID of behavior 32769 and its structure. */
export const SRV6_LOCATOR_LSA = fromHex(`
  0001a02a0000000101010101 80000001 61b6 0048 0001 0030 01003000 00000000 fc00000100010000
  0001 001c 0000 8001 fc000001000100000000000000000001 000a 0004 20101000
`);
