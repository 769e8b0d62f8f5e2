import { expect, test } from 'vitest';
import './bytes-equal.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

test('equal bytes are equal, also inside of other values', () => {
  expect(bytes(1, 2, 3)).toEqual(bytes(1, 2, 3));
  expect({ frames: [bytes(1, 2), bytes()] }).toEqual({ frames: [bytes(1, 2), bytes()] });
  expect({ frame: bytes(1), other: 1 }).toMatchObject({ frame: bytes(1) });
});

test.each([
  ['another byte', bytes(1, 2, 4)],
  ['one byte less', bytes(1, 2)],
  ['one byte more', bytes(1, 2, 3, 4)],
  ['no bytes', 'text'],
])('%s is not equal, and the difference is shown', (_, other) => {
  expect(bytes(1, 2, 3)).not.toEqual(other);
  expect(() => expect({ frame: bytes(1, 2, 3) }).toEqual({ frame: other })).toThrow(/deeply equal/);
  expect(() => expect({ frame: bytes(1, 2, 3) }).toMatchObject({ frame: other })).toThrow(/to match object/);
});
