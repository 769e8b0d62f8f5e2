import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { Admission } from './admission.ts';

const admission = (): Admission =>
  new Admission({ acceptFrom: [prefix('2001:db8:ffff::/48'), prefix('192.0.2.0/24')], udpPort: 5862 }, 0);
const FRIEND = address('2001:db8:ffff::1');

describe('whom the Session-Reflector answers', () => {
  test('sources on the list, in both families', () => {
    const a = admission();
    expect(['2001:db8:ffff::1', '192.0.2.9'].map((text) => a.refusal(address(text), 40_000))).toEqual([
      undefined,
      undefined,
    ]);
    expect(
      ['2001:db8:fffe::1', '192.0.3.9', '::ffff:192.0.2.9'].map((text) => a.refusal(address(text), 40_000)),
    ).toEqual(Array(3).fill('not-accepted'));
  });

  test('no other reflector: the two would answer each other for ever', () => {
    const a = admission();
    expect([862, 5862, 53, 1023].map((port) => a.refusal(FRIEND, port))).toEqual(Array(4).fill('source-port'));
    expect(a.refusal(FRIEND, 1024)).toBeUndefined();
  });

  test('one source cannot use up the tokens of others', () => {
    const a = admission();
    let answered = 0;
    for (let now = 0; now < 10_000; now += 0.1) answered += a.take(FRIEND, now) ? 1 : 0;
    expect(answered).toBeGreaterThan(1000);
    expect(answered).toBeLessThan(1060);
    expect(a.take(address('2001:db8:ffff::2'), 10_000)).toBe(true);
  });

  test('the total rate is bounded too, for any number of sources', () => {
    const a = admission();
    let answered = 0;
    for (let i = 0; i < 100_000; i++)
      answered += a.take({ family: 6, value: FRIEND.value + BigInt(i % 65_536) }, i / 100) ? 1 : 0;
    expect(answered).toBeGreaterThan(2000);
    expect(answered).toBeLessThan(2410);
  });

  test('a thousand refused packets spend no tokens', () => {
    const a = admission();
    for (let i = 0; i < 1000; i++) expect(a.refusal(FRIEND, 40_000)).toBeUndefined();
    expect(a.take(FRIEND, 0)).toBe(true);
  });

  test('a new allow-list is in force at once', () => {
    const a = admission();
    a.configure({ acceptFrom: [], udpPort: 862 });
    expect(a.refusal(FRIEND, 40_000)).toBe('not-accepted');
  });
});
