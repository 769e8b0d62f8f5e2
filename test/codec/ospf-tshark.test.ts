// What tshark reads in the OSPF packets that we encode. It knows neither the LSAs of RFC 8362 nor the sub-TLVs of RFC
// 9792 by name; of those it shows type, length and bytes.
import { expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { concat } from '../../src/packet/bytes.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { supportsOf } from '../../src/carriers/supports.ts';
import { encodeIpv4 } from '../../src/packet/ip/ipv4.ts';
import { encodeIpv6 } from '../../src/packet/ip/ipv6.ts';
import { signPacketV2 } from '../../src/packet/ospf/auth-v2.ts';
import { signPacketV3 } from '../../src/packet/ospf/auth-v3.ts';
import { decodeLsa, encodeLsa } from '../../src/packet/ospf/lsa.ts';
import { opaqueLsId } from '../../src/packet/ospf/lsa-type.ts';
import type { ExtendedPrefix, LsaBody } from '../../src/packet/ospf/lsa/types.ts';
import { INITIAL_SEQUENCE, OPTION_V2, OPTION_V3, type Version } from '../../src/packet/ospf/numbers.ts';
import { encodePacket } from '../../src/packet/ospf/packet.ts';
import { extendedFlags } from '../../src/packet/ospf/prefix-sub-tlvs.ts';
import type { DatabaseDescription, Hello, Lsa, LsaKey, OspfPacket } from '../../src/packet/ospf/types.ts';
import { dissect, print } from '../support/tshark.ts';

const ADDRESSES = {
  2: { source: address('10.0.0.1'), destination: address('224.0.0.5') },
  3: { source: address('fe80::1'), destination: address('ff02::5') },
} as const;
const ROUTER = 0xc0000201;
const NEIGHBOR = 0xc0000202;
const P_FLAG = 2;
const KEY = { id: 7, secret: new TextEncoder().encode('s3cret') };

function inIp(version: Version, payload: Uint8Array): Uint8Array {
  const common = { ...ADDRESSES[version], payloadLength: payload.length, trafficClass: 0xc0, hopLimit: 1 };
  return concat(
    version === 2 ? encodeIpv4({ ...common, protocol: 89 }) : encodeIpv6({ ...common, nextHeader: 89, flowLabel: 0 }),
    payload,
  );
}
const packet = (version: Version, value: OspfPacket): Uint8Array => encodePacket(version, value, ADDRESSES[version]);

const header = { routerId: ROUTER, areaId: 1, instanceId: 0 };
const hello = (options: number): Hello => ({
  ...header,
  kind: 'hello',
  networkMask: 0xfffffffc,
  interfaceId: 9,
  options,
  helloInterval: 10,
  priority: 1,
  deadInterval: 40,
  designatedRouter: 0,
  backupDesignatedRouter: 0,
  neighbors: [NEIGHBOR],
});

function lsa(version: Version, key: Omit<LsaKey, 'advertisingRouter'>, body: LsaBody): Lsa {
  const options = version === 2 ? OPTION_V2.external | OPTION_V2.opaque : 0;
  const decoded = decodeLsa(
    version,
    encodeLsa(version, { age: 1, options, advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE, ...key }, body),
  );
  if (!decoded.ok) throw new Error(decoded.error.detail);
  return decoded.value;
}
const update = (lsas: readonly Lsa[]): OspfPacket => ({ ...header, kind: 'link-state-update', lsas });

const sender = (text: string, proxy: string): ExtendedPrefix => ({
  kind: 'extended-prefix',
  routeType: 1,
  flags: 0x40,
  prefix: prefix(text),
  subTlvs: [
    { kind: 'prefix-extended-flags', flags: extendedFlags(P_FLAG) },
    { kind: 'source-router-address', address: address(proxy) },
  ],
});

test('hellos of both versions, plain and authenticated', () => {
  const v2 = packet(2, hello(OPTION_V2.external));
  const v3 = packet(3, hello(OPTION_V3.v6 | OPTION_V3.external | OPTION_V3.authenticationTrailer));
  const packets = [
    inIp(2, v2),
    inIp(2, signPacketV2(v2, { ...KEY, algorithm: 'md5' }, 77)),
    inIp(2, signPacketV2(v2, { ...KEY, algorithm: 'hmac-sha-256' }, 78)),
    inIp(3, packet(3, hello(OPTION_V3.v6 | OPTION_V3.external))),
    inIp(3, signPacketV3(v3, { ...KEY, algorithm: 'hmac-sha-256' }, (1n << 32n) + 2n, ADDRESSES[3].source)),
  ];
  const records = dissect('raw-ip', packets, [
    'ospf.version',
    'ospf.msg',
    'ospf.srcrouter',
    'ospf.area_id',
    'ospf.hello.hello_interval',
    'ospf.hello.router_dead_interval',
    'ospf.hello.active_neighbor',
    'ospf.auth.type',
    'ospf.auth.crypt.key_id',
    'ospf.auth.crypt.data_length',
    'ospf.auth.crypt.seq_nbr',
    'ospf.at.sa_id',
    'ospf.at.auth_data_len',
    'ospf.at.crypto_seq_nbr',
  ]);
  for (const [i, record] of records.entries()) {
    expect(record).toMatchObject({
      'ospf.version': [i < 3 ? '2' : '3'],
      'ospf.msg': ['1'],
      'ospf.srcrouter': ['192.0.2.1'],
      'ospf.area_id': ['0.0.0.1'],
      'ospf.hello.hello_interval': ['10'],
      'ospf.hello.router_dead_interval': ['40'],
      'ospf.hello.active_neighbor': ['192.0.2.2'],
      complaints: [],
    });
  }
  expect(
    records
      .slice(0, 3)
      .map((r) => [
        r['ospf.auth.type'],
        r['ospf.auth.crypt.key_id'],
        r['ospf.auth.crypt.data_length'],
        r['ospf.auth.crypt.seq_nbr'],
      ]),
  ).toEqual([
    [['0'], [], [], []],
    [['2'], ['7'], ['16'], ['77']],
    [['2'], ['7'], ['32'], ['78']],
  ]);
  expect(records[4]).toMatchObject({
    'ospf.at.sa_id': ['0x0007'],
    'ospf.at.auth_data_len': ['48'],
    'ospf.at.crypto_seq_nbr': [String((1n << 32n) + 2n)],
  });
});

test('Database Descriptions, requests and acknowledgments of both versions', () => {
  const lsas = {
    2: lsa(2, { type: 1, lsId: ROUTER }, { kind: 'router-v2', flags: 0, links: [] }),
    3: lsa(3, { type: 0x2001, lsId: 0 }, { kind: 'router-v3', flags: 0, options: 0x13, links: [] }),
  };
  const packets = ([2, 3] as const).flatMap((version) => {
    const { raw: _raw, ...one } = lsas[version];
    const dd: DatabaseDescription = {
      ...header,
      kind: 'database-description',
      mtu: 1500,
      options: version === 2 ? 0x42 : 0x13,
      initialize: false,
      more: true,
      master: true,
      sequence: 4711,
      headers: [one],
    };
    return [
      dd,
      { ...header, kind: 'link-state-request' as const, requests: [one] },
      { ...header, kind: 'link-state-acknowledgment' as const, headers: [one] },
    ].map((value) => inIp(version, packet(version, value)));
  });
  const records = dissect('raw-ip', packets, [
    'ospf.msg',
    'ospf.db.interface_mtu',
    'ospf.db.dd_sequence',
    'ospf.dbd.i',
    'ospf.dbd.m',
    'ospf.dbd.ms',
    'ospf.lsa',
    'ospf.v3.lsa',
    'ospf.advrouter',
    'ospf.lsa.seqnum',
  ]);
  for (const [i, record] of records.entries()) {
    expect(record.complaints).toEqual([]);
    expect(record['ospf.msg']).toEqual([String([2, 3, 5][i % 3])]);
    expect(record['ospf.advrouter']).toEqual(['192.0.2.1']);
  }
  for (const record of [records[0]!, records[3]!]) {
    expect(record).toMatchObject({
      'ospf.db.interface_mtu': ['1500'],
      'ospf.db.dd_sequence': ['4711'],
      'ospf.dbd.i': ['0'],
      'ospf.dbd.m': ['1'],
      'ospf.dbd.ms': ['1'],
      'ospf.lsa.seqnum': ['0x80000001'],
    });
  }
});

test('Router-LSAs, Link-LSA, Intra-Area-Prefix-LSA, Network-LSAs', () => {
  const v2 = update([
    lsa(
      2,
      { type: 1, lsId: ROUTER },
      {
        kind: 'router-v2',
        flags: 0,
        links: [
          { type: 1, linkId: NEIGHBOR, linkData: 0x0a000001, metric: 0xffff, tosMetrics: new Uint8Array() },
          { type: 3, linkId: 0x0a000000, linkData: 0xfffffffc, metric: 0xffff, tosMetrics: new Uint8Array() },
        ],
      },
    ),
    lsa(
      2,
      { type: 2, lsId: 0x0a000001 },
      { kind: 'network-v2', mask: 0xffffff00, attachedRouters: [ROUTER, NEIGHBOR] },
    ),
  ]);
  const link = { type: 1, metric: 0xffff, interfaceId: 9, neighborInterfaceId: 4, neighborRouterId: NEIGHBOR };
  const v3 = update([
    lsa(3, { type: 0x2001, lsId: 0 }, { kind: 'router-v3', flags: 0, options: OPTION_V3.v6, links: [link] }),
    lsa(3, { type: 0x2002, lsId: 9 }, { kind: 'network-v3', options: 0x13, attachedRouters: [ROUTER, NEIGHBOR] }),
    lsa(
      3,
      { type: 0x0008, lsId: 9 },
      {
        kind: 'link',
        priority: 1,
        options: 0x13,
        linkLocalAddress: address('fe80::1'),
        prefixes: [{ prefix: prefix('2001:db8:1::/64'), options: 0 }],
      },
    ),
    lsa(
      3,
      { type: 0x2009, lsId: 0 },
      {
        kind: 'intra-area-prefix',
        referenced: { type: 0x2001, lsId: 0, advertisingRouter: ROUTER },
        prefixes: [{ prefix: prefix('2001:db8:ffff::1/128'), options: 2, metric: 10 }],
      },
    ),
  ]);
  const [first, second] = dissect(
    'raw-ip',
    [inIp(2, packet(2, v2)), inIp(3, packet(3, v3))],
    [
      'ospf.lsa.router.linktype',
      'ospf.lsa.router.linkid',
      'ospf.lsa.router.metric0',
      'ospf.lsa.network.netmask',
      'ospf.lsa.network.attchrtr',
      'ospf.v3.lsa.neighbor_router_id',
      'ospf.v3.lsa.neighbor_interface_id',
      'ospf.v3.options.r',
      'ospf.v3.lsa.attached_router',
      'ospf.v3.lsa.link_local_interface_address.ipv6',
      'ospf.v3.address_prefix.ipv6',
      'ospf.v3.lsa.referenced_ls_type',
      'ospf.prefix_length',
    ],
  );
  expect(first).toMatchObject({
    'ospf.lsa.router.linktype': ['1', '3'],
    'ospf.lsa.router.linkid': ['192.0.2.2', '10.0.0.0'],
    'ospf.lsa.router.metric0': ['65535', '65535'],
    'ospf.lsa.network.netmask': ['255.255.255.0'],
    'ospf.lsa.network.attchrtr': ['192.0.2.1', '192.0.2.2'],
    complaints: [],
  });
  expect(second).toMatchObject({
    'ospf.v3.lsa.neighbor_router_id': ['192.0.2.2'],
    'ospf.v3.lsa.neighbor_interface_id': ['4'],
    'ospf.v3.options.r': ['0', '1', '1'],
    'ospf.v3.lsa.attached_router': ['192.0.2.1', '192.0.2.2'],
    'ospf.v3.lsa.link_local_interface_address.ipv6': ['fe80::1'],
    'ospf.v3.address_prefix.ipv6': ['2001:db8:1::', '2001:db8:ffff::1'],
    'ospf.v3.lsa.referenced_ls_type': ['0x2001'],
    'ospf.prefix_length': ['64', '128'],
    complaints: [],
  });
});

test('what senders understand is one more sub-TLV to tshark, padded to a word', () => {
  const one = sender('10.1.0.0/24', '192.0.2.1');
  const { subTlv } = supportsOf(['long-haul-roce'], 33_000);
  const tlvs = [{ ...one, subTlvs: [...one.subTlvs, subTlv] }];
  const body = { kind: 'extended-prefix-lsa', tlvs } as const;
  const packets = [inIp(2, packet(2, update([lsa(2, { type: 10, lsId: opaqueLsId(7, 1) }, body)])))];
  const [record] = dissect('raw-ip', packets, ['ospf.prefix_length', 'ospf.tlv_value']);
  expect(record).toEqual({
    'ospf.prefix_length': ['24'],
    'ospf.tlv_value': ['20000000', 'c0000201', '0120'],
    complaints: [],
  });
});

test('PNC-5.2-a PNC-5.2-d: tshark finds prefixes, sub-TLV 11 with bit 2, and the proxy in Extended Prefix LSAs, also in one of 71 entries', () => {
  const full = Array.from({ length: 71 }, (_, i) => ({
    ...sender(`10.${i}.0.0/16`, '192.0.2.1'),
    subTlvs: [sender('0.0.0.0/0', '192.0.2.1').subTlvs[0]!],
  }));
  const lsas = [
    lsa(
      2,
      { type: 10, lsId: opaqueLsId(7, 1) },
      { kind: 'extended-prefix-lsa', tlvs: [sender('10.1.0.0/24', '192.0.2.1'), sender('10.2.0.0/23', '192.0.2.9')] },
    ),
    lsa(2, { type: 10, lsId: opaqueLsId(7, 2) }, { kind: 'extended-prefix-lsa', tlvs: full }),
  ];
  const packets = lsas.map((l) => inIp(2, packet(2, update([l]))));
  const [one, many] = dissect('raw-ip', packets, [
    'ospf.lsid_opaque_type',
    'ospf.lsid.opaque_id',
    'ospf.v2.options.o',
    'ospf.tlv.extpfx.tlv_type',
    'ospf.tlv.extpfx.rotuetype',
    'ospf.tlv.extpfx.flags.n',
    'ospf.prefix_length',
    'ospf.tlv_value',
  ]);
  expect(one).toMatchObject({
    'ospf.lsid_opaque_type': ['7'],
    'ospf.lsid.opaque_id': ['1'],
    'ospf.v2.options.o': ['1'],
    'ospf.tlv.extpfx.tlv_type': ['1', '1'],
    'ospf.tlv.extpfx.rotuetype': ['1', '1'],
    'ospf.tlv.extpfx.flags.n': ['1', '1'],
    'ospf.prefix_length': ['24', '23'],
    'ospf.tlv_value': ['20000000', 'c0000201', '20000000', 'c0000209'],
    complaints: [],
  });
  expect(many!.complaints).toEqual([]);
  expect(many!['ospf.prefix_length']).toEqual(full.map(() => '16'));
  expect(many!['ospf.tlv_value']).toEqual(full.map(() => '20000000'));
  const types = print('raw-ip', packets.slice(0, 1), 'ospf').filter((line) => line.startsWith('Unknown Sub-TLV'));
  expect(types).toEqual([11, 5, 11, 5].map((type) => `Unknown Sub-TLV: ${type} - Unknown`));
});

test('router information and our own opaque LSA', () => {
  const lsas = [
    lsa(
      2,
      { type: 10, lsId: opaqueLsId(4, 0) },
      {
        kind: 'router-information',
        tlvs: [
          { kind: 'informational-capabilities', flags: fromHex('10000000') },
          { kind: 'hostname', name: 'leaf1' },
        ],
      },
    ),
    lsa(2, { type: 10, lsId: opaqueLsId(240, 0) }, { kind: 'private', container: fromHex('0100000000630000') }),
  ];
  const [record] = dissect(
    'raw-ip',
    [inIp(2, packet(2, update(lsas)))],
    ['ospf.lsid_opaque_type', 'ospf.ri.options', 'ospf.dynhostname'],
  );
  expect(record).toMatchObject({
    'ospf.lsid_opaque_type': ['4', '240'],
    'ospf.ri.options': ['0x10'],
    'ospf.dynhostname': ['leaf1'],
  });
});

test('OSPFv3 LSAs whose function tshark does not know: type with U-bit and scope, whole length', () => {
  const bodies: readonly (readonly [number, LsaBody])[] = [
    [
      0xa029,
      { kind: 'e-intra-area-prefix', referenced: { type: 0x2001, lsId: 0, advertisingRouter: ROUTER }, tlvs: [] },
    ],
    [0xa023, { kind: 'e-inter-area-prefix', tlvs: [] }],
    [0xc025, { kind: 'e-as-external', tlvs: [] }],
    [0xa02a, { kind: 'srv6-locator-lsa', tlvs: [] }],
    [0xbff8, { kind: 'private', container: fromHex('01000000') }],
  ];
  const records = dissect(
    'raw-ip',
    bodies.map(([type, body]) => inIp(3, packet(3, update([lsa(3, { type, lsId: 1 }, body)])))),
    ['ospf.v3.lsa.u', 'ospf.v3.lsa.s12', 'ospf.v3.lsa.fc', 'ospf.lsa.length', 'ospf.link_state_id'],
  );
  expect(records.map((r) => [r['ospf.v3.lsa.u'], r['ospf.v3.lsa.s12'], r['ospf.v3.lsa.fc']])).toEqual([
    [['1'], ['0x0001'], ['41']],
    [['1'], ['0x0001'], ['35']],
    [['1'], ['0x0002'], ['37']],
    [['1'], ['0x0001'], ['42']],
    [['1'], ['0x0001'], ['8184']],
  ]);
});

test('packet checksums are right, and those of authenticated packets absent', () => {
  const packets = [
    inIp(2, packet(2, hello(OPTION_V2.external))),
    inIp(3, packet(3, hello(OPTION_V3.v6))),
    inIp(2, signPacketV2(packet(2, hello(OPTION_V2.external)), { ...KEY, algorithm: 'md5' }, 1)),
    inIp(
      3,
      signPacketV3(
        packet(3, hello(OPTION_V3.authenticationTrailer)),
        { ...KEY, algorithm: 'hmac-sha-1' },
        1n,
        ADDRESSES[3].source,
      ),
    ),
  ];
  const broken = packets.slice(0, 2).map((bytes) => {
    const out = new Uint8Array(bytes);
    out[out.length - 1]! ^= 1;
    return out;
  });
  const verdicts = print('raw-ip', [...packets, ...broken], 'ospf').filter((line) => line.startsWith('Checksum:'));
  expect(verdicts.map((line) => line.replace(/0x[0-9a-f]+/g, 'N'))).toEqual([
    'Checksum: N [correct]',
    'Checksum: N [correct]',
    'Checksum: N (None)',
    'Checksum: N (None)',
    'Checksum: N [incorrect, should be N]',
    'Checksum: N [incorrect, should be N]',
  ]);
});
