import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import type { QueuePairs } from '../../model/roce.ts';
import { fuzzDecoder } from '../../packet/hostile.fixture.ts';
import { buildLongHaulIcmpv6 } from '../../packet/icmpv6/long-haul-cnp.ts';
import { OBJECT_CLASS, REDUCE } from '../../packet/long-haul/vectors.fixture.ts';
import { decodeTrace } from '../../packet/ip/ioam.ts';
import { buildFastCnp } from '../../packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../packet/roce/packet.ts';
import { CNP6 } from '../../packet/roce/vectors.fixture.ts';
import {
  type Feedback,
  type FeedbackCodes,
  claimedFormat,
  readFeedback,
  readRoceFeedback,
  validate,
} from './feedback.ts';

const CODES: FeedbackCodes = {
  fastCnp: { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' },
  longHaulType: 200,
  objectClass: OBJECT_CLASS,
};
const [H1, H2, H3, NODE] = [
  address('2001:db8:1::2'),
  address('2001:db8:2::2'),
  address('2001:db8:3::2'),
  address('2001:db8:ffff::2'),
];
const ENDS = { source: NODE, destination: H1, sourcePort: 0xc000 };
const ACTIVE: readonly QueuePairs[] = [
  { sender: H1, receiver: H2, senderQpn: 100, receiverQpn: 200 },
  { sender: H1, receiver: H3, senderQpn: 101, receiverQpn: 200 },
  { sender: H1, receiver: H2, senderQpn: 102, receiverQpn: 201 },
];
const known = (node: typeof NODE): boolean => node.value === NODE.value;

const fastCnp = (fields: Partial<Parameters<typeof buildFastCnp>[0]> = {}): Uint8Array =>
  buildFastCnp({ ...ENDS, originalDestination: H2, trace: undefined, destQpn: 200, codes: CODES.fastCnp, ...fields });
const icmpv6 = buildLongHaulIcmpv6({ ...ENDS, cnp: REDUCE, codes: { type: 200, objectClass: OBJECT_CLASS } });

function read(packet: Uint8Array): Feedback {
  const format = claimedFormat(packet, CODES);
  if (!format) throw new Error('claims nothing');
  const feedback = readFeedback(format, packet, CODES);
  if (!feedback.ok) throw new Error(feedback.error.code);
  return feedback.value;
}
const meant = (feedback: Feedback, active = ACTIVE): number[] | string => {
  const valid = validate(feedback, known, active);
  return valid.ok ? valid.value.map((pair) => pair.senderQpn) : valid.error;
};

test('LHCNP-5.6-c, LHCNP-6-a: both forms of a Long-haul CNP are read alike', () => {
  expect(read(icmpv6)).toEqual({ format: 'long-haul-icmpv6', node: NODE, cnp: REDUCE });
  const parsed = parseRocePacket(buildLongHaulRoce({ ...ENDS, cnp: REDUCE, objectClass: OBJECT_CLASS }));
  if (!parsed.ok) throw new Error(parsed.error.code);
  expect(readRoceFeedback(parsed.value, CODES)).toEqual({
    ok: true,
    value: { format: 'long-haul-roce', node: NODE, cnp: REDUCE },
  });
});

test('LHCNP-5.6-a: a Long-haul CNP for a Queue Pair that is not active is refused', () => {
  expect(meant(read(icmpv6))).toEqual([100]);
  expect(meant(read(icmpv6), ACTIVE.slice(1))).toBe('unknown-queue-pair');
});

test('LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c: what comes from a node outside the access list is refused', () => {
  expect(meant({ ...read(icmpv6), node: H3 })).toBe('unknown-node');
  expect(meant(read(fastCnp({ source: H3 })))).toBe('unknown-node');
});

test('FCNP-4-n: a Fast CNP is for the Queue Pairs that talk to the option’s destination at the DestQP; DestQP alone would name another flow too', () => {
  expect(meant(read(fastCnp()))).toEqual([100]);
  expect(meant(read(fastCnp({ originalDestination: H3 })))).toEqual([101]);
  expect(meant(read(fastCnp({ destQpn: 201 })))).toEqual([102]);
  expect(meant(read(fastCnp({ destQpn: 100 })))).toBe('unknown-queue-pair');
  expect(meant(read(fastCnp()), [...ACTIVE, { ...ACTIVE[0]!, senderQpn: 103 }])).toEqual([100, 103]);
});

test('FCNP-4-e: a Fast CNP that the receiver sent is accepted as the peer’s, and only then without the access list', () => {
  expect(read(fastCnp({ source: H2 }))).toMatchObject({ fromReceiver: true });
  expect(meant(read(fastCnp({ source: H2 })))).toEqual([100]);
  expect(
    meant(read(fastCnp({ source: address('2001:db8:9::9'), originalDestination: address('2001:db8:9::9') }))),
  ).toBe('unknown-queue-pair');
});

test('only packets that claim to be feedback are looked at', () => {
  const trace = decodeTrace(0, new Uint8Array(12));
  const option2 = fastCnp({ trace: trace.ok ? trace.value : undefined });
  expect(
    [fastCnp(), option2, icmpv6, CNP6, icmpv6.with(40, 201), fastCnp().with(42, 0x8a)].map((p) =>
      claimedFormat(p, CODES),
    ),
  ).toEqual(['fast-cnp', 'fast-cnp', 'long-haul-icmpv6', undefined, undefined, undefined]);
  for (let length = 0; length < 44; length++) expect(claimedFormat(icmpv6.subarray(0, length), CODES)).toBeUndefined();
});

test('no packet harms the reading', () => {
  fuzzDecoder(
    (bytes) => {
      const format = claimedFormat(bytes, CODES);
      return format && readFeedback(format, bytes, CODES);
    },
    [icmpv6, fastCnp()],
  );
});
