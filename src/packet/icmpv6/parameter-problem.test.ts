import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { FAST_CNP6, CNP6 } from '../roce/vectors.fixture.ts';
import { parseIcmpv6 } from './message.ts';
import {
  PROBLEM,
  type ParameterProblem,
  buildParameterProblem,
  decodeParameterProblem,
  refusedFastCnp,
} from './parameter-problem.ts';

const CODES = { option: 0x9e, ioamOption: 0x9e };
const HOST = address('2001:db8:a::1');
const NODE = address('2001:db8:ffff::1');
const problem = { code: PROBLEM.unrecognizedOption, pointer: 42, invoking: FAST_CNP6 };
const PACKET = buildParameterProblem({ source: HOST, destination: NODE }, problem);
const MESSAGE = PACKET.subarray(40);
const code = (changes: Partial<ParameterProblem>): string => {
  const refused = refusedFastCnp({ ...problem, ...changes }, CODES);
  return refused.ok ? 'ok' : refused.error.code;
};

test('FCNP-4-j: a host without the option answers code 2 with a pointer to the option type, and quotes the Fast CNP (A12)', () => {
  expect(parseIcmpv6(PACKET)).toMatchObject({ ok: true, value: { type: 4, code: 2, source: HOST, destination: NODE } });
  expect(decodeParameterProblem(MESSAGE)).toEqual({ ok: true, value: problem });
  expect(refusedFastCnp(problem, CODES)).toEqual({
    ok: true,
    value: {
      source: NODE,
      destination: HOST,
      option: { originalDestination: address('2001:db8:b::1'), trace: undefined },
      destQpn: 0xc8,
    },
  });
});

test('a quotation that was cut behind the option still names host and option, and no Queue Pair', () => {
  expect(refusedFastCnp({ ...problem, invoking: FAST_CNP6.subarray(0, 64) }, CODES)).toMatchObject({
    ok: true,
    value: { destination: HOST, destQpn: undefined },
  });
  expect(code({ invoking: FAST_CNP6.subarray(0, 60) })).toBe('truncated');
});

test('a quotation whose option is not followed by UDP, or by nothing that was quoted, names no Queue Pair', () => {
  const behind = (nextHeader: number): Uint8Array => FAST_CNP6.with(40, nextHeader);
  for (const invoking of [behind(6), behind(60).subarray(0, 64)])
    expect(refusedFastCnp({ ...problem, invoking }, CODES)).toMatchObject({
      ok: true,
      value: { destination: HOST, destQpn: undefined },
    });
});

test('what is about something else is not taken for a refusal', () => {
  expect(code({ code: PROBLEM.erroneousHeader })).toBe('not-unrecognized-option');
  expect(code({ pointer: 43 })).toBe('pointer-elsewhere');
  expect(code({ pointer: 0xffffffff })).toBe('pointer-elsewhere');
  expect(code({ invoking: CNP6 })).toBe('no-fast-cnp-option');
  expect(code({ invoking: FAST_CNP6.with(42, 0x8a) })).toBe('no-fast-cnp-option');
  expect(code({ invoking: FAST_CNP6.with(0, 0x45) })).toBe('bad-version');
  expect(code({ invoking: FAST_CNP6.subarray(0, 39) })).toBe('truncated');
  expect(decodeParameterProblem(fromHex('80000000 00000000'))).toMatchObject({
    ok: false,
    error: { code: 'not-parameter-problem' },
  });
});

test('the quotation keeps the packet within the least MTU of IPv6', () => {
  expect(
    buildParameterProblem({ source: HOST, destination: NODE }, { ...problem, invoking: new Uint8Array(4000) }),
  ).toHaveLength(1280);
});

test('no message harms the decoder', () => {
  refusesTruncation(decodeParameterProblem, MESSAGE.subarray(0, 8));
  fuzzDecoder(
    (bytes) => {
      const decoded = decodeParameterProblem(bytes);
      return decoded.ok ? refusedFastCnp(decoded.value, CODES) : decoded;
    },
    [MESSAGE],
  );
});
