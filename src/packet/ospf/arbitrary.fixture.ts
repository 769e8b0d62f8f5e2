// Arbitrary LSA bodies, LSAs and packets for properties, as decoding would give them.
import fc from 'fast-check';
import type { IpAddress } from '../../model/address.ts';
import { type Prefix, prefixOf } from '../../model/prefix.ts';
import { decodeLsa, encodeLsa } from './lsa.ts';
import type {
  ExtendedLsaPrefix,
  LsaBody,
  PrefixSubTlv,
  RouterInformationTlv,
  Srv6Locator,
  UnknownTlv,
} from './lsa/types.ts';
import type { Version } from './numbers.ts';
import type { Lsa, LsaHeader, LsaKey, OspfPacket } from './types.ts';

const octet = fc.nat(255);
const u16 = fc.nat(0xffff);
const u24 = fc.nat(0xffffff);
const u32 = fc.nat(0xffffffff);
const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength, maxLength });
const words = (min: number, max: number): fc.Arbitrary<Uint8Array> =>
  fc.integer({ min, max }).chain((n) => bytes(4 * n, 4 * n));
const list = <T>(item: fc.Arbitrary<T>, maxLength = 4): fc.Arbitrary<T[]> => fc.array(item, { maxLength });
const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name);

const ipv4: fc.Arbitrary<IpAddress> = u32.map((n) => ({ family: 4, value: BigInt(n) }));
const ipv6: fc.Arbitrary<IpAddress> = fc.bigInt(0n, 2n ** 128n - 1n).map((value) => ({ family: 6, value }));
const ipv4Prefix: fc.Arbitrary<Prefix> = fc
  .tuple(ipv4, fc.integer({ min: 0, max: 32 }))
  .map(([a, length]) => prefixOf(a, length));
const ipv6Prefix: fc.Arbitrary<Prefix> = fc
  .tuple(ipv6, fc.integer({ min: 0, max: 128 }))
  .map(([a, length]) => prefixOf(a, length));

const unknownTlv = (...known: readonly number[]): fc.Arbitrary<UnknownTlv> =>
  fc.record({ kind: kind('unknown'), type: u16.filter((type) => !known.includes(type)), value: bytes(0, 13) });

const subTlv = (version: Version): fc.Arbitrary<PrefixSubTlv> =>
  fc.oneof(
    words(0, 3).map((flags) => ({ kind: 'prefix-extended-flags' as const, flags })),
    u32.map((routerId) => ({ kind: 'source-router-id' as const, routerId })),
    (version === 2 ? ipv4 : ipv6).map((address) => ({ kind: 'source-router-address' as const, address })),
    version === 2 ? unknownTlv(4, 5, 11) : unknownTlv(27, 28, 37),
  );

const extendedLsaPrefix: fc.Arbitrary<ExtendedLsaPrefix> = fc.record({
  kind: fc.constantFrom(
    'inter-area-prefix-tlv' as const,
    'external-prefix-tlv' as const,
    'intra-area-prefix-tlv' as const,
  ),
  flags: octet,
  metric: u24,
  prefixOptions: octet,
  prefix: ipv6Prefix,
  subTlvs: list(subTlv(3)),
});
const extendedLsaTlvs = list(fc.oneof(extendedLsaPrefix, unknownTlv(3, 5, 6)));
const referenced = fc.record({ type: u16, lsId: u32, advertisingRouter: u32 });

const locator: fc.Arbitrary<Srv6Locator> = fc.record({
  kind: kind('srv6-locator'),
  routeType: octet,
  algorithm: octet,
  prefixOptions: octet,
  metric: u32,
  locator: ipv6Prefix.filter(({ length }) => length > 0),
  subTlvs: list(
    fc.oneof(
      fc.record({
        kind: kind('end-sid'),
        flags: octet,
        behavior: u16,
        sid: ipv6,
        subTlvs: list(
          fc.oneof(
            fc.record({
              kind: kind('sid-structure'),
              locatorBlock: octet,
              locatorNode: octet,
              function: octet,
              argument: octet,
            }),
            unknownTlv(10),
          ),
          2,
        ),
      }),
      unknownTlv(1),
    ),
    3,
  ),
});

const hostname = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
  minLength: 1,
  maxLength: 60,
});
const routerInformationTlv: fc.Arbitrary<RouterInformationTlv> = fc.oneof(
  words(1, 3).map((flags) => ({ kind: 'informational-capabilities' as const, flags })),
  hostname.map((name) => ({ kind: 'hostname' as const, name })),
  fc.record({ kind: kind('srv6-capabilities'), flags: u16, subTlvs: bytes(0, 12) }),
  unknownTlv(1, 7, 20),
);
const routerInformation = fc.record({ kind: kind('router-information'), tlvs: list(routerInformationTlv) });
const privateBody = fc.record({ kind: kind('private'), container: words(0, 12) });
const trafficEngineering = <K extends 'traffic-engineering-v2' | 'traffic-engineering-v3'>(
  name: K,
  address: fc.Arbitrary<IpAddress>,
  type: number,
) =>
  fc.record({
    kind: kind(name),
    tlvs: list(
      fc.oneof(
        address.map((a) => ({ kind: 'te-router-address' as const, address: a })),
        unknownTlv(type),
      ),
    ),
  });

/** LS type and link-state ID with a body that belongs to them. */
interface TypedBody {
  readonly type: number;
  readonly lsId: number;
  readonly body: LsaBody;
}

const typed = (type: number, body: fc.Arbitrary<LsaBody>, lsId: fc.Arbitrary<number> = u32): fc.Arbitrary<TypedBody> =>
  fc.record({ type: fc.constant(type), lsId, body });
const opaque = (opaqueType: number, body: fc.Arbitrary<LsaBody>): fc.Arbitrary<TypedBody> =>
  typed(
    10,
    body,
    u24.map((id) => opaqueType * 2 ** 24 + id),
  );
const unknownBody = bytes(0, 40).map((content) => ({ kind: 'unknown' as const, content }));

const V2: readonly fc.Arbitrary<TypedBody>[] = [
  typed(
    1,
    fc.record({
      kind: kind('router-v2'),
      flags: octet,
      links: list(fc.record({ type: octet, linkId: u32, linkData: u32, metric: u16, tosMetrics: words(0, 2) })),
    }),
  ),
  typed(2, fc.record({ kind: kind('network-v2'), mask: u32, attachedRouters: list(u32) })),
  opaque(1, trafficEngineering('traffic-engineering-v2', ipv4, 1)),
  opaque(4, routerInformation),
  opaque(
    7,
    fc.record({
      kind: kind('extended-prefix-lsa'),
      tlvs: list(
        fc.oneof(
          fc.record({
            kind: kind('extended-prefix'),
            routeType: octet,
            flags: octet,
            prefix: ipv4Prefix,
            subTlvs: list(subTlv(2)),
          }),
          unknownTlv(1),
        ),
      ),
    }),
  ),
  opaque(240, privateBody),
  opaque(99, unknownBody),
  typed(5, unknownBody),
  typed(77, unknownBody),
];

const LINK = { type: octet, metric: u16, interfaceId: u32, neighborInterfaceId: u32, neighborRouterId: u32 };
/** Whole TLVs, as a decoder leaves them. */
const linkTlv = fc.record({ kind: kind('router-link-tlv'), ...LINK, subTlvs: fc.uint8Array({ maxLength: 12 }) });

const V3: readonly fc.Arbitrary<TypedBody>[] = [
  typed(0x2001, fc.record({ kind: kind('router-v3'), flags: octet, options: u24, links: list(fc.record(LINK)) })),
  typed(
    0xa021,
    fc.record({ kind: kind('e-router'), flags: octet, options: u24, tlvs: list(fc.oneof(linkTlv, unknownTlv(1))) }),
  ),
  typed(
    0xa022,
    fc.record({
      kind: kind('e-network'),
      options: u24,
      tlvs: list(fc.oneof(fc.record({ kind: kind('attached-routers-tlv'), routers: list(u32) }), unknownTlv(2))),
    }),
  ),
  typed(0x2002, fc.record({ kind: kind('network-v3'), options: u24, attachedRouters: list(u32) })),
  typed(
    0x0008,
    fc.record({
      kind: kind('link'),
      priority: octet,
      options: u24,
      linkLocalAddress: ipv6,
      prefixes: list(fc.record({ prefix: ipv6Prefix, options: octet })),
    }),
  ),
  typed(
    0x2009,
    fc.record({
      kind: kind('intra-area-prefix'),
      referenced,
      prefixes: list(fc.record({ prefix: ipv6Prefix, options: octet, metric: u16 })),
    }),
  ),
  typed(0xa00a, trafficEngineering('traffic-engineering-v3', ipv6, 3)),
  typed(0xa00c, routerInformation),
  typed(0xa023, fc.record({ kind: kind('e-inter-area-prefix'), tlvs: extendedLsaTlvs })),
  typed(0xc025, fc.record({ kind: kind('e-as-external'), tlvs: extendedLsaTlvs })),
  typed(0xa029, fc.record({ kind: kind('e-intra-area-prefix'), referenced, tlvs: extendedLsaTlvs })),
  typed(0xc02a, fc.record({ kind: kind('srv6-locator-lsa'), tlvs: list(fc.oneof(locator, unknownTlv(1))) })),
  typed(0xbff8, privateBody),
  typed(0xa07b, unknownBody),
  typed(0x2003, unknownBody),
];

/** Every kind of body, once: one array element a kind. */
export const BODIES: Readonly<Record<Version, readonly fc.Arbitrary<TypedBody>[]>> = { 2: V2, 3: V3 };

const sequence = fc.integer({ min: -0x7fffffff, max: 0x7fffffff });

/** Encoded LSAs of every kind. */
export const arbitraryLsa = (version: Version): fc.Arbitrary<Lsa> =>
  fc
    .tuple(
      fc.oneof(...BODIES[version]),
      fc.record({ age: u16, options: version === 2 ? octet : fc.constant(0), advertisingRouter: u32, sequence }),
    )
    .map(([{ type, lsId, body }, rest]) => lsaOf(version, { type, lsId, ...rest }, body));

/** Encodes and decodes again. */
export function lsaOf(version: Version, header: LsaKey & Partial<LsaHeader>, body: LsaBody): Lsa {
  const decoded = decodeLsa(
    version,
    encodeLsa(version, { age: 1, options: 0, sequence: -0x7fffffff, ...header }, body),
  );
  if (!decoded.ok) throw new Error(decoded.error.detail);
  return decoded.value;
}

const lsaHeader = (version: Version): fc.Arbitrary<LsaHeader> =>
  fc.record({
    age: u16,
    options: version === 2 ? octet : fc.constant(0),
    type: version === 2 ? octet : u16,
    lsId: u32,
    advertisingRouter: u32,
    sequence,
    checksum: u16,
    length: u16,
  });

/** Packets of all five kinds. */
export function arbitraryPacket(version: Version): fc.Arbitrary<OspfPacket> {
  const v2 = version === 2;
  const header = { routerId: u32, areaId: u32, instanceId: v2 ? fc.constant(0) : octet };
  const options = v2 ? octet : u24;
  return fc.oneof<fc.Arbitrary<OspfPacket>[]>(
    fc.record({
      kind: kind('hello'),
      ...header,
      networkMask: v2 ? u32 : fc.constant(0),
      interfaceId: v2 ? fc.constant(0) : u32,
      options,
      helloInterval: u16,
      priority: octet,
      deadInterval: v2 ? u32 : u16,
      designatedRouter: u32,
      backupDesignatedRouter: u32,
      neighbors: list(u32),
    }),
    fc.record({
      kind: kind('database-description'),
      ...header,
      mtu: u16,
      options,
      initialize: fc.boolean(),
      more: fc.boolean(),
      master: fc.boolean(),
      sequence: u32,
      headers: list(lsaHeader(version)),
    }),
    fc.record({
      kind: kind('link-state-request'),
      ...header,
      requests: list(fc.record({ type: v2 ? octet : u16, lsId: u32, advertisingRouter: u32 })),
    }),
    fc.record({ kind: kind('link-state-update'), ...header, lsas: list(arbitraryLsa(version)) }),
    fc.record({ kind: kind('link-state-acknowledgment'), ...header, headers: list(lsaHeader(version)) }),
  );
}
