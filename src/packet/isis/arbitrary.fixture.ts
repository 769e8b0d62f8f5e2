// Arbitrary TLVs and LSPs for properties.
import fc from 'fast-check';
import type { IpAddress } from '../../model/address.ts';
import { type Prefix, prefixOf } from '../../model/prefix.ts';
import { EncodeError } from '../encode-error.ts';
import { parseLspId } from './lsp-id.ts';
import { encodePdu } from './pdu.ts';
import { TLV_CODECS, encodeTlv } from './tlvs.ts';
import type { IsNeighbor, IsisTlv, PrefixReachability, PrefixSubTlv } from './tlv/types.ts';

export const arbitraryIpv4: fc.Arbitrary<IpAddress> = fc
  .bigInt(0n, 2n ** 32n - 1n)
  .map((value) => ({ family: 4, value }));
export const arbitraryIpv6: fc.Arbitrary<IpAddress> = fc
  .bigInt(0n, 2n ** 128n - 1n)
  .map((value) => ({ family: 6, value }));
const ipv4Prefix: fc.Arbitrary<Prefix> = fc
  .tuple(arbitraryIpv4, fc.integer({ min: 0, max: 32 }))
  .map(([a, length]) => prefixOf(a, length));
const ipv6Prefix: fc.Arbitrary<Prefix> = fc
  .tuple(arbitraryIpv6, fc.integer({ min: 0, max: 128 }))
  .map(([a, length]) => prefixOf(a, length));

const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength, maxLength });
const systemId = bytes(6, 6);
const metric32 = fc.nat(0xffffffff);
const octet = fc.nat(255);
const topology = fc.nat(0xfff);
const list = <T>(item: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> => fc.array(item, { maxLength });

const subTlv: fc.Arbitrary<PrefixSubTlv> = fc.oneof(
  bytes(0, 9).map((flags) => ({ kind: 'prefix-attribute-flags' as const, flags })),
  arbitraryIpv4.map((address) => ({ kind: 'ipv4-source-router-id' as const, address })),
  arbitraryIpv6.map((address) => ({ kind: 'ipv6-source-router-id' as const, address })),
  fc.record({
    kind: fc.constant('srv6-end-sid' as const),
    flags: octet,
    behavior: fc.nat(0xffff),
    sid: arbitraryIpv6,
    subSubTlvs: fc.constantFrom(
      new Uint8Array(),
      Uint8Array.of(1, 4, 32, 16, 16, 0),
      Uint8Array.of(200, 0, 1, 4, 64, 0, 64, 0),
    ),
  }),
  fc.record({
    kind: fc.constant('unknown' as const),
    type: octet.filter((t) => ![4, 5, 11, 12].includes(t)),
    value: bytes(0, 12),
  }),
);

const prefixes = (prefix: fc.Arbitrary<Prefix>, external: fc.Arbitrary<boolean>): fc.Arbitrary<PrefixReachability[]> =>
  list(fc.record({ prefix, metric: metric32, down: fc.boolean(), external, subTlvs: list(subTlv, 3) }), 4);
const v4Prefixes = prefixes(ipv4Prefix, fc.constant(false));
const v6Prefixes = prefixes(ipv6Prefix, fc.boolean());

const neighbors: fc.Arbitrary<IsNeighbor[]> = list(
  fc.record({ systemId, pseudonode: octet, metric: fc.nat(0xffffff), subTlvs: bytes(0, 20) }),
  5,
);
const lspId = fc.record({ systemId, pseudonode: octet, fragment: octet });
const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
  minLength: 1,
  maxLength: 60,
});

const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name);
const known = new Set(TLV_CODECS.map((codec) => codec.type));

const threeWay = fc
  .tuple(
    fc.constantFrom('up' as const, 'initializing' as const, 'down' as const),
    fc.nat(3),
    metric32,
    systemId,
    metric32,
  )
  .map(([state, parts, circuitId, neighborSystemId, neighborCircuitId]) => ({
    kind: 'three-way-adjacency' as const,
    state,
    ...(parts > 0 && { circuitId }),
    ...(parts > 1 && { neighborSystemId }),
    ...(parts > 2 && { neighborCircuitId }),
  }));

/** Every kind of TLV, as decoding would give it; all fit 255 bytes. */
export const arbitraryTlv: fc.Arbitrary<IsisTlv> = fc
  .oneof<fc.Arbitrary<IsisTlv>[]>(
    fc.record({ kind: kind('unknown'), type: octet.filter((type) => !known.has(type)), value: bytes(0, 60) }),
    fc.record({ kind: kind('area-addresses'), areas: list(bytes(1, 13), 3) }),
    fc.record({ kind: kind('padding'), length: octet }),
    fc.record({
      kind: kind('lsp-entries'),
      entries: list(
        fc.record({ remainingLifetime: fc.nat(65535), lspId, sequence: metric32, checksum: fc.nat(65535) }),
        15,
      ),
    }),
    fc.record({ kind: kind('authentication'), authType: octet, value: bytes(0, 40) }),
    fc.record({ kind: kind('purge-originator'), originator: systemId }),
    fc.record({ kind: kind('purge-originator'), originator: systemId, receivedFrom: systemId }),
    fc.record({ kind: kind('extended-is-reachability'), neighbors }),
    fc.record({ kind: kind('mt-is-reachability'), mtId: topology, neighbors }),
    fc.record({
      kind: kind('srv6-locator'),
      mtId: topology,
      locators: list(
        fc.record({
          prefix: ipv6Prefix.filter((p) => p.length > 0),
          metric: metric32,
          flags: octet,
          algorithm: octet,
          subTlvs: list(subTlv, 2),
        }),
        3,
      ),
    }),
    fc.record({ kind: kind('protocols-supported'), nlpids: list(octet, 5) }),
    fc.record({ kind: kind('ipv4-interface-addresses'), addresses: list(arbitraryIpv4, 5) }),
    fc.record({ kind: kind('ipv6-interface-addresses'), addresses: list(arbitraryIpv6, 5) }),
    fc.record({ kind: kind('ipv4-te-router-id'), address: arbitraryIpv4 }),
    fc.record({ kind: kind('ipv6-te-router-id'), address: arbitraryIpv6 }),
    fc.record({ kind: kind('ipv4-reachability'), prefixes: v4Prefixes }),
    fc.record({ kind: kind('ipv6-reachability'), prefixes: v6Prefixes }),
    fc.record({ kind: kind('mt-ipv4-reachability'), mtId: topology, prefixes: v4Prefixes }),
    fc.record({ kind: kind('mt-ipv6-reachability'), mtId: topology, prefixes: v6Prefixes }),
    fc.record({ kind: kind('hostname'), name: printable }),
    fc.record({
      kind: kind('multi-topology'),
      topologies: list(fc.record({ id: topology, overload: fc.boolean(), attached: fc.boolean() }), 6),
    }),
    threeWay,
    fc.record({ kind: kind('router-capability'), routerId: arbitraryIpv4, flags: octet, subTlvs: bytes(0, 30) }),
    fc.record(
      {
        kind: kind('geninfo'),
        applicationId: fc.integer({ min: 0, max: 0xffff }),
        domainWide: fc.boolean(),
        down: fc.boolean(),
        otherFlags: octet.map((flags) => flags & 0xf0),
        ipv4: arbitraryIpv4,
        ipv6: arbitraryIpv6,
        info: bytes(0, 60),
      },
      { requiredKeys: ['kind', 'applicationId', 'domainWide', 'down', 'otherFlags', 'info'] },
    ),
  )
  .filter(fits);

function fits(tlv: IsisTlv): boolean {
  try {
    encodeTlv(tlv);
    return true;
  } catch (error) {
    if (error instanceof EncodeError && error.code.endsWith('too-long')) return false;
    throw error;
  }
}

/** A level-2 LSP of 0000.0000.0001 with these TLVs. */
export function lspWith(tlvs: readonly IsisTlv[]): Uint8Array {
  return encodePdu({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: parseLspId('0000.0000.0001.00-00')!,
    sequence: 1,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: true,
    isType: 3,
    tlvs,
  });
}
