// Errors of the kernel as text.
import { describe, expect, test } from 'vitest';
import { KernelError, errnoName, isKernelError } from './errors.ts';
import { possibleCpus } from './bpf/map.ts';
import { writeText } from './ffi.ts';

describe('KernelError', () => {
  test("has the attempted operation, the code, its meaning, and the kernel's text", () => {
    const error = new KernelError('bind(eth0)', 19, 'Device does not exist');
    expect(error.message).toBe('bind(eth0): ENODEV (no such device): Device does not exist');
    expect({ code: error.code, errno: error.errno, operation: error.operation, detail: error.detail }).toEqual({
      code: 'ENODEV',
      errno: 19,
      operation: 'bind(eth0)',
      detail: 'Device does not exist',
    });
  });

  test('numbers without a libc name are named or at least numbered', () => {
    expect([errnoName(524), errnoName(95), errnoName(11), errnoName(9999)]).toEqual([
      'ENOTSUPP',
      'EOPNOTSUPP',
      'EAGAIN',
      'E9999',
    ]);
    expect(new KernelError('x', 9999).message).toBe('x: E9999 (unknown error)');
  });

  test('is distinguished from other errors, with and without a code', () => {
    expect([
      isKernelError(new KernelError('x', 1)),
      isKernelError(new KernelError('x', 1), 'EPERM'),
      isKernelError(new KernelError('x', 2), 'EPERM'),
      isKernelError(new Error('x')),
    ]).toEqual([true, true, false, false]);
  });
});

describe('small layouts', () => {
  test('possible CPUs are counted over ranges and single numbers', () => {
    expect(['0', '0-7\n', '0,2-3', '0-1,4-5,9'].map(possibleCpus)).toEqual([1, 8, 3, 5]);
  });

  test('a name that does not fit with its terminator is refused, not truncated', () => {
    const field = new Uint8Array(20).fill(0xff);
    writeText(field, 2, 16, 'fifteen-bytes-x');
    expect([...field.subarray(0, 3), ...field.subarray(16, 20)]).toEqual([
      0xff,
      0xff,
      'f'.charCodeAt(0),
      'x'.charCodeAt(0),
      0,
      0xff,
      0xff,
    ]);
    expect(() => writeText(field, 0, 16, 'sixteen-bytes-xx')).toThrow(/longer than the 15 bytes/);
  });
});
