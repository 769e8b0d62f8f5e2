import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadIntent } from './load.ts';
import { readSource } from './yaml.ts';
import { MAX_FILE_BYTES } from './yaml-limits.ts';

const tree = (text: string): unknown => {
  const source = readSource(text);
  return source.ok ? JSON.parse(JSON.stringify(source.value.tree)) : source.error;
};

test('every scalar stays text, and nothing written is null', () => {
  expect(tree('a: 49.0010\nb: [off, 0x10, ~, "", 1e3]\nc:\nd: {e: true}\n')).toEqual({
    a: '49.0010',
    b: ['off', '0x10', '~', '', '1e3'],
    c: null,
    d: { e: 'true' },
  });
});

test('the place of a value, of a key, of something missing and of an empty value', () => {
  const source = readSource('router:\n  name: r1\nports:\n  - { interface: eth1,\n      k-max: 5 }\nlog:\n');
  if (!source.ok) throw new Error('unreadable');
  const { locate } = source.value;
  expect(locate(['router', 'name'])).toEqual({ line: 2, column: 9 });
  expect(locate(['router', 'name'], 'key')).toEqual({ line: 2, column: 3 });
  expect(locate(['ports', 0, 'k-max'])).toEqual({ line: 5, column: 14 });
  expect(locate(['ports', 0])).toEqual({ line: 4, column: 5 });
  expect(locate(['log'])).toEqual({ line: 6, column: 1 });
  expect(locate(['router', 'loopback', 'ipv6'])).toEqual({ line: 1, column: 1 });
  expect(locate([])).toEqual({ line: 1, column: 1 });
});

describe('a hostile file ends in an error, soon', () => {
  const n = 100_000;
  const levels = 'abcdefghi'.split('');
  test.each<readonly [string, string]>([
    ['brackets', '['.repeat(n)],
    ['braces', '{a: '.repeat(n)],
    ['compact sequences', '- '.repeat(n)],
    ['complex keys', '? '.repeat(n)],
    ['indentation', Array.from({ length: 1200 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    [
      'an alias bomb',
      levels
        .map(
          (c, i) =>
            `${c}: &${c} [${Array<string>(9)
              .fill(i === 0 ? 'x' : `*${levels[i - 1]}`)
              .join(',')}]`,
        )
        .join('\n'),
    ],
    ['an alias to its own parent', 'router: &r\n  name: *r\n'],
    ['20,000 unknown keys', Array.from({ length: 20_000 }, (_, i) => `k${i}: x`).join('\n')],
    ['one key 20,000 times', 'k: x\n'.repeat(20_000)],
    ['20,000 aliases', `a: &a x\n${Array.from({ length: 20_000 }, (_, i) => `k${i}: *a`).join('\n')}`],
    ['an open quote', `"${'a\n'.repeat(n)}`],
    ['null bytes', '\0'.repeat(n)],
    ['a name of a million characters', `router: { name: ${'a'.repeat(1e6)} }`],
    ['too large a file', '#'.repeat(MAX_FILE_BYTES + 1)],
  ])('%s', (_name, text) => {
    const result = loadIntent(text, 'cnpd.yaml');
    expect(result.ok).toBe(false);
    if (!result.ok) {
      expect(result.error.length).toBeGreaterThan(0);
      expect(result.error.length).toBeLessThanOrEqual(200);
      for (const error of result.error) expect(error.message.length).toBeLessThan(600);
    }
  });

  test('whatever the text, the loader answers', () => {
    const token = fc.constantFrom(
      'router',
      'name',
      'isis',
      'proxy',
      'ports',
      'senders',
      'prefix',
      'interface',
      'k-max',
      'ecn',
      'log',
      'notifications',
      'order',
      'supports',
      'long-haul',
      'severity',
      'escalation',
      'early',
      'objects',
      'srv6',
      'end-con',
      'core-ports',
      'dscp',
      'stamp',
      'targets',
      'border-allow',
      'inbound',
      ': ',
      ':\n',
      '\n',
      '\n  ',
      '\n    ',
      '- ',
      '- { ',
      ' }',
      '{',
      '}',
      '[',
      ']',
      ', ',
      '"',
      "'",
      '&a ',
      '*a',
      '!!str ',
      '|\n',
      '>',
      '#',
      '? ',
      '---\n',
      '...',
      '%YAML 1.1\n',
      '<<',
      '~',
      '1',
      'off',
      '::/0',
      '10.0.0.0/8',
      '1kB',
      '\t',
      '\r\n',
      '\u2028',
      '\ud800',
      '__proto__',
      'constructor',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
        const result = loadIntent(tokens.join(''), 'cnpd.yaml');
        if (!result.ok) expect(result.error.length).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});

test('10,000 sender prefixes are accepted', () => {
  const senders = Array.from(
    { length: 10_000 },
    (_, i) => `    - { prefix: 2001:db8:${i.toString(16)}::/48, format: standard-cnp }`,
  );
  const text = [
    'router: { name: r1 }',
    'proxy:',
    '  address: 2001:db8::1',
    '  accept-from: ["2001:db8::/48"]',
    '  senders:',
    ...senders,
  ].join('\n');
  const result = loadIntent(text, 'cnpd.yaml');
  expect(result.ok && result.value.proxy?.senders.length).toBe(10_000);
});
