// The End.MT TLV of the Segment Routing Header (RMC §7.2): an edge and its receivers. Here is the value; srh.ts has type
// and length.
import { type IpAddress, putAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { put24, readAddress, u24 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';

/** Reserved (2), edge (16), number of receivers (1), reserved (3). */
const FIXED = 22;
const [EDGE_AT, COUNT_AT] = [2, 18];
/** Address (16), Queue Pair (3), reserved (1). */
const RECEIVER = 20;
/** The length has 8 bits. */
export const MOST_RECEIVERS = 11;

export interface EndMtTlv {
  /** The Edge Node Address: an End.MT SID. IPv6. */
  readonly edge: IpAddress;
  /** 1 to 11, IPv6. The Queue Pair has 24 bits. */
  readonly receivers: readonly { readonly address: IpAddress; readonly qpn: number }[];
}

/** The value. Reserved fields are zero (RMC-7.2-d). @throws EncodeError `bad-field` */
export function encodeEndMtTlv({ edge, receivers }: EndMtTlv): Uint8Array {
  if (receivers.length === 0 || receivers.length > MOST_RECEIVERS)
    throw new EncodeError('bad-field', `an End.MT TLV has 1 to ${MOST_RECEIVERS} receivers, not ${receivers.length}`);
  if ([edge, ...receivers.map(({ address }) => address)].some(({ family }) => family !== 6))
    throw new EncodeError('bad-field', 'edge and receivers of an End.MT TLV have IPv6 addresses');
  const value = new Uint8Array(FIXED + RECEIVER * receivers.length);
  putAddress(value, EDGE_AT, edge);
  value[COUNT_AT] = receivers.length;
  for (const [i, { address, qpn }] of receivers.entries()) {
    putAddress(value, FIXED + RECEIVER * i, address);
    put24(value, FIXED + RECEIVER * i + 16, field('Queue Pair', qpn, 24));
  }
  return value;
}

/**
 * Reserved fields are ignored (RMC-7.2-e). Codes: `truncated`, `no-receivers`, `too-many-receivers`, `bad-length` (not
 * that of so many receivers).
 */
export function decodeEndMtTlv(value: Uint8Array): Decoded<EndMtTlv> {
  if (value.length < FIXED) return malformed('truncated', value.length, `an End.MT TLV of ${value.length} bytes`);
  const count = value[COUNT_AT]!;
  if (count === 0) return malformed('no-receivers', COUNT_AT, 'an End.MT TLV without receivers');
  if (count > MOST_RECEIVERS) return malformed('too-many-receivers', COUNT_AT, `${count} receivers in one TLV`);
  if (value.length !== FIXED + RECEIVER * count)
    return malformed('bad-length', COUNT_AT, `${count} receivers in ${value.length} bytes`);
  return ok({
    edge: readAddress(value, EDGE_AT, 6),
    receivers: Array.from({ length: count }, (_, i) => ({
      address: readAddress(value, FIXED + RECEIVER * i, 6),
      qpn: u24(value, FIXED + RECEIVER * i + 16),
    })),
  });
}
