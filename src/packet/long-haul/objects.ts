// The extension objects of a Long-haul CNP (LHCNP §6.1.1, registry §10.3): values ↔ RFC 4884 objects. An object of
// another class, of an unknown C-Type, or whose payload is not what its C-Type says, is kept as it came: objects only
// inform, so a bad one does not spoil the instruction.
import { put64, u64 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import type { ExtensionObject } from '../icmpv6/objects.ts';

/** C-Types (LHCNP-6.1.1-h, LHCNP-10.3-a); 0 is reserved, 254 and 255 are experimental. */
export const OBJECT_TYPE = { timestamp: 1, deviceId: 2, pathId: 3 } as const;

export type LongHaulObject =
  /** NTP timestamp: seconds since 1900 in the upper 32 bits, fraction in the lower (RFC 5905 §6). */
  | { readonly kind: 'timestamp'; readonly ntp: bigint }
  | { readonly kind: 'device-id'; readonly name: string }
  | { readonly kind: 'path-id'; readonly id: Uint8Array }
  | ({ readonly kind: 'other' } & ExtensionObject);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function text(payload: Uint8Array): string | undefined {
  // A sender that counts the padding in the Length shows it to us as NULs.
  let end = payload.length;
  while (end > 0 && payload[end - 1] === 0) end--;
  try {
    return UTF8.decode(payload.subarray(0, end));
  } catch {
    return undefined;
  }
}

function meaning(cType: number, payload: Uint8Array): LongHaulObject | undefined {
  if (cType === OBJECT_TYPE.timestamp)
    return payload.length === 8 ? { kind: 'timestamp', ntp: u64(payload, 0) } : undefined;
  if (cType === OBJECT_TYPE.pathId) return { kind: 'path-id', id: payload };
  if (cType !== OBJECT_TYPE.deviceId) return undefined;
  const name = text(payload);
  return name === undefined ? undefined : { kind: 'device-id', name };
}

/** @param classNum the code point `long-haul-object-class` */
export function readObject(object: ExtensionObject, classNum: number): LongHaulObject {
  const known = object.classNum === classNum ? meaning(object.cType, object.payload) : undefined;
  return known ?? { kind: 'other', ...object };
}

/** @throws EncodeError when a timestamp exceeds 64 bits */
export function writeObject(object: LongHaulObject, classNum: number): ExtensionObject {
  switch (object.kind) {
    case 'timestamp': {
      if (object.ntp < 0n || object.ntp >= 1n << 64n) throw new EncodeError('bad-field', `NTP timestamp ${object.ntp}`);
      const payload = new Uint8Array(8);
      put64(payload, 0, object.ntp);
      return { classNum, cType: OBJECT_TYPE.timestamp, payload };
    }
    case 'device-id':
      return { classNum, cType: OBJECT_TYPE.deviceId, payload: new TextEncoder().encode(object.name) };
    case 'path-id':
      return { classNum, cType: OBJECT_TYPE.pathId, payload: object.id };
    case 'other':
      return { classNum: object.classNum, cType: object.cType, payload: object.payload };
  }
}
