// The router's stable address in its traffic-engineering LSA: OSPFv2 opaque type 1 (RFC 3630 §2.4.1), OSPFv3 function
// 10 (RFC 5329 §3). It is the proxy's address if the prefix names none (decision D6). Links are kept as unknown TLVs.
import { type Family, addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { readAddress } from '../../bytes.ts';
import { EncodeError } from '../../encode-error.ts';
import { type TlvCodec, checkLength, tlvSpace } from '../tlv.ts';
import { tlvBody } from './codec.ts';
import type { TeRouterAddress, TrafficEngineeringLsa } from './types.ts';

const routerAddress = (type: number, family: Family): TlvCodec<TeRouterAddress> => ({
  type,
  name: 'te-router-address',
  decode: (value) =>
    checkLength(value, family === 4 ? 4 : 16, 'router address') ??
    ok({ kind: 'te-router-address', address: readAddress(value, 0, family) }),
  encode({ address }) {
    if (address.family !== family) throw new EncodeError('bad-field', `an IPv${address.family} address in TLV ${type}`);
    return addressBytes(address);
  },
});

export const TRAFFIC_ENGINEERING_V2 = tlvBody<TeRouterAddress, TrafficEngineeringLsa>(
  'traffic-engineering-v2',
  tlvSpace([routerAddress(1, 4)]),
);
export const TRAFFIC_ENGINEERING_V3 = tlvBody<TeRouterAddress, TrafficEngineeringLsa>(
  'traffic-engineering-v3',
  tlvSpace([routerAddress(3, 6)]),
);
