// The fuzz harness itself: a harness that finds nothing proves nothing.
import { expect, test } from 'vitest';
import { fuzzDecoder } from './hostile.fixture.ts';
import { decodeSafely } from './safely.fixture.ts';

test('the harness notices a decoder that throws', () => {
  expect(() =>
    fuzzDecoder(
      (b) => {
        if (b.length > 300) throw new Error('long');
      },
      [new Uint8Array(301)],
    ),
  ).toThrow(/threw on/);
});

test('the harness notices a decoder that reads before or after its input', () => {
  const peek = (by: number) => (b: Uint8Array) => new Uint8Array(b.buffer)[b.byteOffset + by];
  expect(() => decodeSafely(peek(-1), new Uint8Array(4))).toThrow(/outside/);
  expect(() => decodeSafely(peek(4), new Uint8Array(4))).toThrow(/outside/);
  expect(() => decodeSafely(peek(0), new Uint8Array(4))).not.toThrow();
});

test('the harness notices a decoder that takes long', () => {
  // Of the processor, as the harness counts it: what asking for it costs is most of it.
  const spent = (): number => process.cpuUsage().user + process.cpuUsage().system;
  const slow = (): void => {
    for (const until = spent() + 300_000; spent() < until;);
  };
  expect(() => decodeSafely(slow, new Uint8Array(4))).toThrow(/took/);
});
