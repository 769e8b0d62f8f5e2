// Packets that FRR 8.4.4 sent, captured on a link between two of them, for the tests of authentication.
import { address } from '../../model/address.ts';
import { fromHex } from '../hex.ts';
import type { AuthenticationKey } from './digest.ts';

const secret = new TextEncoder().encode('s3cret');

/** A hello of 192.0.2.1 with keyed MD5, `ip ospf message-digest-key 7 md5 s3cret`. */
export const FRR_MD5_HELLO = fromHex(
  '0201002cc00002010000000000000002000007106b0211dffffffffc00020201000000080000000000000000ebc2da25' +
    'ec318249039078308ce57586',
);
export const FRR_MD5_KEY: AuthenticationKey = { id: 7, algorithm: 'md5', secret };

/** An update of 192.0.2.1 with a Router-LSA, under the same key. */
export const FRR_MD5_UPDATE = fromHex(`
  0204004cc00002010000000000000002000007106b0211e50000000100030201c0000201c0000201800000027273003000000002c0000201ffffffff030000000a000000
  fffffffc0300000a12964ffdaa1c9160c217b30d8beb7d69
`);

/** A hello of 192.0.2.1 with a trailer, `ipv6 ospf6 authentication key-id 9 hash-algo hmac-sha-256 key s3cret`. */
export const FRR_TRAILER_HELLO = fromHex(`
  03010024c000020100000000000000000000000201000413000200080000000000000000000100300000000900000000000000014450ec84488a71b0b3f4a735ecf51fca
  6614b9da36875ae0657753fd9f2d3c4b
`);
export const FRR_TRAILER_KEY: AuthenticationKey = { id: 9, algorithm: 'hmac-sha-256', secret };
export const FRR_TRAILER_ADDRESSES = { source: address('fe80::75:bdff:fe1d:3a05'), destination: address('ff02::5') };

/** An update of 192.0.2.1 with a Link-LSA, a Router-LSA and an Intra-Area-Prefix-LSA, under the same key. */
export const FRR_TRAILER_UPDATE = fromHex(`
  0304008cc00002010000000000000000000000030003000800000002c0000201800000014022002c01000013fe800000000000000075bdfffe1d3a050000000000042001
  00000000c000020180000001531b0018000000130004200900000000c0000201800000018a7a00340001200100000000c00002018000000a20010db8ffff000000000000
  0000000100010030000000090000000000000004abc52f8227d49a82bfacf9308923fa7d017480e345c4ed4a3d178b00d07d74ed
`);
