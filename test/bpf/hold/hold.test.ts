// Which packets are held, and when a hold ends. Without a network: the class is the packet's priority afterwards.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOLD_MAPS, HOLD_SLOTS } from '../../../src/kernel/dataplane/holds.ts';
import { encodeHoldKey } from '../../../src/kernel/dataplane/hold-key.ts';
import { address } from '../../../src/model/address.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { HoldTable } from '../../../src/reconcile/hold-table.ts';
import { CLASS, FLOW, HoldUnderTest, MINOR, PORT, held } from '../support/hold-under-test.ts';
import { H1, H1V4, H2, H2V4, QPN, data, frame } from '../support/packets.ts';

let hold: HoldUnderTest;
beforeAll(() => void (hold = new HoldUnderTest()));
afterAll(() => hold.close());
beforeEach(() => hold.clear());

const PE = [address('2001:db8:a::1'), address('2001:db8:b::1')] as const;
const PE4 = [address('192.0.2.1'), address('192.0.2.2')] as const;
const FLOW4 = { sender: H1V4, receiver: H2V4, receiverQpn: QPN };
const data4 = data({ source: H1V4, destination: H2V4 });
const withOptions = concat(data4.subarray(0, 20), Uint8Array.of(1, 1, 1, 0), data4.subarray(20));
withOptions[0] = 0x46;
put16(withOptions, 2, data4.length + 4);
const anyGre = (type: number, inner: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(0, 0, type >> 8, type & 255), inner);

describe('a held flow is recognized', () => {
  test.each<[string, Uint8Array]>([
    ['plain IPv6', frame(data())],
    ['plain IPv4', frame(data4)],
    ['behind a VLAN tag', frame(data(), { tags: [[0x8100, 100]] })],
    ['behind IPv4 options', frame(withOptions)],
    ['in SRv6 without SRH', frame(ipv6(PE, 41, data()))],
    ['in SRv6 with SRH', frame(ipv6(PE, 43, srh(41, 0, [PE[1]], data())))],
    ['behind an SRH with a segment left', frame(ipv6(PE, 43, srh(41, 1, [PE[1], PE[0]], data())))],
    ['IPv4 in SRv6', frame(ipv6(PE, 43, srh(4, 0, [PE[1]], data4)))],
    ['IPv6 in IPv4', frame(ipv4(PE4, 41, data()))],
    ['in SRv6 behind options', frame(ipv6(PE, 60, options(41, 2, data())))],
    ['in GRE', frame(ipv6(PE, 47, anyGre(0x86dd, data())))],
  ])('%s', (_, bytes) => {
    hold.table.set(FLOW, held());
    hold.table.set(FLOW4, held({ minor: MINOR + 1 }));
    expect(hold.classOf(bytes) & ~1).toBe(CLASS);
    expect(hold.count('held')).toBe(1);
  });

  const another = (change: Parameters<typeof data>[0]): Uint8Array => frame(data(change));
  const version1 = frame(data());
  version1[14 + 40 + 8 + 1]! |= 1;
  const short = frame(data());
  put16(short, 14 + 40 + 4, 8 + 12 + 3);
  const beyond = frame(ipv6(PE, 43, srh(41, 0, [PE[1]], data())));
  put16(beyond, 14 + 4, data().length + 8);
  const long = frame(data());
  put16(long, 14 + 40 + 4, 2000);
  test.each<[string, Uint8Array]>([
    ['of another Queue Pair', another({ qpn: QPN + 1 })],
    ['of another Queue Pair with the same low bits', another({ qpn: QPN ^ 0x10000 })],
    ['of another source', another({ source: H2 })],
    ['of another destination', another({ destination: H1 })],
    ['back to the sender', another({ source: H2, destination: H1 })],
    ['with BTH version 1', version1],
    ['whose UDP length leaves no room for a BTH and an ICRC', short],
    ['whose UDP length exceeds its packet', long],
    ['that ends behind its tunnel', beyond],
    ['in a fragment', frame(ipv6([H1, H2], 44, fragment(17, 0, true, data().subarray(40))))],
    ['a CNP to the same Queue Pair', another({ opcode: OPCODE.cnp })],
    ["with a manufacturer's opcode", another({ opcode: 0xc4 })],
    ['cut behind the UDP header', frame(data()).subarray(0, 14 + 40 + 8)],
  ])('a packet %s goes straight', (_, bytes) => {
    hold.table.set(FLOW, held());
    expect(hold.classOf(bytes)).toBe(0);
    expect(hold.count('held')).toBe(0);
  });
});

describe('what shares a sequence with data goes with it', () => {
  test.each([
    ['SEND', OPCODE.sendOnly],
    ['WRITE', OPCODE.writeMiddle],
    ['a READ request', OPCODE.readRequest],
    ['compare and swap', 0x13],
    ['fetch and add', 0x14],
    ['SEND with invalidate', 0x17],
    ['FLUSH', 0x1c],
    ['atomic WRITE', 0x1d],
    ['a READ response', OPCODE.readResponseMiddle],
    ['WRITE of an unreliable connection', 0x2a],
    ['a datagram', OPCODE.udSendOnly],
    ['SEND of an extended connection', 0xa4],
  ])('%s is held', (_, opcode) => {
    hold.table.set(FLOW, held());
    expect(hold.classOf(frame(data({ opcode })))).toBe(CLASS);
  });

  test.each([
    ['an ACK', OPCODE.acknowledge],
    ['the answer to an atomic', 0x12],
  ])('%s goes straight, unless READ responses of the flow are held', (_, opcode) => {
    hold.table.set(FLOW, held());
    const answer = frame(data({ opcode, size: 4 }));
    hold.classOf(frame(data()));
    expect(hold.classOf(answer)).toBe(0);
    expect(hold.count('answers-passed')).toBe(1);
    hold.classOf(frame(data({ opcode: OPCODE.readResponseOnly })));
    expect(hold.classOf(answer)).toBe(CLASS);
  });
});

describe('a hold and its end', () => {
  const packet = frame(data());

  test('while nothing is held, and once nothing is any more, no packet is looked at', () => {
    const cut = frame(ipv6(PE, 43, srh(41, 0, [PE[1]], data()))).subarray(0, 14 + 40 + 12);
    expect(hold.classOf(cut)).toBe(0);
    expect(hold.count('unparseable')).toBe(0);
    hold.table.set(FLOW, held());
    hold.classOf(cut);
    expect(hold.count('unparseable')).toBe(1);
    expect(hold.table.remove(FLOW)).toBe(true);
    hold.classOf(cut);
    expect(hold.classOf(packet)).toBe(0);
    expect(hold.count('unparseable')).toBe(1);
    expect(hold.table.remove(FLOW)).toBe(false);
  });

  test('the program counts what it holds; changes by the agent leave that as it is, a new class begins anew', () => {
    const before = process.hrtime.bigint();
    hold.table.set(FLOW, held());
    for (const size of [100, 1000, 500]) hold.classOf(frame(data({ size })));
    hold.table.set(FLOW, held({ untilNs: held().untilNs + 5n, drained: 2n }));
    hold.classOf(packet);
    const record = hold.table.record(FLOW)!;
    expect(record).toMatchObject({ entered: 4n, longestFrame: 14 + 40 + 8 + 12 + 1000 + 4, released: false });
    expect(record.lastSeen).toBeGreaterThan(before);
    hold.table.set(FLOW, held({ minor: MINOR + 1 }));
    expect(hold.table.record(FLOW)).toMatchObject({ entered: 0n, longestFrame: 0 });
    hold.table.remove(FLOW);
    expect(hold.table.record(FLOW)).toBeUndefined();
  });

  test('a packet that the kernel cuts later counts as many: the class counts the segments', () => {
    hold.table.set(FLOW, held());
    hold.classOf(packet, 3);
    hold.classOf(packet, 1);
    expect(hold.table.record(FLOW)!.entered).toBe(4n);
  });

  test('a flow that leaves goes on into its class until that is empty, and straight from then on', () => {
    hold.table.set(FLOW, held());
    for (let i = 0; i < 3; i++) hold.classOf(packet);
    hold.table.set(FLOW, held({ phase: 'leaving', drained: 2n }));
    expect(hold.classOf(packet)).toBe(CLASS);
    hold.table.set(FLOW, held({ phase: 'leaving', drained: 3n }));
    expect(hold.classOf(packet)).toBe(CLASS);
    expect(hold.count('leaving')).toBe(2);
    hold.table.set(FLOW, held({ phase: 'leaving', drained: 5n }));
    expect(hold.classOf(packet)).toBe(0);
    expect(hold.table.record(FLOW)).toMatchObject({ entered: 5n, released: true });
    // The agent may write what it saw before.
    hold.table.set(FLOW, held({ phase: 'leaving', drained: 4n }));
    expect(hold.classOf(packet)).toBe(0);
    expect([hold.count('released'), hold.count('straight')]).toEqual([1, 1]);
  });

  test('a flow that is held again after it has left goes into its class again', () => {
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    expect(hold.classOf(packet)).toBe(0);
    hold.table.set(FLOW, held());
    expect(hold.classOf(packet)).toBe(CLASS);
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    expect(hold.classOf(packet)).toBe(CLASS);
  });

  test('a hold that is not renewed is ignored', () => {
    hold.table.set(FLOW, held({ untilNs: process.hrtime.bigint() }));
    expect(hold.classOf(packet)).toBe(0);
    expect(hold.count('expired')).toBe(1);
    hold.table.set(FLOW, held());
    expect(hold.classOf(packet)).toBe(CLASS);
  });

  test('at a port without classes packets of held flows go straight', () => {
    hold.table.set(FLOW, held());
    hold.portTable.removePort(PORT);
    expect(hold.classOf(packet)).toBe(0);
    expect(hold.count('unconfigured')).toBe(1);
    expect(hold.table.record(FLOW)!.entered).toBe(0n);
  });

  test('a hold that names no class, or that another version has written, is ignored', () => {
    hold.table.set(FLOW, held());
    const map = hold.object.map(HOLD_MAPS.holds);
    const valid = map.lookup(encodeHoldKey(FLOW))!;
    for (const [at, byte] of [
      [17, 0], // minor number below those of holds
      [17, 0xff], // and above
      [18, 0],
      [18, 4],
    ] as const) {
      map.update(encodeHoldKey(FLOW), valid.with(at, byte));
      expect(hold.classOf(packet)).toBe(0);
    }
    expect(hold.count('invalid')).toBe(4);
    expect(() => hold.table.set(FLOW, held({ minor: 0xfff }))).toThrow(RangeError);
    expect(() => hold.table.set(FLOW, held({ minor: 0x1000 + HOLD_SLOTS }))).toThrow(RangeError);
    expect(() => hold.table.set(FLOW4, held())).toThrow('class 0x1234 is that of another flow');
  });
});

describe('the table of holds', () => {
  test('the next run finds the holds of this one, and can end them', () => {
    hold.table.set(FLOW, held());
    hold.table.set(FLOW4, held({ minor: MINOR + 1 }));
    const next = new HoldTable(hold.object);
    expect(next.size).toBe(2);
    expect(
      next
        .read()
        .map(({ hold: { minor } }) => minor)
        .sort(),
    ).toEqual([MINOR, MINOR + 1]);
    next.remove(FLOW);
    expect(hold.classOf(frame(data()))).toBe(0);
    expect(hold.classOf(frame(data4))).toBe(CLASS + 1);
    next.remove(FLOW4);
    expect(hold.classOf(frame(data4))).toBe(0);
    hold.table = next;
  });

  test('one of two flows with the same low bits of the Queue Pair is held after the other was released', () => {
    const other = { ...FLOW, receiverQpn: QPN ^ 0x10000 };
    hold.table.set(FLOW, held());
    hold.table.set(other, held({ minor: MINOR + 1 }));
    hold.table.remove(other);
    expect(hold.classOf(frame(data()))).toBe(CLASS);
  });

  test(`holds ${HOLD_SLOTS} flows, each in a class of its own`, () => {
    const flow = (n: number) => ({ ...FLOW, receiverQpn: 2 + n * 3 });
    for (let n = 0; n < HOLD_SLOTS; n++) hold.table.set(flow(n), held({ minor: 0x1000 + n }));
    const classes = [0, 1, 8000, HOLD_SLOTS - 1].map((n) => hold.classOf(frame(data({ qpn: 2 + n * 3 }))) & 0xffff);
    expect(classes).toEqual([0x1000, 0x1001, 0x1000 + 8000, 0x1000 + HOLD_SLOTS - 1]);
    expect(() => hold.table.set(flow(HOLD_SLOTS), held())).toThrow('is that of another flow');
    expect(hold.table.size).toBe(HOLD_SLOTS);
  });
});
