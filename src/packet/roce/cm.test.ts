import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { u16, u24, u32 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { CM_QKEY, CM_QPN, type CmMessage, type CmReq, decodeCmMad, encodeCmMad, rdmaCmHeader } from './cm.ts';
import { buildRocePacket, parseRocePacket } from './packet.ts';

const SENDER = address('2001:db8:a::1');
const RECEIVER = address('2001:db8:b::1');

const REQ: CmReq = {
  kind: 'req',
  localCommId: 0x11223344,
  serviceId: 0x0000_0000_0106_1389n,
  localQpn: 0x000064,
  startingPsn: 0xabcdef,
  transport: 0,
  responderResources: 16,
  initiatorDepth: 1,
  pkey: 0xffff,
  pathMtu: 5,
  retryCount: 7,
  rnrRetryCount: 6,
  localGid: SENDER,
  remoteGid: RECEIVER,
  privateData: new Uint8Array(92),
};

function decoded(mad: Uint8Array): CmMessage {
  const result = decodeCmMad(mad);
  if (!result.ok || result.value.message.kind === 'other') throw new Error('not decoded');
  return result.value.message;
}

test('a REQ has its fields where InfiniBand puts them', () => {
  const mad = encodeCmMad(0x0102030405060708n, REQ);
  const body = mad.subarray(24);
  expect(mad).toHaveLength(256);
  expect(toHex(mad.subarray(0, 24))).toBe('0107020300000000' + '0102030405060708' + '0010000000000000');
  expect(u32(body, 0)).toBe(0x11223344);
  expect(toHex(body.subarray(8, 16))).toBe('0000000001061389');
  expect(u24(body, 32)).toBe(0x64);
  expect(u24(body, 44)).toBe(0xabcdef);
  expect(u16(body, 48)).toBe(0xffff);
  expect({ pathMtuAndRnrRetries: body[50] }).toEqual({ pathMtuAndRnrRetries: 0x56 });
  expect(toHex(body.subarray(56, 72))).toBe('20010db8000a00000000000000000001');
  expect(toHex(body.subarray(72, 88))).toBe('20010db8000b00000000000000000001');
  expect(decodeCmMad(mad)).toEqual({ ok: true, value: { transactionId: 0x0102030405060708n, message: REQ } });
});

test('a REP has both communication IDs, its Queue Pair and starting PSN', () => {
  const ids = { localCommId: 1, remoteCommId: 2 };
  const depths = { responderResources: 4, initiatorDepth: 5 };
  const rep: CmMessage = {
    kind: 'rep',
    ...ids,
    ...depths,
    localQpn: 0xc8,
    startingPsn: 3,
    privateData: new Uint8Array(),
  };
  const body = encodeCmMad(1n, rep).subarray(24);
  expect({
    localCommId: u32(body, 0),
    remoteCommId: u32(body, 4),
    localQpn: u24(body, 12),
    startingPsn: u24(body, 20),
    responderResources: body[24],
    initiatorDepth: body[25],
  }).toEqual({
    localCommId: 1,
    remoteCommId: 2,
    localQpn: 0xc8,
    startingPsn: 3,
    responderResources: 4,
    initiatorDepth: 5,
  });
});

test('GIDs of IPv4 are mapped addresses', () => {
  const body = encodeCmMad(1n, { ...REQ, localGid: address('10.1.0.1') }).subarray(24);
  expect(toHex(body.subarray(56, 72))).toBe('00000000000000000000ffff0a010001');
  expect(decoded(encodeCmMad(1n, { ...REQ, localGid: address('10.1.0.1') }))).toMatchObject({
    localGid: address('10.1.0.1'),
  });
});

const id = fc.nat(0xffffffff);
const qpn = fc.nat(0xffffff);
const priv = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });
const both = { localCommId: id, remoteCommId: id };
const gid = fc.oneof(
  fc.bigInt(0n, 2n ** 32n - 1n).map((value) => ({ family: 4 as const, value })),
  fc.bigInt(2n ** 64n, 2n ** 128n - 1n).map((value) => ({ family: 6 as const, value })),
);
const MESSAGE: fc.Arbitrary<CmMessage> = fc.oneof(
  fc.record({
    kind: fc.constant('req' as const),
    localCommId: id,
    serviceId: fc.bigInt(0n, 2n ** 64n - 1n),
    localQpn: qpn,
    startingPsn: qpn,
    transport: fc.nat(3),
    responderResources: fc.nat(255),
    initiatorDepth: fc.nat(255),
    pkey: fc.nat(65535),
    pathMtu: fc.nat(15),
    retryCount: fc.nat(7),
    rnrRetryCount: fc.nat(7),
    localGid: gid,
    remoteGid: gid,
    privateData: priv(92),
  }),
  fc.record({
    kind: fc.constant('rep' as const),
    ...both,
    localQpn: qpn,
    startingPsn: qpn,
    responderResources: fc.nat(255),
    initiatorDepth: fc.nat(255),
    privateData: priv(196),
  }),
  fc.record({ kind: fc.constant('rtu' as const), ...both, privateData: priv(224) }),
  fc.record({
    kind: fc.constant('rej' as const),
    ...both,
    rejected: fc.nat(3),
    reason: fc.nat(65535),
    privateData: priv(148),
  }),
  fc.record({ kind: fc.constant('dreq' as const), ...both, remoteQpn: qpn, privateData: priv(220) }),
  fc.record({ kind: fc.constant('drep' as const), ...both, privateData: priv(224) }),
);

test('every message comes back as it was', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), MESSAGE, (transactionId, message) => {
      expect(decodeCmMad(encodeCmMad(transactionId, message))).toEqual({ ok: true, value: { transactionId, message } });
    }),
    { numRuns: 500 },
  );
});

test('a CM packet on IPv6 is 328 bytes: UD SEND_ONLY to Queue Pair 1', () => {
  const packet = buildRocePacket({
    source: SENDER,
    destination: RECEIVER,
    sourcePort: 0xc000,
    bth: { opcode: 0x64, destQpn: CM_QPN, psn: 0 },
    ext: { deth: { qkey: CM_QKEY, sourceQpn: CM_QPN } },
    payload: encodeCmMad(1n, REQ),
  });
  expect(packet).toHaveLength(328);
  const parsed = parseRocePacket(packet);
  expect(parsed.ok && [parsed.value.ext, parsed.value.icrcValid, decoded(parsed.value.payload)]).toEqual([
    { deth: { qkey: CM_QKEY, sourceQpn: 1 } },
    true,
    REQ,
  ]);
});

test('the RDMA CM header in the private data of a REQ', () => {
  const privateData = new Uint8Array(92);
  privateData.set(fromHex('0060c350' + '20010db8000a00000000000000000001' + '20010db8000b00000000000000000001'));
  expect(rdmaCmHeader({ ...REQ, privateData })).toEqual({
    source: SENDER,
    destination: RECEIVER,
    sourcePort: 50000,
    destinationPort: 5001,
  });
  privateData.set(
    fromHex('0040c350' + '000000000000000000000000' + '0a010001' + '000000000000000000000000' + '0a020001'),
  );
  expect(rdmaCmHeader({ ...REQ, privateData })).toMatchObject({
    source: address('10.1.0.1'),
    destination: address('10.2.0.1'),
  });
  expect(rdmaCmHeader({ ...REQ, privateData: privateData.subarray(0, 36) })).toBeDefined();
  expect(rdmaCmHeader({ ...REQ, privateData: privateData.subarray(0, 35) })).toBeUndefined();
  expect(rdmaCmHeader({ ...REQ, privateData: privateData.with(0, 1) })).toBeUndefined();
  for (const version of [0x00, 0x50, 0x70])
    expect(rdmaCmHeader({ ...REQ, privateData: privateData.with(1, version) })).toBeUndefined();
  for (const serviceId of [0x0206_1389n, 0x1_0106_1389n])
    expect(rdmaCmHeader({ ...REQ, privateData, serviceId })).toBeUndefined();
  expect(rdmaCmHeader({ ...REQ, privateData, serviceId: 1n })).toBeUndefined();
  expect(rdmaCmHeader({ ...REQ, privateData: new Uint8Array(92) })).toBeUndefined();
});

test('other messages are named by number; other classes, versions and methods are refused', () => {
  const with_ = (at: number, value: number): Uint8Array => {
    const mad = encodeCmMad(1n, REQ);
    mad[at] = value;
    return mad;
  };
  const code = (mad: Uint8Array): string => {
    const result = decodeCmMad(mad);
    return result.ok ? 'ok' : result.error.code;
  };
  expect(decodeCmMad(with_(17, 0x11))).toMatchObject({
    ok: true,
    value: { message: { kind: 'other', attributeId: 0x11 } },
  });
  expect(code(with_(0, 2))).toBe('bad-mad-version');
  expect(code(with_(1, 3))).toBe('not-cm');
  expect(code(with_(2, 1))).toBe('bad-mad-version');
  expect(code(with_(3, 0x81))).toBe('bad-method');
  expect(() => encodeCmMad(1n, { ...REQ, privateData: new Uint8Array(93) })).toThrow(
    /93 bytes of private data in a REQ/,
  );
});

test('no MAD harms the decoder', () => {
  const mad = encodeCmMad(1n, REQ);
  refusesTruncation(decodeCmMad, mad);
  fuzzDecoder(
    (bytes) => {
      const result = decodeCmMad(bytes);
      return result.ok && result.value.message.kind === 'req' ? [result, rdmaCmHeader(result.value.message)] : result;
    },
    [mad, encodeCmMad(1n, { kind: 'rtu', localCommId: 1, remoteCommId: 2, privateData: new Uint8Array(224) })],
  );
});
