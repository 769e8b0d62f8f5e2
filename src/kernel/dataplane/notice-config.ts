// The map `notice_config` (bpf/lib/builder/layout.h): how notices to a sender itself are built. The extension objects
// of a Long-haul CNP (LHCNP §6.1.1, RFC 4884 §8) are encoded here, once; the program only inserts the time.
import { LITTLE_ENDIAN, structure, u32Key, viewOf } from './layout.ts';

export const NOTICE_CONFIG_MAP = 'notice_config';
/** The map's one key. */
export const NOTICE_CONFIG_KEY = u32Key(0);
export const NOTICE_CONFIG_SIZE = 112;
/** UTF-8 bytes of a device identifier. */
export const MAX_DEVICE_ID = 64;

export interface NoticeConfig {
  /** Option types of option 1 and option 2 (FCNP §6); absent: no Fast CNP. */
  readonly fastCnp?: { readonly option: number; readonly ioamOption: number; readonly icrc: 'cover' | 'skip' };
  /** Absent: no Long-haul CNP. */
  readonly longHaul?: {
    readonly icmpv6Type: number;
    readonly objectClass: number;
    readonly timestamp: boolean;
    /** At most MAX_DEVICE_ID bytes of UTF-8. */
    readonly deviceId: string | null;
    /** 32 bits. */
    readonly pathId: number | null;
    readonly padToCnp: boolean;
  };
}

/** Offsets in struct notice_config. */
const CONFIG = {
  option: 0,
  ioamOption: 1,
  icrcSkips: 2,
  icmpv6Type: 3,
  padToCnp: 4,
  hasTimestamp: 5,
  objectsLength: 6,
  ntpOffset: 8,
  objects: 16,
} as const;
/** C-Types (LHCNP-6.1.1-h). */
const C_TYPE = { timestamp: 1, deviceId: 2, pathId: 3 } as const;
const EXTENSION_HEADER = Uint8Array.of(0x20, 0, 0, 0);
/** From 1900 to 1970 (RFC 5905 §6). */
const NTP_ERA_NS = 2_208_988_800n * 1_000_000_000n;
/** A smaller change of the offset does not matter for a timestamp. */
const NTP_SLACK_NS = 1_000_000n;

/** The argument ntpOffsetNs of encodeNoticeConfig at a moment: both times in ns, since 1970 and of CLOCK_MONOTONIC. */
export const ntpOffsetNs = (unixNs: bigint, monotonicNs: bigint): bigint => unixNs + NTP_ERA_NS - monotonicNs;

/**
 * @param ntpOffsetNs NTP time less CLOCK_MONOTONIC: write the value again when the clock was set
 * @param before the map's value: if its offset differs by less than 1 ms it is kept, so that values stay comparable
 * @throws RangeError for an invalid code point, or a device identifier that is too long
 */
export function encodeNoticeConfig(
  { fastCnp, longHaul }: NoticeConfig,
  ntpOffsetNs: bigint,
  before?: Uint8Array,
): Uint8Array {
  const objects = longHaul ? extensionObjects(longHaul) : new Uint8Array();
  const offset = before ? viewOf(before).getBigUint64(CONFIG.ntpOffset, LITTLE_ENDIAN) : 0n;
  const drift = ntpOffsetNs - offset;
  return structure(NOTICE_CONFIG_SIZE, (view, bytes) => {
    if (fastCnp) {
      bytes[CONFIG.option] = codePoint('option type', fastCnp.option);
      bytes[CONFIG.ioamOption] = codePoint('option type', fastCnp.ioamOption);
      bytes[CONFIG.icrcSkips] = fastCnp.icrc === 'skip' ? 1 : 0;
    }
    if (longHaul) {
      bytes[CONFIG.icmpv6Type] = codePoint('ICMPv6 type', longHaul.icmpv6Type);
      bytes[CONFIG.padToCnp] = longHaul.padToCnp ? 1 : 0;
      bytes[CONFIG.hasTimestamp] = longHaul.timestamp ? 1 : 0;
    }
    bytes[CONFIG.objectsLength] = objects.length;
    view.setBigUint64(
      CONFIG.ntpOffset,
      drift < NTP_SLACK_NS && drift > -NTP_SLACK_NS ? offset : ntpOffsetNs,
      LITTLE_ENDIAN,
    );
    bytes.set(objects, CONFIG.objects);
  });
}

/** The part that can be read back: the objects as bytes. */
export function decodeNoticeConfig(value: Uint8Array): {
  fastCnpOption: number;
  longHaulType: number;
  objects: Uint8Array;
  ntpOffsetNs: bigint;
} {
  return {
    fastCnpOption: value[CONFIG.option]!,
    longHaulType: value[CONFIG.icmpv6Type]!,
    objects: value.slice(CONFIG.objects, CONFIG.objects + value[CONFIG.objectsLength]!),
    ntpOffsetNs: viewOf(value).getBigUint64(CONFIG.ntpOffset, LITTLE_ENDIAN),
  };
}

/** Zero means "off" to the program. */
function codePoint(what: string, value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > 255)
    throw new RangeError(`${what} ${value} is not within 1-255`);
  return value;
}

/** Extension Header and objects, the timestamp first and 0; empty without objects (LHCNP-6.1.1-i). */
function extensionObjects({
  objectClass,
  timestamp,
  deviceId,
  pathId,
}: NonNullable<NoticeConfig['longHaul']>): Uint8Array {
  const name = deviceId === null ? null : new TextEncoder().encode(deviceId);
  if (name && name.length > MAX_DEVICE_ID)
    throw new RangeError(`a device identifier of ${name.length} bytes; at most ${MAX_DEVICE_ID}`);
  const classNum = codePoint('Class-Num', objectClass);
  const objects = [
    ...(timestamp ? [object(classNum, C_TYPE.timestamp, new Uint8Array(8))] : []),
    ...(name ? [object(classNum, C_TYPE.deviceId, name)] : []),
    ...(pathId === null
      ? []
      : [
          object(
            classNum,
            C_TYPE.pathId,
            structure(4, (view) => view.setUint32(0, pathId)),
          ),
        ]),
  ];
  if (objects.length === 0) return new Uint8Array();
  const whole = Uint8Array.from([EXTENSION_HEADER, ...objects].flatMap((part) => [...part]));
  viewOf(whole).setUint16(2, checksum(whole));
  return whole;
}

/** One object (RFC 4884 §8): its Length does not count the padding (LHCNP-6.1.1-f, LHCNP-6.1.1-g). */
function object(classNum: number, cType: number, payload: Uint8Array): Uint8Array {
  return structure(4 + Math.ceil(payload.length / 4) * 4, (view, bytes) => {
    view.setUint16(0, 4 + payload.length);
    bytes[2] = classNum;
    bytes[3] = cType;
    bytes.set(payload, 4);
  });
}

/** The Internet checksum (RFC 1071) of an even number of bytes. */
function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at]! << 8) | bytes[at + 1]!;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff || 0xffff; // 0 would mean no checksum (RFC 4884 §7)
}
