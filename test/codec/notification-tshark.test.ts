// What tshark reads in Long-haul CNPs, Fast CNPs, Parameter Problems, segment routing and STAMP. It knows none of the
// drafts; it does know every layer they are built from.
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../../src/model/address.ts';
import { STAMP_PORT } from '../../src/model/assigned-numbers.ts';
import { concat } from '../../src/packet/bytes.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { buildIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { encodeExtensions } from '../../src/packet/icmpv6/objects.ts';
import { PROBLEM, buildParameterProblem } from '../../src/packet/icmpv6/parameter-problem.ts';
import { type IoamTrace, decodeTrace } from '../../src/packet/ip/ioam.ts';
import { encodeOptionHeader } from '../../src/packet/ip/options.ts';
import { ipv6 } from '../../src/packet/ip/packets.fixture.ts';
import { encodeUdpPacket } from '../../src/packet/ip/udp.ts';
import type { LongHaulCnp } from '../../src/packet/long-haul/body.ts';
import { OBJECT_CLASS, REDUCE, RESUME } from '../../src/packet/long-haul/vectors.fixture.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import { buildRocePacket } from '../../src/packet/roce/packet.ts';
import { encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { wrapForEndCon } from '../../src/packet/srv6/end-con.ts';
import { encodeSrh } from '../../src/packet/srv6/srh.ts';
import { encodeTreeSrh } from '../../src/packet/srv6/tree-srh.ts';
import { UNSYNCHRONIZED, encodeStampReply, encodeStampTest } from '../../src/packet/stamp/stamp.ts';
import { dissect } from '../support/tshark.ts';

const NODE = address('2001:db8:ffff::2');
const H1 = address('2001:db8:a::1');
const H2 = address('2001:db8:b::1');
const ENDS = { source: NODE, destination: H1 };
const ENDS4 = { source: address('10.255.0.2'), destination: address('10.1.0.1') };
const CODES = { type: 200, objectClass: OBJECT_CLASS };
const FAST = { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' } as const;
const OBJECTS: LongHaulCnp['objects'] = [
  { kind: 'timestamp', ntp: 0xe8d4a51012345678n },
  { kind: 'device-id', name: 'leaf1' },
  { kind: 'path-id', id: fromHex('00000007') },
];

/** A pre-allocated trace: hop limit and node ID, interfaces; one node filled in, room for another. */
const TRACE: IoamTrace = (() => {
  const trace = decodeTrace(
    0,
    fromHex('007b' + '1002' + 'c00000' + '00' + '0000000000000000' + '40000009' + '00020003'),
  );
  if (!trace.ok) throw new Error(trace.error.code);
  return trace.value;
})();

/** With option 1, or with a trace in option 2. */
const fastCnp = (trace?: IoamTrace): Uint8Array =>
  buildFastCnp({ ...ENDS, originalDestination: H2, destQpn: 0xc8, sourcePort: 0xc000, codes: FAST, trace });

test('LHCNP-6.1-b, LHCNP-6.1-c, LHCNP-6.1-d: an ICMPv6 message for private experimentation whose checksum is good, with and without objects (V8)', () => {
  const cnps = [
    REDUCE,
    RESUME,
    { ...REDUCE, objects: OBJECTS },
    { ...REDUCE, objects: [{ kind: 'device-id', name: 'odd' } as const] },
  ];
  const packets = cnps.map((cnp) => buildLongHaulIcmpv6({ ...ENDS, cnp, codes: CODES }));
  const fields = [
    'icmpv6.type',
    'icmpv6.code',
    'icmpv6.checksum.status',
    'ipv6.src',
    'ipv6.dst',
    'ipv6.tclass.dscp',
    'ipv6.hlim',
    'ipv6.plen',
  ] as const;
  for (const [i, record] of dissect('raw-ip', packets, fields).entries()) {
    expect(record).toMatchObject({
      'icmpv6.type': ['200'],
      'icmpv6.code': ['0'],
      'icmpv6.checksum.status': ['1'],
      'ipv6.src': ['2001:db8:ffff::2'],
      'ipv6.dst': ['2001:db8:a::1'],
      'ipv6.tclass.dscp': ['48'],
      'ipv6.hlim': ['64'],
    });
    expect(record['ipv6.plen']).toEqual([String(packets[i]!.length - 40)]);
    // A type that it does not know is all that it finds.
    expect(record.complaints.join(' ')).not.toMatch(/[Mm]alformed|[Cc]hecksum|length/);
  }
});

test('LHCNP-6.1.1-b, LHCNP-6.1.1-c, LHCNP-6.1.1-e, LHCNP-6.1.1-f: our extension structure, in a message whose extensions tshark knows', () => {
  const quoted = concat(
    buildRocePacket({
      source: H1,
      destination: H2,
      sourcePort: 1,
      bth: { opcode: 4, destQpn: 5, psn: 6 },
      payload: new Uint8Array(64),
    }),
    new Uint8Array(128),
  ).subarray(0, 128);
  const objects = [
    { classNum: OBJECT_CLASS, cType: 1, payload: fromHex('e8d4a51012345678') },
    { classNum: OBJECT_CLASS, cType: 2, payload: new TextEncoder().encode('leaf0001') },
    { classNum: OBJECT_CLASS, cType: 3, payload: fromHex('00000007') },
  ];
  // Time Exceeded with 16 × 8 octets of original datagram (RFC 4884 §4.5).
  const packet = buildIcmpv6({
    ...ENDS,
    type: 3,
    code: 0,
    body: concat(Uint8Array.of(16, 0, 0, 0), quoted, encodeExtensions(objects)),
  });
  const [record] = dissect(
    'raw-ip',
    [packet],
    [
      'icmp.ext.version',
      'icmp.ext.res',
      'icmp.ext.checksum.status',
      'icmp.ext.length',
      'icmp.ext.class',
      'icmp.ext.ctype',
      'icmp.ext.data',
    ],
  );
  expect(record).toMatchObject({
    'icmp.ext.version': ['2'],
    'icmp.ext.res': ['0x0000'],
    'icmp.ext.checksum.status': ['1'],
    'icmp.ext.length': ['12', '12', '8'],
    'icmp.ext.class': ['247', '247', '247'],
    'icmp.ext.ctype': ['1', '2', '3'],
    'icmp.ext.data': ['e8d4a51012345678', toHex(objects[1]!.payload), '00000007'],
  });
});

test('LHCNP-6.2.3-a, LHCNP-6.2.3-b, LHCNP-6.2.3-c, LHCNP-6.2.3-d, LHCNP-6.2.3-e, LHCNP-6.2.3-f, LHCNP-6.2.3-g, LHCNP-6.2.3-l, LHCNP-6.2.3-m, LHCNP-6.2.3-o: tshark reads the same BTH on both families (A4)', () => {
  const packets = [ENDS, ENDS4].map((ends) =>
    buildLongHaulRoce({ ...ends, sourcePort: 0xc000, cnp: REDUCE, objectClass: OBJECT_CLASS }),
  );
  const names = ['opcode', 'se', 'm', 'padcnt', 'tver', 'p_key', 'destqp', 'a', 'psn'] as const;
  const records = dissect('raw-ip', packets, [
    ...names.map((n) => `infiniband.bth.${n}` as const),
    'udp.dstport',
    'udp.length',
    'ip.checksum.status',
    'ip.flags.df',
  ]);
  for (const record of records) {
    const bth = Object.fromEntries(names.map((n) => [n, record[`infiniband.bth.${n}`][0]]));
    expect(bth).toEqual({
      opcode: '129',
      se: '0',
      m: '0',
      padcnt: '0',
      tver: '0',
      p_key: '65535',
      destqp: '0x000064',
      a: '0',
      psn: '0',
    });
    expect(record).toMatchObject({ 'udp.dstport': ['4791'], 'udp.length': ['36'] });
    expect(record.complaints.filter((c) => c !== '')).toEqual([]);
  }
  expect(records[1]).toMatchObject({ 'ip.checksum.status': ['1'], 'ip.flags.df': ['1'] });
});

test('A12, FCNP-4-h, FCNP-4-j, FCNP-4-k, FCNP-4-l, FCNP-4-p, FCNP-4-q: one option that says "discard and report, does not change", then a CNP', () => {
  const packets = [fastCnp(), fastCnp(TRACE)];
  const records = dissect('raw-ip', packets, [
    'ipv6.opt.type',
    'ipv6.opt.type.action',
    'ipv6.opt.type.change',
    'ipv6.opt.length',
    'ipv6.opt.experimental',
    'ipv6.dstopts.len',
    'infiniband.bth.opcode',
    'infiniband.bth.destqp',
    'udp.dstport',
  ]);
  for (const record of records) {
    // The action is in the two upper bits, the change bit in the third.
    expect(record['ipv6.opt.type']).toContain('0x9e');
    const ours = record['ipv6.opt.type'].indexOf('0x9e');
    expect({
      action: Number(record['ipv6.opt.type.action'][ours]),
      change: Number(record['ipv6.opt.type.change'][ours]),
    }).toEqual({ action: 2, change: 0 });
    expect(record['ipv6.opt.type'].filter((type) => type !== '0x01')).toEqual(['0x9e']);
    expect(record).toMatchObject({
      'infiniband.bth.opcode': ['129'],
      'infiniband.bth.destqp': ['0x0000c8'],
      'udp.dstport': ['4791'],
    });
    expect(record.complaints.join(' ')).not.toMatch(/[Mm]alformed|[Ll]ength|[Cc]hecksum/);
  }
  expect(records[0]).toMatchObject({
    'ipv6.opt.length': ['16', '2'],
    'ipv6.dstopts.len': ['2'],
    'ipv6.opt.experimental': [toHex(packets[0]!.subarray(44, 60))],
  });
  expect(records[1]!['ipv6.opt.length'].slice(0, 2)).toEqual(['0', String(26 + 16)]);
});

test('FCNP-4-s: a data packet with the same trace in its Hop-by-Hop header: tshark reads our IOAM fields', () => {
  const data = buildRocePacket({ source: H1, destination: H2, sourcePort: 1, bth: { opcode: 4, destQpn: 5, psn: 6 } });
  const packet = ipv6(
    [H1, H2],
    0,
    concat(encodeOptionHeader(17, 2, 0x31, concat(Uint8Array.of(0, TRACE.kind), TRACE.bytes)), data.subarray(40)),
  );
  const [record] = dissect(
    'raw-ip',
    [packet],
    [
      'ipv6.opt.ioam.opt_type',
      'ipv6.opt.ioam.trace.ns',
      'ipv6.opt.ioam.trace.nodelen',
      'ipv6.opt.ioam.trace.remlen',
      'ipv6.opt.ioam.trace.flags',
      'ipv6.opt.ioam.trace.type',
      'ipv6.opt.ioam.trace.node.id',
    ],
  );
  expect(
    Object.fromEntries(Object.entries(record!).map(([k, v]) => [k.split('.').at(-1), v.map(Number)])),
  ).toMatchObject({
    opt_type: [TRACE.kind],
    ns: [TRACE.namespace],
    nodelen: [TRACE.nodeLength / 4],
    remlen: [TRACE.remaining / 4],
    flags: [TRACE.flags],
    type: [TRACE.traceType],
    id: [9],
  });
});

test('FCNP-4-j: the Parameter Problem of a host, as tshark reads it', () => {
  const invoking = fastCnp();
  const packet = buildParameterProblem(
    { source: H1, destination: NODE },
    { code: PROBLEM.unrecognizedOption, pointer: 42, invoking },
  );
  const [record] = dissect(
    'raw-ip',
    [packet],
    ['icmpv6.type', 'icmpv6.code', 'icmpv6.pointer', 'icmpv6.checksum.status', 'ipv6.dst', 'infiniband.bth.destqp'],
  );
  expect(record).toMatchObject({
    'icmpv6.type': ['4'],
    'icmpv6.code': ['2'],
    'icmpv6.pointer': ['42'],
    'icmpv6.checksum.status': ['1'],
    'ipv6.dst': ['2001:db8:ffff::2', '2001:db8:a::1'],
  });
});

test('FCN-4.2.2-d: to END.CON behind one more IPv6 header; a path and TLVs in a segment routing header', () => {
  const endCon = address('2001:db8:c::1');
  const fast = fastCnp();
  const cnp4 = buildLongHaulRoce({ ...ENDS4, sourcePort: 0xc000, cnp: REDUCE, objectClass: OBJECT_CLASS });
  const steered = encapsulate({
    source: NODE,
    destination: address('fc00:1::'),
    path: [address('fc00:2::'), endCon],
    inner: fast,
  });
  const withTlv = ipv6(
    [NODE, endCon],
    43,
    concat(
      encodeSrh({
        nextHeader: 4,
        segmentsLeft: 0,
        flags: 0,
        tag: 7,
        segments: [endCon],
        tlvs: [{ type: 124, value: fromHex('010203') }],
      }),
      cnp4,
    ),
  );
  const packets = [
    ...[fast, cnp4].map((notification) => wrapForEndCon({ source: NODE, endCon, notification })),
    steered,
    withTlv,
  ];
  const records = dissect('raw-ip', packets, [
    'ipv6.nxt',
    'ipv6.src',
    'ipv6.dst',
    'ipv6.routing.segleft',
    'ipv6.routing.srh.last_entry',
    'ipv6.routing.srh.addr',
    'ipv6.routing.srh.tag',
    'infiniband.bth.opcode',
    'ip.dst',
    'ipv6.tclass.ecn',
  ]);
  expect(records.map((r) => r['infiniband.bth.opcode'])).toEqual([['129'], ['129'], ['129'], ['129']]);
  expect(records[0]).toMatchObject({
    'ipv6.nxt': ['41', '60'],
    'ipv6.src': ['2001:db8:ffff::2', '2001:db8:ffff::2'],
    'ipv6.dst': ['2001:db8:c::1', '2001:db8:a::1'],
  });
  expect(records[1]).toMatchObject({ 'ipv6.nxt': ['4'], 'ip.dst': ['10.1.0.1'], 'ipv6.tclass.ecn': ['0'] });
  expect(records[2]).toMatchObject({
    'ipv6.routing.segleft': ['2'],
    'ipv6.routing.srh.last_entry': ['2'],
    'ipv6.routing.srh.addr': ['2001:db8:c::1', 'fc00:2::', 'fc00:1::'],
  });
  expect(records[3]).toMatchObject({
    'ipv6.routing.segleft': ['0'],
    'ipv6.routing.srh.tag': ['0007'],
    'ip.dst': ['10.1.0.1'],
  });
  for (const record of records) expect(record.complaints.join(' ')).not.toMatch(/[Mm]alformed|[Ll]ength/);
});

test('STAMP: test packet and reply where TWAMP has the same fields', () => {
  const test = {
    sequence: 77,
    timestamp: 0xe93c7f0080000000n,
    error: { synchronized: true, ptp: false, scale: 15, multiplier: 8 },
    ssid: 0,
  };
  const reply = {
    ...test,
    sequence: 78,
    error: UNSYNCHRONIZED,
    received: 0xe93c7f0040000000n,
    senderSequence: 77,
    senderTimestamp: test.timestamp,
    senderError: test.error,
    senderTtl: 61,
  };
  const packet = (payload: Uint8Array, sourcePort: number, destinationPort: number): Uint8Array =>
    encodeUdpPacket({ ...ENDS, sourcePort, destinationPort, checksum: true, payload });
  const packets = [
    packet(encodeStampTest(test), 50_000, STAMP_PORT),
    packet(encodeStampReply(reply), STAMP_PORT, 50_000),
  ];
  const fields = [
    'seq_number',
    'timestamp',
    'error_estimate',
    'receive_timestamp',
    'sender_seq_number',
    'sender_timestamp',
    'sender_ttl',
  ] as const;
  const [sent, answered] = dissect(
    'raw-ip',
    packets,
    [...fields.map((f) => `twamp.test.${f}` as const), 'udp.checksum.status'],
    [`udp.port==${STAMP_PORT},twamp.test`],
  );
  expect(sent).toMatchObject({ 'twamp.test.seq_number': ['77'], 'udp.checksum.status': ['1'], complaints: [] });
  expect(sent!['twamp.test.timestamp'][0]).toMatch(/Jan {1,2}1, 2024 00:00:00\.5/);
  expect(answered).toMatchObject({
    'twamp.test.seq_number': ['78'],
    'twamp.test.sender_seq_number': ['77'],
    'twamp.test.sender_ttl': ['61'],
    complaints: [],
  });
  expect(answered!['twamp.test.receive_timestamp'][0]).toMatch(/00:00:00\.25/);
  expect(answered!['twamp.test.sender_timestamp']).toEqual(sent!['twamp.test.timestamp']);
});

test('RMC-7.1-a, RMC-7.2-b, RMC-7.2-f: the header of a group is an SRH with two segments; the packet inside is where its TLVs end, for any number of receivers', () => {
  const receivers = (n: number) => Array.from({ length: n }, (_, i) => ({ address: H2, qpn: i + 1 }));
  const tlvs = [[], [1], [2], [11], [11, 3], [1, 1, 1], [11, 11, 11, 11, 11, 11]];
  const [proxy, root] = ['2001:db8:f::1', '2001:db8:e::2'].map(address) as [IpAddress, IpAddress];
  const inner = buildRocePacket({
    ...{ source: H1, destination: proxy, sourcePort: 0xc000, trafficClass: 2, hopLimit: 64 },
    ...{ bth: { opcode: 4, destQpn: 0x1000, psn: 9 }, payload: new Uint8Array(64) },
  });
  const headers = tlvs.map((counts) =>
    encodeTreeSrh(
      {
        ...{ proxyAddress: proxy, replicationSid: root, epoch: 0x12345 },
        ...{ membersDigest: new Uint8Array(8).fill(1), treeDigest: new Uint8Array(8).fill(2) },
        endMtTlvs: counts.map((n) => ({ edge: root, receivers: receivers(n) })),
      },
      { endMtTlv: 124, treeTlv: 125 },
    ),
  );
  // As the kernel sends them: it fills in the next header.
  const packets = headers.map((header) => ipv6([NODE, root], 43, concat(header.with(0, 41), inner)));
  const seen = dissect('raw-ip', packets, [
    ...(['ipv6.routing.type', 'ipv6.routing.segleft', 'ipv6.routing.srh.last_entry', 'ipv6.routing.len'] as const),
    ...(['ipv6.routing.srh.addr', 'ipv6.dst', 'infiniband.bth.destqp', 'infiniband.bth.psn'] as const),
  ]);
  headers.forEach((header, i) => {
    expect(seen[i], `${tlvs[i]!.join()} receivers`).toMatchObject({
      'ipv6.routing.type': ['4'],
      'ipv6.routing.segleft': ['1'],
      'ipv6.routing.srh.last_entry': ['1'],
      'ipv6.routing.len': [String(header.length / 8 - 1)],
      'infiniband.bth.destqp': ['0x001000'],
      'infiniband.bth.psn': ['9'],
    });
    expect(seen[i]!['ipv6.routing.srh.addr']).toEqual(['2001:db8:f::1', '2001:db8:e::2']);
    expect(seen[i]!['ipv6.dst'].at(-1)).toBe('2001:db8:f::1');
  });
  // RMC-7.2-b: the Length of the first End.MT TLV, behind the tree TLV.
  expect(headers.slice(1).map((header) => [header[64], header[65]])).toEqual(
    tlvs.slice(1).map((counts) => [124, 22 + 20 * counts[0]!]),
  );
});
