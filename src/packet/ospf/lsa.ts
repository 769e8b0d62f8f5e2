// LSAs: the tables of bodies, and the one codec of LSAs. Flooding needs only the header (decodeLsa); readers decode the
// body. An LSA with a malformed body is flooded, but readers ignore it.
import { type CodePointValues, DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { ok } from '../../model/result.ts';
import { put16 } from '../bytes.ts';
import { type Decoded, malformed, shifted } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { LSA_HEADER_LENGTH, lsaChecksum, lsaChecksumValid, readLsaHeader, writeLsaHeader } from './lsa-header.ts';
import { TYPE_V2, isOpaque, lsaFunction, opaqueTypeOf, surelyFlooded } from './lsa-type.ts';
import type { BodyCodec } from './lsa/codec.ts';
import { E_NETWORK, E_ROUTER } from './lsa/extended-topology.ts';
import { E_AS_EXTERNAL, E_INTER_AREA_PREFIX, E_INTRA_AREA_PREFIX } from './lsa/extended-lsa.ts';
import { EXTENDED_PREFIX } from './lsa/extended-prefix.ts';
import { INTRA_AREA_PREFIX } from './lsa/intra-area-prefix.ts';
import { LINK } from './lsa/link.ts';
import { NETWORK_V2, NETWORK_V3 } from './lsa/network.ts';
import { PRIVATE } from './lsa/private.ts';
import { ROUTER_INFORMATION } from './lsa/router-information.ts';
import { ROUTER_V2 } from './lsa/router-v2.ts';
import { ROUTER_V3 } from './lsa/router-v3.ts';
import { SRV6_LOCATOR } from './lsa/srv6-locator.ts';
import { TRAFFIC_ENGINEERING_V2, TRAFFIC_ENGINEERING_V3 } from './lsa/traffic-engineering.ts';
import type { LsaBody } from './lsa/types.ts';
import type { Version } from './numbers.ts';
import { formatLsaKey } from './router-id.ts';
import type { BadTlv } from './tlv.ts';
import type { Lsa, LsaHeader, LsaKey } from './types.ts';

/** Type numbers of cnpd's own LSAs: code points without an assignment. */
export interface PrivateTypes {
  /** OSPFv2 opaque type, 128-255 (RFC 5250 §9). */
  readonly opaqueType: number;
  /** OSPFv3 function code, 8176-8183 experimental, 8184-8191 private (RFC 5340 §A.4.2.1). */
  readonly functionCode: number;
}

export const privateTypesOf = (codePoints: CodePointValues): PrivateTypes => ({
  opaqueType: codePoints['ospfv2-private-opaque-type'],
  functionCode: codePoints['ospfv3-private-function'],
});

export const DEFAULT_PRIVATE_TYPES = privateTypesOf(DEFAULT_CODE_POINTS);

type Row = readonly [number, BodyCodec];
const row = <B extends LsaBody>(type: number, codec: BodyCodec<B>): Row => [type, codec];

/** By LS type. */
const BODIES_V2: ReadonlyMap<number, BodyCodec> = new Map([row(1, ROUTER_V2), row(2, NETWORK_V2)]);
/** By opaque type. */
const OPAQUE_BODIES: ReadonlyMap<number, BodyCodec> = new Map([
  row(1, TRAFFIC_ENGINEERING_V2),
  row(4, ROUTER_INFORMATION),
  row(7, EXTENDED_PREFIX),
]);
/** By function code: the same LSA may have several scopes. */
const BODIES_V3: ReadonlyMap<number, BodyCodec> = new Map([
  row(1, ROUTER_V3),
  row(2, NETWORK_V3),
  row(8, LINK),
  row(9, INTRA_AREA_PREFIX),
  row(10, TRAFFIC_ENGINEERING_V3),
  row(12, ROUTER_INFORMATION),
  row(33, E_ROUTER),
  row(34, E_NETWORK),
  row(35, E_INTER_AREA_PREFIX),
  row(37, E_AS_EXTERNAL),
  row(41, E_INTRA_AREA_PREFIX),
  row(42, SRV6_LOCATOR),
]);
const PRIVATE_BODY = row(0, PRIVATE)[1];

function bodyCodec(version: Version, key: LsaKey, privateTypes: PrivateTypes): BodyCodec | undefined {
  if (version === 3) {
    const functionCode = lsaFunction(key.type);
    return functionCode === privateTypes.functionCode ? PRIVATE_BODY : BODIES_V3.get(functionCode);
  }
  if (!isOpaque(key.type)) return BODIES_V2.get(key.type);
  const opaqueType = opaqueTypeOf(key);
  return opaqueType === privateTypes.opaqueType ? PRIVATE_BODY : OPAQUE_BODIES.get(opaqueType);
}

/** Decodes the LSA that fills `bytes`: reads its header and verifies its checksum. */
export function decodeLsa(version: Version, bytes: Uint8Array): Decoded<Lsa> {
  if (bytes.length < LSA_HEADER_LENGTH)
    return malformed('truncated', bytes.length, 'shorter than the header of an LSA');
  const header = readLsaHeader(version, bytes, 0);
  if (header.length !== bytes.length)
    return malformed('bad-lsa-length', 18, `LSA length ${header.length}, but there are ${bytes.length} bytes`);
  if (!lsaChecksumValid(bytes))
    return malformed(
      'bad-checksum',
      16,
      `checksum 0x${header.checksum.toString(16)} of ${formatLsaKey(header)} is wrong`,
    );
  return ok({ ...header, raw: bytes });
}

export interface DecodedBody {
  readonly body: LsaBody;
  /** TLVs with a malformed value, kept in `body` as unknown. Offsets count from the start of the LSA. */
  readonly badTlvs: readonly BadTlv[];
}

/**
 * Decodes the body; its parts are views of `raw`. An error means that the LSA is malformed and that readers ignore it.
 */
export function decodeBody(
  version: Version,
  { raw, ...key }: LsaKey & { readonly raw: Uint8Array },
  privateTypes = DEFAULT_PRIVATE_TYPES,
): Decoded<DecodedBody> {
  const content = raw.subarray(LSA_HEADER_LENGTH);
  const codec = bodyCodec(version, key, privateTypes);
  if (!codec) return ok({ body: { kind: 'unknown', content }, badTlvs: [] });
  const badTlvs: BadTlv[] = [];
  const body = codec.decode(content, ({ path, error }) =>
    badTlvs.push({ path, error: shifted(error, LSA_HEADER_LENGTH) }),
  );
  return body.ok ? ok({ body: body.value, badTlvs }) : { ok: false, error: shifted(body.error, LSA_HEADER_LENGTH) };
}

/** Opaque types that crash every FRR with `mpls-te on` if they have AS scope. */
const NEVER_AS_SCOPE: ReadonlySet<number> = new Set([4, 7]);

function refuseUnsafe(version: Version, key: LsaKey): void {
  if (version === 2 && key.type === TYPE_V2.opaqueAs && NEVER_AS_SCOPE.has(opaqueTypeOf(key))) {
    throw new EncodeError('unsafe-lsa', `opaque type ${opaqueTypeOf(key)} must not have AS scope`);
  }
  if (version === 3 && !surelyFlooded(key.type))
    throw new EncodeError('unsafe-lsa', `type 0x${key.type.toString(16)} needs the U-bit`);
}

/**
 * Encodes an LSA; length and checksum are computed.
 * @throws EncodeError if a field does not fit, the body is not of this type, or the LSA would crash FRR or reset its
 * adjacencies
 */
export function encodeLsa(
  version: Version,
  header: Omit<LsaHeader, 'checksum' | 'length'>,
  body: LsaBody,
  privateTypes = DEFAULT_PRIVATE_TYPES,
): Uint8Array {
  refuseUnsafe(version, header);
  const codec = bodyCodec(version, header, privateTypes);
  if (body.kind !== (codec?.name ?? 'unknown') && body.kind !== 'unknown')
    throw new EncodeError('wrong-type', `a body ${body.kind} in ${formatLsaKey(header)}`);
  const content = body.kind === 'unknown' ? body.content : codec!.encode(body);
  const length = LSA_HEADER_LENGTH + content.length;
  if (length > 0xffff) throw new EncodeError('lsa-too-long', `an LSA of ${length} bytes`);
  const out = new Uint8Array(length);
  writeLsaHeader(version, out, 0, { ...header, checksum: 0, length });
  out.set(content, LSA_HEADER_LENGTH);
  put16(out, 16, lsaChecksum(out));
  return out;
}
