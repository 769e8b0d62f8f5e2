import { describe, expect, test } from 'vitest';
import { fuzzDecoder } from '../packet/hostile.fixture.ts';
import { STAMP_LENGTH, UNSYNCHRONIZED, decodeStampReply, encodeStampReply } from '../packet/stamp/stamp.ts';
import { answerProbe, decodeAnswer, encodeProbe, probeTimestamp } from './messages.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const NOW = 1_795_000_000_123_456_789n;
const ARRIVAL = { receivedNs: 1_600_000_000_000_000_000n, hopLimit: 252 };

describe('STAMP test packets (RFC 8762 §4)', () => {
  for (const [mode, key] of [
    ['unauthenticated', undefined],
    ['authenticated', KEY],
  ] as const) {
    test(`${mode}: probe, answer and what the sender makes of it`, () => {
      const timestamp = probeTimestamp(NOW, 0xffff_ffff);
      const probe = encodeProbe(7, timestamp, key);
      expect(probe).toHaveLength(STAMP_LENGTH[mode]);
      const answer = answerProbe(probe, ARRIVAL, () => ARRIVAL.receivedNs + 250_000n, key);
      if (!answer.ok) throw new Error(answer.error.detail);
      // Never longer than what it answers.
      expect(answer.value).toHaveLength(probe.length);
      expect(decodeStampReply(answer.value, key)).toMatchObject({
        ok: true,
        value: { sequence: 7, senderSequence: 7, senderTimestamp: timestamp, senderTtl: 252 },
      });
      const read = decodeAnswer(answer.value, key);
      expect(read).toMatchObject({ ok: true, value: { senderSequence: 7, senderTimestamp: timestamp } });
      expect(read.ok && Number(read.value.heldNs)).toBeCloseTo(250_000, -1);
    });
  }

  test('a probe with extra octets is answered with the base packet only', () => {
    const answer = answerProbe(Uint8Array.from([...encodeProbe(1, 5n), ...new Uint8Array(1000)]), ARRIVAL, () => NOW);
    expect(answer.ok && answer.value.length).toBe(STAMP_LENGTH.unauthenticated);
  });

  test('a wrong key is refused at both ends', () => {
    const other = KEY.toReversed();
    expect(answerProbe(encodeProbe(1, 5n, KEY), ARRIVAL, () => NOW, other)).toMatchObject({
      ok: false,
      error: { code: 'bad-hmac' },
    });
    const answer = answerProbe(encodeProbe(1, 5n, KEY), ARRIVAL, () => NOW, KEY);
    expect(answer.ok && decodeAnswer(answer.value, other)).toMatchObject({ ok: false, error: { code: 'bad-hmac' } });
  });

  test('a reflector may use PTPv2 timestamps', () => {
    const reply = {
      sequence: 1,
      ssid: 0,
      senderSequence: 1,
      senderTimestamp: 5n,
      senderError: UNSYNCHRONIZED,
      senderTtl: 255,
    };
    const ptp = (s: bigint, ns: bigint): bigint => (s << 32n) | ns;
    const bytes = encodeStampReply({
      ...reply,
      error: { ...UNSYNCHRONIZED, ptp: true },
      received: ptp(10n, 999_900_000n),
      timestamp: ptp(11n, 100_000n),
    });
    expect(decodeAnswer(bytes)).toMatchObject({ ok: true, value: { heldNs: 200_000n } });
  });

  test('twelve bits of a timestamp are random, the rest is the time', () => {
    expect(probeTimestamp(NOW, 0) >> 12n).toBe(probeTimestamp(NOW, 0xffff_ffff) >> 12n);
    expect(probeTimestamp(NOW, 0xabc) & 0xfffn).toBe(0xabcn);
  });

  test('neither end throws on any packet', () => {
    const probe = encodeProbe(1, 5n);
    const answer = answerProbe(probe, ARRIVAL, () => NOW);
    fuzzDecoder((bytes) => answerProbe(bytes, ARRIVAL, () => NOW), [probe]);
    fuzzDecoder((bytes) => decodeAnswer(bytes), answer.ok ? [answer.value] : []);
  });
});
