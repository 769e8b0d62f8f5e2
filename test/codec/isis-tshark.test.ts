// What tshark reads in the IS-IS PDUs that we encode.
import { expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { formatPrefix, prefix } from '../../src/model/prefix.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { ATTRIBUTE_BIT, flagsOf } from '../../src/packet/isis/attribute-flags.ts';
import { signPdu } from '../../src/packet/isis/auth.ts';
import { foreignLsp } from '../../src/packet/isis/foreign.fixture.ts';
import { ALL_ISS, encodeFrame } from '../../src/packet/isis/frame.ts';
import { encodePurge } from '../../src/packet/isis/lsp.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, parseLspId, parseSystemId } from '../../src/packet/isis/lsp-id.ts';
import { encodePdu } from '../../src/packet/isis/pdu.ts';
import { packPrefixes } from '../../src/packet/isis/tlv/ip-reachability.ts';
import { supportsOf } from '../../src/carriers/supports.ts';
import type { IsisTlv, PrefixReachability } from '../../src/packet/isis/tlv/types.ts';
import type { Lsp } from '../../src/packet/isis/types.ts';
import { dissect } from '../support/tshark.ts';

const SYSTEM = parseSystemId('0000.0000.c001')!;
const NEIGHBOR = parseSystemId('0000.0000.0001')!;
const MAC = fromHex('020000000001');
const KEY = new TextEncoder().encode('s3cret');
const P_FLAG = 7;
const framed = (pdus: readonly Uint8Array[]): Uint8Array[] => pdus.map((pdu) => encodeFrame(MAC, ALL_ISS, pdu));

const lsp = (tlvs: readonly IsisTlv[], rest: Partial<Lsp> = {}): Uint8Array =>
  foreignLsp(parseLspId('0000.0000.c001.00-05')!, { sequence: 0xfffffffe, overload: true, tlvs, ...rest });

const sender = (text: string, proxy: string): PrefixReachability => ({
  prefix: prefix(text),
  metric: 0xfe000001,
  down: false,
  external: false,
  subTlvs: [
    { kind: 'prefix-attribute-flags', flags: flagsOf(P_FLAG, ATTRIBUTE_BIT.readvertised) },
    proxy.includes(':')
      ? { kind: 'ipv6-source-router-id', address: address(proxy) }
      : { kind: 'ipv4-source-router-id', address: address(proxy) },
  ],
});

test('hellos: three-way state, areas, protocols, link-local address; also when padded beyond an 802.3 length', () => {
  const tlvs: IsisTlv[] = [
    { kind: 'area-addresses', areas: [fromHex('490001')] },
    { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] },
    { kind: 'ipv4-interface-addresses', addresses: [address('192.0.2.9')] },
    { kind: 'ipv6-interface-addresses', addresses: [address('fe80::c1')] },
    {
      kind: 'three-way-adjacency',
      state: 'initializing',
      circuitId: 7,
      neighborSystemId: NEIGHBOR,
      neighborCircuitId: 9,
    },
  ];
  const hello = (more: readonly IsisTlv[]): Uint8Array =>
    encodePdu({
      kind: 'p2p-hello',
      circuitType: 2,
      systemId: SYSTEM,
      holdingTime: 30,
      localCircuitId: 1,
      tlvs: [...tlvs, ...more],
    });
  const padding = Array.from({ length: 8 }, () => ({ kind: 'padding' as const, length: 255 }));
  const records = dissect('ethernet', framed([hello([]), signPdu(hello([]), KEY), hello(padding)]), [
    'isis.type',
    'isis.hello.circuit_type',
    'isis.hello.source_id',
    'isis.hello.holding_timer',
    'isis.hello.area_address',
    'isis.hello.clv_ipv4_int_addr',
    'isis.hello.clv_ipv6_int_addr',
    'isis.hello.adjacency_state',
    'isis.hello.extended_local_circuit_id',
    'isis.hello.neighbor_systemid',
    'isis.hello.neighbor_extended_local_circuit_id',
  ]);
  for (const record of records) {
    expect(record).toEqual({
      'isis.type': ['17'],
      'isis.hello.circuit_type': ['0x02'],
      'isis.hello.source_id': ['0000.0000.c001'],
      'isis.hello.holding_timer': ['30'],
      'isis.hello.area_address': [expect.stringMatching(/49/)],
      'isis.hello.clv_ipv4_int_addr': ['192.0.2.9'],
      'isis.hello.clv_ipv6_int_addr': ['fe80::c1'],
      'isis.hello.adjacency_state': ['1'],
      'isis.hello.extended_local_circuit_id': ['0x00000007'],
      'isis.hello.neighbor_systemid': ['0000.0000.0001'],
      'isis.hello.neighbor_extended_local_circuit_id': ['0x00000009'],
      complaints: [],
    });
  }
});

test('PNC-5.1-a: tshark sees bit 7 of the Prefix Attribute Flags, and the checksum is right', () => {
  const tlvs: IsisTlv[] = [
    { kind: 'hostname', name: 'leaf1' },
    { kind: 'ipv4-te-router-id', address: address('192.0.2.1') },
    { kind: 'ipv6-te-router-id', address: address('2001:db8:ffff::1') },
    {
      kind: 'extended-is-reachability',
      neighbors: [{ systemId: NEIGHBOR, pseudonode: 0, metric: 0xfffffe, subTlvs: new Uint8Array() }],
    },
    { kind: 'router-capability', routerId: address('192.0.2.1'), flags: 1, subTlvs: new Uint8Array() },
    ...packPrefixes([sender('10.1.0.0/24', '192.0.2.1'), sender('2001:db8:1::/64', '2001:db8:ffff::1')]),
  ];
  const [record] = dissect('ethernet', framed([lsp(tlvs)]), [
    'isis.lsp.lsp_id',
    'isis.lsp.sequence_number',
    'isis.lsp.remaining_life',
    'isis.lsp.checksum.status',
    'isis.lsp.overload',
    'isis.lsp.is_type',
    'isis.lsp.hostname',
    'isis.lsp.clv_te_router_id',
    'isis.lsp.clv_ipv6_te_router_id',
    'isis.lsp.ext_is_reachability.is_neighbor_id',
    'isis.lsp.ext_is_reachability.metric',
    'isis.lsp.ext_ip_reachability.ipv4_prefix',
    'isis.lsp.ext_ip_reachability.metric',
    'isis.lsp.ipv6_reachability.ipv6_prefix',
    'isis.lsp.ipv6_reachability.metric',
    'isis.lsp.prefix_attribute.flags',
  ]);
  expect(record).toEqual({
    'isis.lsp.lsp_id': ['0000.0000.c001.00-05'],
    'isis.lsp.sequence_number': ['0xfffffffe'],
    'isis.lsp.remaining_life': ['1200'],
    'isis.lsp.checksum.status': ['1'],
    'isis.lsp.overload': ['1'],
    'isis.lsp.is_type': ['3'],
    'isis.lsp.hostname': ['leaf1'],
    'isis.lsp.clv_te_router_id': ['192.0.2.1'],
    'isis.lsp.clv_ipv6_te_router_id': ['2001:db8:ffff::1'],
    'isis.lsp.ext_is_reachability.is_neighbor_id': ['0000.0000.0001.00'],
    'isis.lsp.ext_is_reachability.metric': ['16777214'],
    'isis.lsp.ext_ip_reachability.ipv4_prefix': ['10.1.0.0'],
    'isis.lsp.ext_ip_reachability.metric': [String(0xfe000001)],
    'isis.lsp.ipv6_reachability.ipv6_prefix': ['2001:db8:1::'],
    'isis.lsp.ipv6_reachability.metric': [String(0xfe000001)],
    'isis.lsp.prefix_attribute.flags': ['0x41', '0x41'],
    complaints: [],
  });
});

test('what senders understand is one more sub-TLV to tshark: what is around it is read as before', () => {
  const one = sender('2001:db8:1::/64', '2001:db8:ffff::1');
  const { subTlv } = supportsOf(['fast-cnp', 'long-haul-icmpv6'], 250);
  const prefixes = [
    { ...one, subTlvs: [...one.subTlvs, subTlv] },
    { ...sender('2001:db8:2::/64', '2001:db8:ffff::1'), subTlvs: [subTlv] },
  ];
  const [record] = dissect('ethernet', framed([lsp(packPrefixes(prefixes))]), [
    'isis.lsp.checksum.status',
    'isis.lsp.ipv6_reachability.ipv6_prefix',
    'isis.lsp.prefix_attribute.flags',
  ]);
  expect(record).toEqual({
    'isis.lsp.checksum.status': ['1'],
    'isis.lsp.ipv6_reachability.ipv6_prefix': ['2001:db8:1::', '2001:db8:2::'],
    'isis.lsp.prefix_attribute.flags': ['0x41'],
    complaints: [],
  });
});

test('fragments full of prefixes, plain and signed: every prefix is read back, no complaint', () => {
  const senders = Array.from({ length: 50 }, (_, i) => [
    sender(`10.${i}.0.0/${16 + (i % 17)}`, '192.0.2.1'),
    sender(`2001:db8:${i.toString(16)}::/${48 + (i % 81)}`, '2001:db8:ffff::1'),
  ]).flat();
  const full = lsp(packPrefixes(senders));
  const records = dissect('ethernet', framed([full, signPdu(full, KEY)]), [
    'isis.lsp.checksum.status',
    'isis.lsp.ext_ip_reachability.ipv4_prefix',
    'isis.lsp.ext_ip_reachability.prefix_length',
    'isis.lsp.ipv6_reachability.ipv6_prefix',
    'isis.lsp.ipv6_reachability.prefix_length',
  ]);
  const of = (family: number): string[] =>
    senders.filter((s) => s.prefix.address.family === family).map((s) => formatPrefix(s.prefix));
  for (const record of records) {
    expect(record.complaints).toEqual([]);
    expect(record['isis.lsp.checksum.status']).toEqual(['1']);
    const pairs = (addresses: string[], lengths: string[]): string[] => addresses.map((a, i) => `${a}/${lengths[i]}`);
    expect(
      pairs(record['isis.lsp.ext_ip_reachability.ipv4_prefix'], record['isis.lsp.ext_ip_reachability.prefix_length']),
    ).toEqual(of(4));
    expect(
      pairs(record['isis.lsp.ipv6_reachability.ipv6_prefix'], record['isis.lsp.ipv6_reachability.prefix_length']),
    ).toEqual(of(6));
  }
});

test('other TLVs of an LSP: topologies, locators, purge originator', () => {
  const topologies = [
    { id: 0, overload: false, attached: false },
    { id: 2, overload: true, attached: false },
  ];
  const locator = { prefix: prefix('fc00:1:1::/48'), metric: 7, flags: 0x80, algorithm: 0, subTlvs: [] };
  const entry = { prefix: prefix('2001:db8:7::/48'), metric: 9, down: true, external: true, subTlvs: [] };
  const [first, purge] = dissect(
    'ethernet',
    framed([
      lsp([
        { kind: 'multi-topology', topologies },
        { kind: 'mt-ipv6-reachability', mtId: 2, prefixes: [entry] },
        {
          kind: 'mt-is-reachability',
          mtId: 2,
          neighbors: [{ systemId: NEIGHBOR, pseudonode: 3, metric: 11, subTlvs: new Uint8Array() }],
        },
        { kind: 'srv6-locator', mtId: 0, locators: [locator] },
      ]),
      encodePurge({
        level: 2,
        lspId: parseLspId('0000.0000.c001.00-01')!,
        sequence: 5,
        isType: 3,
        originator: SYSTEM,
        receivedFrom: NEIGHBOR,
      }),
    ]),
    [
      'isis.lsp.ipv6_reachability.ipv6_prefix',
      'isis.lsp.ext_is_reachability.is_neighbor_id',
      'isis.lsp.srv6_locator.locator',
      'isis.lsp.srv6_locator.locator_size',
      'isis.lsp.srv6_locator.metric',
      'isis.lsp.purge_originator_id.system_id',
      'isis.lsp.remaining_life',
      'isis.lsp.checksum.status',
    ],
  );
  expect(first).toMatchObject({
    'isis.lsp.ipv6_reachability.ipv6_prefix': ['2001:db8:7::'],
    'isis.lsp.ext_is_reachability.is_neighbor_id': ['0000.0000.0001.03'],
    'isis.lsp.srv6_locator.locator': ['fc00:1:1::'],
    'isis.lsp.srv6_locator.locator_size': ['48'],
    'isis.lsp.srv6_locator.metric': ['7'],
    'isis.lsp.checksum.status': ['1'],
    complaints: [],
  });
  expect(purge).toMatchObject({
    'isis.lsp.remaining_life': ['0'],
    'isis.lsp.purge_originator_id.system_id': ['0000.0000.c001', '0000.0000.0001'],
    // Not looked at: tshark, too, holds that the checksum of a purge says nothing.
    'isis.lsp.checksum.status': ['3'],
    complaints: [],
  });
});

test('sequence number PDUs: range, entries, source', () => {
  const entries = Array.from({ length: 15 }, (_, i) => ({
    remainingLifetime: 1000 + i,
    lspId: parseLspId(`0000.0000.0001.00-0${i.toString(16)}`)!,
    sequence: i + 1,
    checksum: 0x1000 + i,
  }));
  const [csnp, psnp] = dissect(
    'ethernet',
    framed([
      encodePdu({
        kind: 'csnp',
        level: 2,
        systemId: SYSTEM,
        start: FIRST_LSP_ID,
        end: LAST_LSP_ID,
        tlvs: [{ kind: 'lsp-entries', entries }],
      }),
      encodePdu({
        kind: 'psnp',
        level: 1,
        systemId: SYSTEM,
        tlvs: [{ kind: 'lsp-entries', entries: entries.slice(0, 1) }],
      }),
    ]),
    [
      'isis.type',
      'isis.csnp.source_id',
      'isis.csnp.start_lsp_id',
      'isis.csnp.end_lsp_id',
      'isis.csnp.lsp_id',
      'isis.csnp.lsp_seq_num',
      'isis.csnp.lsp_remain_life',
      'isis.csnp.lsp_checksum',
      'isis.psnp.source_id',
    ],
  );
  expect(csnp).toEqual({
    'isis.type': ['25'],
    'isis.csnp.source_id': ['0000.0000.c001'],
    'isis.csnp.start_lsp_id': ['0000.0000.0000.00-00'],
    'isis.csnp.end_lsp_id': ['ffff.ffff.ffff.ff-ff'],
    'isis.csnp.lsp_id': entries.map((_, i) => `0000.0000.0001.00-0${i.toString(16)}`),
    'isis.csnp.lsp_seq_num': entries.map((e) => `0x${e.sequence.toString(16).padStart(8, '0')}`),
    'isis.csnp.lsp_remain_life': entries.map((e) => String(e.remainingLifetime)),
    'isis.csnp.lsp_checksum': entries.map((e) => `0x${e.checksum.toString(16)}`),
    'isis.psnp.source_id': [],
    complaints: [],
  });
  expect(psnp).toMatchObject({ 'isis.type': ['26'], 'isis.psnp.source_id': ['0000.0000.c001'], complaints: [] });
});

test('tshark does notice what is wrong: the comparison can fail', () => {
  const broken = lsp([{ kind: 'hostname', name: 'leaf1' }]);
  broken[30] = broken[30]! ^ 1;
  const [record] = dissect('ethernet', framed([broken]), ['isis.lsp.checksum.status']);
  expect(record!['isis.lsp.checksum.status']).toEqual(['0']);
  expect(record!.complaints).not.toEqual([]);
});
