// Keys that are missing on purpose, and why. Pure.
import type { Path } from './words.ts';

const REFUSED: ReadonlyMap<string, string> = new Map([
  [
    'srv6.multicast.hmac-key-id',
    'packets of a group have no HMAC TLV: it covers the outer source address (RFC 8754 §2.1.2.1), by which each router ' +
      'of the tree names itself in its copies, so no HMAC of the root would be valid behind it. Remove the key, and ' +
      'keep foreign packets away from SIDs with border-ports and srv6.core-ports, or protect the links (MACsec, IPsec)',
  ],
]);

/** Why there is no such key; undefined: nobody would expect it. */
export const refusalOf = (path: Path): string | undefined => REFUSED.get(path.join('.'));
