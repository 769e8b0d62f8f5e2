// The decoders of src/packet: each returns a value or an error, quickly, and reads nothing outside its input. Where
// what was decoded can be encoded, that decodes to the same again.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { address } from '../../src/model/address.ts';
import type { GroupMember } from '../../src/model/group.ts';
import { prefix } from '../../src/model/prefix.ts';
import { decodeArn, encodeArn } from '../../src/packet/arn/arn.ts';
import { decodePnc } from '../../src/packet/bgp/characteristics.ts';
import { decodeNhc } from '../../src/packet/bgp/nhc.ts';
import { decodePathAttributes } from '../../src/packet/bgp/path-attribute.ts';
import { decodeNlri, decodeRoute } from '../../src/packet/bgp/route.ts';
import { NHC_V4_ATTRIBUTE, NHC_V6_ATTRIBUTE } from '../../src/packet/bgp/vectors.fixture.ts';
import { concat } from '../../src/packet/bytes.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { decodeLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { decodeExtensions, encodeExtensions } from '../../src/packet/icmpv6/objects.ts';
import {
  buildParameterProblem,
  decodeParameterProblem,
  refusedFastCnp,
} from '../../src/packet/icmpv6/parameter-problem.ts';
import { decodeFastCnpOption, findFastCnpOption } from '../../src/packet/ip/fast-cnp-option.ts';
import { decodeTraceNodes } from '../../src/packet/ip/ioam-nodes.ts';
import { decodeTrace, findIoamTrace } from '../../src/packet/ip/ioam.ts';
import { decodeIpv4 } from '../../src/packet/ip/ipv4.ts';
import { decodeIpv6 } from '../../src/packet/ip/ipv6.ts';
import { decodeOptionsHeader } from '../../src/packet/ip/options.ts';
import { ipv4, ipv6, srh, udp } from '../../src/packet/ip/packets.fixture.ts';
import { decodeUdp } from '../../src/packet/ip/udp.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { decodeLongHaul } from '../../src/packet/long-haul/body.ts';
import { OBJECT_CLASS, REDUCE_BODY, RESUME_BODY } from '../../src/packet/long-haul/vectors.fixture.ts';
import { decodeNotice, encodeNotice } from '../../src/packet/notice/pnc.ts';
import { decodeAeth } from '../../src/packet/roce/aeth.ts';
import { decodeBth } from '../../src/packet/roce/bth.ts';
import { decodeCmMad } from '../../src/packet/roce/cm.ts';
import { decodeDeth } from '../../src/packet/roce/deth.ts';
import { parseFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { parseRocePacket } from '../../src/packet/roce/packet.ts';
import { decodeReth } from '../../src/packet/roce/reth.ts';
import {
  ACK6,
  CNP6,
  FAST_CNP6,
  LONG_HAUL_CNP4,
  LONG_HAUL_CNP6,
  NAK6,
  SEND6,
} from '../../src/packet/roce/vectors.fixture.ts';
import { type Decoder, decodeSafely } from '../../src/packet/safely.fixture.ts';
import { decodeGroupMember, encodeGroupMember } from '../../src/packet/group-member.ts';
import { decodeSidContainer, encodeSidContainer } from '../../src/packet/sid-container.ts';
import { decodeUnderstood, encodeUnderstood } from '../../src/packet/understood.ts';
import { decodeEndMtTlv, encodeEndMtTlv } from '../../src/packet/srv6/end-mt-tlv.ts';
import { decodeSrh } from '../../src/packet/srv6/srh.ts';
import { decodeTreeTlv, encodeTreeTlv } from '../../src/packet/srv6/tree-tlv.ts';
import { decodeStampReply, decodeStampTest } from '../../src/packet/stamp/stamp.ts';
import type { Target } from './target.ts';

const CODES = { option: 0x9e, ioamOption: 0x9d, icrc: 'cover' } as const;
const ENDS = [address('2001:db8:1::2'), address('2001:db8:2::2')] as const;
const ENDS4 = [address('192.0.2.1'), address('198.51.100.1')] as const;
const KEY = new Uint8Array(16).fill(7);
const ROCE = [CNP6, SEND6, ACK6, NAK6, FAST_CNP6, LONG_HAUL_CNP6, LONG_HAUL_CNP4];
const OPTION = FAST_CNP6.subarray(40, 64);
const MEMBER: GroupMember = {
  group: address('2001:db8:aa::1'),
  role: 'receiver',
  address: address('2001:db8:b::1'),
  qpn: 0x12_3456,
  node: address('2001:db8:e1::1'),
  psnDelta: 9,
};
const MEMBER_WITH_WRITE: GroupMember = { ...MEMBER, write: { vaDelta: 5n, rKey: 6 } };
const TRACE = fromHex('abcd1a0512345600' + '07'.repeat(24));

const nodesOfTrace = (bytes: Uint8Array): unknown => {
  const trace = decodeTrace(0, bytes);
  return trace.ok ? decodeTraceNodes(trace.value) : trace;
};

function target(name: string, seeds: readonly Uint8Array[], decode: Decoder, rest: Partial<Target> = {}): Target {
  return {
    name,
    seeds: () => seeds,
    run: (input) => void decodeSafely(decode, input),
    mostBytes: 2048,
    runs: 600,
    ...rest,
  };
}

/** Fails when `value`, encoded and decoded again, is another. */
function roundTrip<T>(
  decoded: { readonly ok: true; readonly value: T } | { readonly ok: false },
  encode: (value: T) => Uint8Array,
  decode: (bytes: Uint8Array) => { ok: boolean; value?: T },
): void {
  if (!decoded.ok) return;
  const again = decode(encode(decoded.value));
  if (!again.ok || !isDeepStrictEqual(again.value, decoded.value))
    throw new Error('what was decoded, encoded and decoded again is another');
}

const generated = (arbitrary: fc.Arbitrary<Uint8Array>, count = 6): Uint8Array[] =>
  fc.sample(arbitrary, { seed: 3, numRuns: count });
const NOTICES = [
  encodeNotice({
    tuple: { source: ENDS[0], destination: ENDS[1], protocol: 17, sourcePort: 0xc000, destinationPort: 4791 },
    level: 3,
    invoking: SEND6,
    family: 6,
  }),
  encodeNotice({
    tuple: { source: ENDS4[0], destination: ENDS4[1], protocol: 17, sourcePort: 0xc000, destinationPort: 4791 },
    level: 7,
    invoking: LONG_HAUL_CNP4,
    family: 4,
  }),
];

const FLOW = { source: ENDS[0], destination: ENDS[1], protocol: 41, sourcePort: 0, destinationPort: 0 };
const ARNS = [
  encodeArn({ type: 'congestion', metric: 7, flow: FLOW, pauseUs: 1000 }),
  encodeArn({ type: 'congestion', metric: 7, flow: { ...FLOW, source: ENDS4[0], destination: ENDS4[1] }, pauseUs: 1 }),
  encodeArn({ type: 'congestion', metric: 7, priority: 5, pauseUs: 0xffffffff }),
  encodeArn({ type: 'congestion-eliminated', metric: 0, pathId: 9 }),
];

export const PACKET_TARGETS: readonly Target[] = [
  target(
    'arn',
    ARNS,
    (bytes) => {
      const arn = decodeArn(bytes);
      roundTrip(arn, encodeArn, decodeArn);
      return [arn, decodeArn(bytes, 'lsb-first')];
    },
    { mostBytes: 128 },
  ),
  target(
    'bgp-attributes',
    [
      NHC_V4_ATTRIBUTE,
      NHC_V6_ATTRIBUTE,
      fromHex('400101004002100201' + '0000fdf2' + '01020000fdfc0000fdfd' + '400304c0000207' + '80040400000032'),
    ],
    (bytes) => {
      const attributes = decodePathAttributes(bytes);
      return attributes.ok ? [attributes, decodeRoute(attributes.value)] : attributes;
    },
  ),
  target('bgp-nhc', [NHC_V4_ATTRIBUTE.subarray(3), NHC_V6_ATTRIBUTE.subarray(3)], (bytes) => [
    decodeNhc(bytes),
    decodePnc(bytes),
  ]),
  target(
    'bgp-nlri',
    [fromHex('180a0100'), fromHex('4020010db800010000')],
    (bytes) => [decodeNlri(bytes, 4), decodeNlri(bytes, 6)],
    { mostBytes: 64 },
  ),
  target(
    'icmpv6',
    [
      LONG_HAUL_CNP6,
      ...ROCE.map((invoking) =>
        buildParameterProblem({ source: ENDS[0], destination: ENDS[1] }, { code: 2, pointer: 42, invoking }),
      ),
    ],
    (bytes) => {
      const problem = decodeParameterProblem(bytes.subarray(40));
      return [
        parseIcmpv6(bytes),
        decodeLongHaulIcmpv6(bytes.subarray(40), { type: 200, objectClass: OBJECT_CLASS }),
        problem.ok ? refusedFastCnp(problem.value, CODES) : problem,
      ];
    },
  ),
  target(
    'icmpv6-objects',
    [
      encodeExtensions([
        { classNum: OBJECT_CLASS, cType: 1, payload: new Uint8Array(8) },
        { classNum: OBJECT_CLASS, cType: 2, payload: new Uint8Array(5) },
      ]),
    ],
    (bytes) => {
      const decode = (input: Uint8Array): ReturnType<typeof decodeExtensions> =>
        decodeExtensions(input, 0, input.length);
      const decoded = decode(bytes);
      if (decoded.ok && decoded.value.length > 0) roundTrip(decoded, encodeExtensions, decode);
      return decoded;
    },
    { repair: (bytes) => (bytes.length > 3 ? bytes.with(2, 0).with(3, 0) : bytes) },
  ),
  target(
    'long-haul-body',
    [
      REDUCE_BODY,
      RESUME_BODY,
      concat(REDUCE_BODY, encodeExtensions([{ classNum: OBJECT_CLASS, cType: 1, payload: new Uint8Array(8) }])),
    ],
    (bytes) => decodeLongHaul(bytes, 0, bytes.length, { objectClass: OBJECT_CLASS }),
  ),
  target(
    'ip-headers',
    [
      ...ROCE,
      ipv4(ENDS4, 17, udp(5000, 4791)),
      ipv6(ENDS, 43, srh(41, 1, [ENDS[0], ENDS[1]], ipv6(ENDS, 17, udp(1, 4791)))),
      ipv4(ENDS4, 41, ipv6(ENDS, 17, udp(1, 4791))),
    ],
    (bytes) => [walkHeaders(bytes), decodeIpv4(bytes), decodeIpv6(bytes), decodeUdp(bytes), decodeSrh(bytes)],
  ),
  target(
    'ip-options',
    [
      OPTION,
      ipv6(ENDS, 60, concat(OPTION, udp(1, 4791))),
      ipv6(ENDS, 0, concat(Uint8Array.of(17, 4, 0x31, 34, 0, 1), TRACE, new Uint8Array(2), udp(1, 4791))),
    ],
    (bytes) => [
      decodeOptionsHeader(bytes, 0, bytes.length),
      findFastCnpOption(bytes, CODES),
      findIoamTrace(bytes),
      nodesOfTrace(bytes),
      decodeFastCnpOption(0x9e, bytes, CODES),
      decodeFastCnpOption(0x9d, bytes, CODES),
    ],
  ),
  target('notice', NOTICES, decodeNotice),
  target('roce', ROCE, (bytes) => [
    parseRocePacket(bytes),
    parseFastCnp(bytes, CODES),
    decodeBth(bytes),
    decodeAeth(bytes),
    decodeDeth(bytes),
    decodeReth(bytes),
  ]),
  target('roce-cm', generated(fc.uint8Array({ minLength: 256, maxLength: 256 })), decodeCmMad, {
    // Base version 1, class CM, class version 2, method send, and one of the messages.
    repair: (bytes) =>
      bytes.length < 18
        ? bytes
        : concat(
            Uint8Array.of(1, 7, 2, 3),
            bytes.subarray(4, 16),
            Uint8Array.of(0, 0x10 + (bytes[17]! % 12)),
            bytes.subarray(18),
          ),
  }),
  target(
    'sid-container',
    [
      encodeSidContainer([
        { tlv: 'sid', sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 },
      ]),
    ],
    decodeSidContainer,
  ),
  target('understood', [encodeUnderstood(['fast-cnp', 'long-haul-roce'])], decodeUnderstood),
  target(
    'end-mt-tlv',
    [encodeEndMtTlv({ edge: MEMBER.node, receivers: [MEMBER, { ...MEMBER, qpn: 7 }] })],
    (bytes) => {
      const decoded = decodeEndMtTlv(bytes);
      roundTrip(decoded, encodeEndMtTlv, decodeEndMtTlv);
      return decoded;
    },
    { mostBytes: 255 },
  ),
  target(
    'tree-tlv',
    [encodeTreeTlv({ epoch: 5, membersDigest: new Uint8Array(8).fill(1), treeDigest: new Uint8Array(8).fill(2) })],
    (bytes) => {
      const decoded = decodeTreeTlv(bytes);
      roundTrip(decoded, encodeTreeTlv, decodeTreeTlv);
      return decoded;
    },
    { mostBytes: 64 },
  ),
  target('group-member', [MEMBER, MEMBER_WITH_WRITE].map(encodeGroupMember), (bytes) => decodeGroupMember(bytes, 0)),
  target('stamp', generated(fc.uint8Array({ minLength: 44, maxLength: 112 })), (bytes) => [
    decodeStampTest(bytes),
    decodeStampReply(bytes),
    decodeStampTest(bytes, KEY),
    decodeStampReply(bytes, KEY),
  ]),
];
