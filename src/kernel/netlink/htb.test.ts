// Classes of an HTB, byte by byte, and what a Linux 6.18 kernel sends of one.
import { describe, expect, test } from 'vitest';
import { type ClassPlace, decodeClass, formatHandle, pauseClassRequest, queueOf, setClassRequest } from './htb.ts';
import { changeClassRequest, deleteClassRequest, readClassRequest, setQueueRequest } from './htb.ts';
import { type NetlinkMessage, attribute, concat, decodeAttributes, nested, struct, u64 } from './message.ts';

const PLACE: ClassPlace = { ifindex: 3, handle: 0x6e70_1234, parent: 0x6e70_0000, borrows: false };
const BORROWING: ClassPlace = { ...PLACE, handle: 0x1_1234, parent: 0x1_0001, borrows: true };
const digits = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** Family, ifindex, handle, parent, information. */
const header = (handle: string, parent: string): string => `00000000${'03000000'}${handle}${parent}00000000`;
/** Cell log, link layer Ethernet, overhead, cell alignment, least size of a packet, rate. */
const ratespec = (rate: string, mpu = '0000'): string => '000100000000' + mpu + rate;

describe('a class', () => {
  test('of 1 MB/s with a burst of 10 ms: rate, ceil, buffers in ticks of 64 ns, quantum, priority', () => {
    const request = setClassRequest(PLACE, { rate: 1_000_000n, burst: 10_000 });
    expect({ type: request.type, flags: request.flags }).toEqual({ type: 40, flags: 0x400 });
    expect(digits(request.body)).toBe(
      header('3412706e', '0000706e') +
        '0800010068746200' +
        '34000280' +
        '30000100' +
        ratespec('40420f00') +
        ratespec('40420f00') +
        '5a620200' + // 156,250 ticks
        '5a620200' +
        '00400000' +
        '00000000' +
        '00000000',
    );
    expect(changeClassRequest(PLACE, { rate: 1_000_000n, burst: 10_000 })).toEqual({
      ...request,
      operation: 'change class 6e70:1234',
      flags: 0,
    });
  });

  test('of 400 Gbit/s: rates beyond 32 bits are in attributes of their own', () => {
    const { body } = setClassRequest(PLACE, { rate: 50_000_000_000n, burst: 800_000 });
    const options = decodeAttributes(decodeAttributes(body, 20).get(2)!);
    expect([...options.keys()]).toEqual([1, 6, 7]);
    expect([6, 7].map((rate) => digits(options.get(rate)!))).toEqual(['00743ba40b000000', '00743ba40b000000']);
    expect(digits(options.get(1)!)).toContain(ratespec('ffffffff') + ratespec('ffffffff') + 'fa000000fa000000');
  });

  test('that borrows: a rate of its own of one byte per second, all else by its ceil, after the classes of others', () => {
    const { body } = setClassRequest(BORROWING, { rate: 50_000_000_000n, burst: 800_000 });
    const options = decodeAttributes(decodeAttributes(body, 20).get(2)!);
    expect([...options.keys()]).toEqual([1, 7]);
    expect(digits(options.get(1)!)).toBe(
      ratespec('01000000') + ratespec('ffffffff') + '00000000' + 'fa000000' + '00400000' + '00000000' + '07000000',
    );
  });

  test('a burst that takes longer than 32 bits of ticks is cut; a rate of zero does not exist', () => {
    const { body } = setClassRequest(PLACE, { rate: 1n, burst: 1000 });
    expect(digits(body)).toContain('ffffffffffffffff00400000');
    for (const request of [setClassRequest, changeClassRequest])
      expect(() => request(PLACE, { rate: 0n, burst: 1 })).toThrow(RangeError);
  });

  test.each([
    [65_535, '40420f00'], // 1 MB/s
    [1000, '18fce703'], // 65,535,000 B/s
    [15.3, 'dc0b23f4'], // 16 µs: a part of one counts as a whole
  ])('that pauses for %d µs: 65,535 bytes take that long, and every frame counts as so many', (microseconds, rate) => {
    const request = pauseClassRequest(PLACE, microseconds);
    expect(request.flags).toBe(0);
    expect(digits(request.body)).toContain(ratespec(rate, 'ffff') + ratespec(rate, 'ffff') + '0000000000000000');
  });

  test('pauses for no other time than an instruction can have', () => {
    for (const microseconds of [0, -1, 65_536, NaN])
      expect(() => pauseClassRequest(PLACE, microseconds)).toThrow(RangeError);
  });

  test('has a bfifo whose major number is its minor one', () => {
    const request = setQueueRequest(PLACE, 300_000);
    expect({ type: request.type, flags: request.flags }).toEqual({ type: 36, flags: 0x500 });
    expect(digits(request.body)).toBe(
      header('00003412', '3412706e') + '0a000100626669666f000000' + '08000200' + 'e0930400',
    );
    expect(queueOf(0x6e70_ffff)).toBe(0xffff_0000);
  });

  test('is deleted and read by its handle', () => {
    expect(digits(deleteClassRequest(3, PLACE.handle).body)).toBe(header('3412706e', '00000000'));
    const read = readClassRequest(3, PLACE.handle);
    expect({ body: digits(read.body), flags: read.flags }).toEqual({ body: header('3412706e', '00000000'), flags: 8 });
    expect([0x6e70_1234, 0x6e70_0000, 0xffff_ffff].map(formatHandle)).toEqual(['6e70:1234', '6e70:', 'ffff:ffff']);
  });
});

describe('what the kernel sends', () => {
  const message = (body: string): NetlinkMessage => ({
    type: 40,
    flags: 0,
    sequence: 1,
    body: Uint8Array.from(Buffer.from(body, 'hex')),
  });
  const PLACE_AND_OPTIONS =
    '00000000030000003412706effffffff00003412' +
    '0800010068746200' +
    '3400020030000100' +
    '0001000000000000801a0600' +
    '0001000000000000801a0600' +
    '2d3101002d310100004000000000000000000000';

  test('a class at the root with its queue and counters', () => {
    const found = decodeClass(
      message(
        PLACE_AND_OPTIONS +
          '48000700' +
          '14000100' +
          '40e2010000000000' +
          '0b000000' +
          '00000000' +
          '18000300' +
          '02000000' +
          'dc050000' +
          '03000000' +
          '00000000' +
          '00000000' +
          '18000400' +
          '00'.repeat(20),
      ),
    );
    expect(found).toEqual({
      handle: 0x6e70_1234,
      parent: 0xffff_ffff,
      queue: 0x1234_0000,
      counters: { sent: 11n, sentBytes: 123_456n, dropped: 3n, backlogPackets: 2, backlogBytes: 1500 },
    });
  });

  test('more packets than 32 bits can count', () => {
    const basic = struct(16, (view) => {
      view.setBigUint64(0, 1n << 43n, true);
      view.setUint32(8, 5, true);
    });
    const stats = nested(7, attribute(1, basic), attribute(8, u64((1n << 32n) + 5n)));
    const body = concat([Uint8Array.from(Buffer.from(PLACE_AND_OPTIONS, 'hex')), stats]);
    expect(decodeClass({ type: 40, flags: 0, sequence: 1, body })!.counters.sent).toBe((1n << 32n) + 5n);
  });

  test('a class of another kind, and a message that is cut', () => {
    expect(decodeClass(message(PLACE_AND_OPTIONS.replace('68746200', '71667100')))).toBeUndefined();
    expect(decodeClass(message(PLACE_AND_OPTIONS.slice(0, 30)))).toBeUndefined();
    expect(decodeClass(message(PLACE_AND_OPTIONS))!.counters.sent).toBe(0n);
  });
});
