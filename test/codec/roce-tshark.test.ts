// What tshark reads in the RoCEv2 packets, connection management datagrams and notices that we encode.
import { expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { concat } from '../../src/packet/bytes.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { ipv6, srh } from '../../src/packet/ip/packets.fixture.ts';
import { innermostTuple } from '../../src/packet/ip/five-tuple.ts';
import { buildNoticePacket } from '../../src/packet/notice/pnc.ts';
import { CM_QKEY, CM_QPN, type CmMessage, encodeCmMad } from '../../src/packet/roce/cm.ts';
import { buildRocePacket } from '../../src/packet/roce/packet.ts';
import { dissect } from '../support/tshark.ts';

const ENDS6 = { source: address('2001:db8:a::1'), destination: address('2001:db8:b::1') };
const ENDS4 = { source: address('10.1.0.1'), destination: address('10.2.0.1') };

test('FCNP-3-b: BTH, RETH, AETH and ICRC are where tshark expects them, on both families', () => {
  for (const ends of [ENDS6, ENDS4]) {
    const write = buildRocePacket({
      ...ends,
      sourcePort: 0xc123,
      trafficClass: 0x6a,
      bth: { opcode: 0x06, destQpn: 0xabcdef, psn: 0x123456, ackRequest: true, pkey: 0x8001 },
      ext: { reth: { virtualAddress: 0x1122334455667788n, rkey: 0xcafebabe, length: 4096 } },
      payload: new Uint8Array(31),
    });
    const aeth = { kind: 'nak', value: 0, msn: 77 } as const;
    const nak = buildRocePacket({ ...ends, sourcePort: 1, bth: { opcode: 0x11, destQpn: 1, psn: 2 }, ext: { aeth } });
    const [first, second] = dissect(
      'raw-ip',
      [write, nak],
      [
        'infiniband.bth.opcode',
        'infiniband.bth.destqp',
        'infiniband.bth.psn',
        'infiniband.bth.a',
        'infiniband.bth.p_key',
        'infiniband.bth.padcnt',
        'infiniband.reth.va',
        'infiniband.reth.r_key',
        'infiniband.reth.dmalen',
        'infiniband.aeth.syndrome.opcode',
        'infiniband.aeth.msn',
        'infiniband.invariant.crc',
        'udp.srcport',
      ],
    );
    expect(first).toMatchObject({
      'infiniband.bth.opcode': ['6'],
      'infiniband.bth.destqp': ['0xabcdef'],
      'infiniband.bth.psn': [String(0x123456)],
      'infiniband.bth.a': ['1'],
      'infiniband.bth.p_key': [String(0x8001)],
      'infiniband.bth.padcnt': ['1'],
      'infiniband.reth.va': ['0x1122334455667788'],
      'infiniband.reth.r_key': ['0xcafebabe'],
      'infiniband.reth.dmalen': ['4096'],
      'udp.srcport': [String(0xc123)],
      complaints: [],
    });
    expect(second).toMatchObject({
      'infiniband.aeth.syndrome.opcode': ['3'],
      'infiniband.aeth.msn': ['77'],
      'infiniband.invariant.crc': [`0x${toHex(nak.subarray(-4))}`],
      complaints: [],
    });
  }
});

test('connection management: tshark names both Queue Pairs and starting PSNs', () => {
  const rdmaCm = concat(
    fromHex('0060c35020010db8000a0000000000000000000120010db8000b00000000000000000001'),
    new Uint8Array(56),
  );
  const base = { responderResources: 16, initiatorDepth: 1 };
  const ids = { localCommId: 0x22222222, remoteCommId: 0x11111111, privateData: new Uint8Array() };
  const messages: CmMessage[] = [
    {
      kind: 'req',
      ...base,
      localCommId: 0x11111111,
      serviceId: 0x1061389n,
      localQpn: 0x64,
      startingPsn: 0xabcdef,
      transport: 0,
      pkey: 0xffff,
      pathMtu: 5,
      retryCount: 7,
      rnrRetryCount: 6,
      localGid: ENDS6.source,
      remoteGid: ENDS6.destination,
      privateData: rdmaCm,
    },
    { kind: 'rep', ...base, ...ids, localQpn: 0xc8, startingPsn: 0x123 },
    { kind: 'rtu', ...ids },
    { kind: 'rej', ...ids, rejected: 1, reason: 28 },
    { kind: 'dreq', ...ids, remoteQpn: 0x64 },
    { kind: 'drep', ...ids },
  ];
  const packets = messages.map((message, i) =>
    buildRocePacket({
      ...ENDS6,
      sourcePort: 0xc000,
      bth: { opcode: 0x64, destQpn: CM_QPN, psn: i },
      ext: { deth: { qkey: CM_QKEY, sourceQpn: CM_QPN } },
      payload: encodeCmMad(BigInt(i + 1), message),
    }),
  );
  const records = dissect('raw-ip', packets, [
    'infiniband.mad.attributeid',
    'infiniband.mad.transactionid',
    'infiniband.deth.srcqp',
    'infiniband.cm.req.localqpn',
    'infiniband.cm.req.startpsn',
    'infiniband.cm.req.serviceid.dport',
    'infiniband.cm.req.prim_localgid',
    'infiniband.cm.req.prim_remotegid',
    'infiniband.cm.req.pppmtu',
    'infiniband.cm.req.retrcount',
    'infiniband.cm.req.rnrretrcount',
    'infiniband.cm.req.ip_cm.sport',
    'infiniband.cm.req.ip_cm.sip6',
    'infiniband.cm.rep.localqpn',
    'infiniband.cm.rep.startpsn',
    'infiniband.cm.rep.remotecommid',
    'infiniband.cm.rej.msgrej',
    'infiniband.cm.rej.reason',
  ]);
  expect(records.map((r) => r['infiniband.mad.attributeid'])).toEqual([
    ['0x0010'],
    ['0x0013'],
    ['0x0014'],
    ['0x0012'],
    ['0x0015'],
    ['0x0016'],
  ]);
  for (const record of records) expect(record.complaints).toEqual([]);
  expect(records[0]).toMatchObject({
    'infiniband.mad.transactionid': ['0x0000000000000001'],
    'infiniband.deth.srcqp': ['0x00000001'],
    'infiniband.cm.req.localqpn': ['0x000064'],
    'infiniband.cm.req.startpsn': ['0xabcdef'],
    'infiniband.cm.req.serviceid.dport': ['0x1389'],
    'infiniband.cm.req.prim_localgid': ['2001:db8:a::1'],
    'infiniband.cm.req.prim_remotegid': ['2001:db8:b::1'],
    'infiniband.cm.req.pppmtu': ['0x05'],
    'infiniband.cm.req.retrcount': ['0x07'],
    'infiniband.cm.req.rnrretrcount': ['0x06'],
    'infiniband.cm.req.ip_cm.sport': ['0xc350'],
    'infiniband.cm.req.ip_cm.sip6': ['2001:db8:a::1'],
  });
  expect(records[1]).toMatchObject({
    'infiniband.cm.rep.localqpn': ['0x0000c8'],
    'infiniband.cm.rep.startpsn': ['0x000123'],
    'infiniband.cm.rep.remotecommid': ['0x11111111'],
  });
  expect(records[3]).toMatchObject({ 'infiniband.cm.rej.msgrej': ['0x01'], 'infiniband.cm.rej.reason': ['0x001c'] });
});

test('PNC-4-a, PNC-4-g: tshark finds the lengths and both checksums of a notice right, of odd and even sizes, on both families', () => {
  const cases = [
    [{ source: address('2001:db8:ffff::3'), destination: address('2001:db8:ffff::1') }, ENDS6, '1280', '1240'],
    [{ source: address('192.0.2.3'), destination: address('192.0.2.1') }, ENDS4, '576', '556'],
  ] as const;
  for (const [ends, flow, ipBytes, udpBytes] of cases) {
    const notices = [2000, 101, 100].map((size) => {
      const bth = { opcode: 4, destQpn: 5, psn: 6 };
      const invoking = buildRocePacket({ ...flow, sourcePort: 0xc000, bth, payload: new Uint8Array(size).fill(7) });
      const cut = invoking.subarray(0, size === 101 ? invoking.length - 1 : invoking.length);
      const tuple = innermostTuple(cut);
      if (!tuple.ok) throw new Error(tuple.error.code);
      return buildNoticePacket({
        ...ends,
        sourcePort: 50001,
        destinationPort: 1021,
        tuple: tuple.value,
        level: 7,
        invoking: cut,
      });
    });
    const records = dissect('raw-ip', notices, [
      'udp.dstport',
      'udp.length',
      'udp.checksum.status',
      'ip.checksum.status',
      'frame.len',
    ]);
    for (const record of records) {
      expect(record['udp.dstport']).toEqual(['1021']);
      expect(record['udp.checksum.status']).toEqual(['1']);
      expect(record['ip.checksum.status']).toEqual(ends.source.family === 4 ? ['1'] : []);
      expect(record.complaints).toEqual([]);
    }
    expect(records[0]).toMatchObject({ 'frame.len': [ipBytes], 'udp.length': [udpBytes] });
  }
});

test('PNC-4-c: tshark finds the same inner flow below segment routing as the walker', () => {
  const inner = buildRocePacket({ ...ENDS6, sourcePort: 0xc777, bth: { opcode: 4, destQpn: 5, psn: 6 } });
  const pe = [address('2001:db8:ffff::2'), address('fc00:2:1::')] as const;
  const packet = ipv6(pe, 43, srh(41, 1, [address('fc00:9::'), pe[1]], inner));
  const [record] = dissect('raw-ip', [packet], ['ipv6.src', 'ipv6.dst', 'udp.srcport', 'infiniband.bth.destqp']);
  expect(record).toMatchObject({
    'ipv6.src': ['2001:db8:ffff::2', '2001:db8:a::1'],
    'udp.srcport': [String(0xc777)],
    'infiniband.bth.destqp': ['0x000005'],
  });
  expect(record!['ipv6.dst'].at(-1)).toBe('2001:db8:b::1');
  expect(innermostTuple(packet)).toMatchObject({ ok: true, value: { ...ENDS6, sourcePort: 0xc777 } });
});
