// Attributes byte for byte, for the tests of this folder and of test/codec: an IPv6 and an IPv4 route with the proxy of
// their senders.
import { address } from '../../model/address.ts';
import { fromHex } from '../hex.ts';
import { pncCharacteristic } from './characteristics.ts';
import { AFI, type Nhc, SAFI_UNICAST } from './nhc.ts';

export const CODES = { pnc: 65500, private: 65501, supports: 65502 } as const;

export const NHC_V6: Nhc = {
  afi: AFI.ipv6,
  safi: SAFI_UNICAST,
  nextHop: address('2001:db8::9'),
  characteristics: [pncCharacteristic(CODES.pnc, address('2001:db8::1'))],
};
/** With flags, type and length. */
export const NHC_V6_ATTRIBUTE = fromHex(
  'c02728 0002 01 10 20010db8000000000000000000000009 ffdc 0010 20010db8000000000000000000000001',
);

export const NHC_V4: Nhc = {
  afi: AFI.ipv4,
  safi: SAFI_UNICAST,
  nextHop: address('192.0.2.9'),
  characteristics: [pncCharacteristic(CODES.pnc, address('192.0.2.1'))],
};
export const NHC_V4_ATTRIBUTE = fromHex('c02710 0001 01 04 c0000209 ffdc 0004 c0000201');
