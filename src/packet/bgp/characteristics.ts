// The characteristics that cnpd knows (nhc.ts has their frame). Their codes are unassigned, and therefore configurable:
//
//   Proxy Node Capability (PNC §5.4): the proxy's address, 4 or 16 octets
//   supports: which notifications the senders of the route's prefix understand (../understood.ts)
//   private: the container of SIDs and group memberships (../sid-container.ts)
//
// A characteristic whose value is malformed is ignored; the others are used. Of several with the same code, the first
// well-formed one is used.
import { type IpAddress, addressBytes, addressFromBytes, formatAddress, isUnicastHost } from '../../model/address.ts';
import type { CodePointValues } from '../../model/code-points.ts';
import { ok } from '../../model/result.ts';
import type { Understood } from '../../model/understood.ts';
import { type DecodeError, type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { type ContainerTlv, decodeSidContainer, encodeSidContainer } from '../sid-container.ts';
import { decodeUnderstood, encodeUnderstood } from '../understood.ts';
import type { Characteristic } from './nhc.ts';

export interface CharacteristicCodes {
  readonly pnc: number;
  readonly private: number;
  readonly supports: number;
}

export const characteristicCodes = (codePoints: CodePointValues): CharacteristicCodes => ({
  pnc: codePoints['bgp-pnc-characteristic'],
  private: codePoints['bgp-private-characteristic'],
  supports: codePoints['bgp-supports-characteristic'],
});

/** What the characteristics that cnpd knows contain. */
export interface Capabilities {
  /** Address of the proxy. */
  readonly proxy?: IpAddress;
  /** What the private characteristic contains. */
  readonly container?: readonly ContainerTlv[];
  /** What the senders understand. */
  readonly supports?: Understood;
}

export interface ReadCharacteristics extends Capabilities {
  /** Unknown codes, ascending, without duplicates. */
  readonly unknown: readonly number[];
  /** Characteristics with a known code and a malformed value, which are ignored. */
  readonly bad: readonly { readonly code: number; readonly error: DecodeError }[];
}

const notUnicast = (address: IpAddress): string => `${formatAddress(address)} cannot be a proxy`;

/** @throws EncodeError `bad-field` for an address that cannot be a proxy */
export function pncCharacteristic(code: number, proxy: IpAddress): Characteristic {
  if (!isUnicastHost(proxy)) throw new EncodeError('bad-field', notUnicast(proxy));
  return { code, value: addressBytes(proxy) };
}

/** @throws EncodeError as encodeSidContainer */
export const privateCharacteristic = (code: number, container: readonly ContainerTlv[]): Characteristic => ({
  code,
  value: encodeSidContainer(container),
});

/** @throws EncodeError as pncCharacteristic and privateCharacteristic */
export const writeCharacteristics = (
  { proxy, container, supports }: Capabilities,
  codes: CharacteristicCodes,
): Characteristic[] => [
  ...(proxy ? [pncCharacteristic(codes.pnc, proxy)] : []),
  ...(container ? [privateCharacteristic(codes.private, container)] : []),
  ...(supports ? [{ code: codes.supports, value: encodeUnderstood(supports) }] : []),
];

/** The value of a PNC characteristic. Codes: `bad-length`, `not-unicast`. */
export function decodePnc(value: Uint8Array): Decoded<IpAddress> {
  if (value.length !== 4 && value.length !== 16)
    return malformed('bad-length', 0, `proxy address of ${value.length} bytes, not 4 or 16`);
  const proxy = addressFromBytes(value);
  return isUnicastHost(proxy) ? ok(proxy) : malformed('not-unicast', 0, notUnicast(proxy));
}

/**
 * Error offsets count from the start of the characteristic's value; error codes are those of decodePnc,
 * decodeSidContainer and decodeUnderstood.
 */
export function readCharacteristics(
  characteristics: readonly Characteristic[],
  codes: CharacteristicCodes,
): ReadCharacteristics {
  const unknown = new Set<number>();
  const bad: { code: number; error: DecodeError }[] = [];
  const take = <T>(before: T | undefined, code: number, decoded: Decoded<T>): T | undefined => {
    if (decoded.ok) return before ?? decoded.value;
    bad.push({ code, error: decoded.error });
    return before;
  };
  let proxy: IpAddress | undefined;
  let container: readonly ContainerTlv[] | undefined;
  let supports: Understood | undefined;
  for (const { code, value } of characteristics) {
    if (code === codes.pnc) proxy = take(proxy, code, decodePnc(value));
    else if (code === codes.private) container = take(container, code, decodeSidContainer(value));
    else if (code === codes.supports) supports = take(supports, code, decodeUnderstood(value));
    else unknown.add(code);
  }
  const known = { ...(proxy && { proxy }), ...(container && { container }), ...(supports && { supports }) };
  return { ...known, unknown: [...unknown].sort((a, b) => a - b), bad };
}
