import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SectionChange } from '../model/config-change.ts';
import { editedText } from './edit.ts';
import { emitted } from './emit.ts';
import { loadIntent } from './load.ts';
import { readSource } from './yaml.ts';

const FILE = `# the router
router: { name: r1, loopback: { ipv6: 2001:db8::1 } }

# watched
ports:
  - { interface: eth2, k-max: 100kB } # the WAN

# the end
log: { level: warn }
`;
const edited = (changes: readonly SectionChange[], text = FILE): string => {
  const result = editedText(text, changes);
  return result.ok ? result.value : `error: ${result.error}`;
};
const treeOf = (text: string): unknown => {
  const source = readSource(text);
  return source.ok ? JSON.parse(JSON.stringify(source.value.tree)) : source.error;
};
const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');

describe('a change of sections', () => {
  test('replaces a section, and leaves the text of all others as it is, with its comments', () => {
    const text = edited([{ operation: 'replace', section: 'ports', value: [{ interface: 'eth3', 'k-max': 5000 }] }]);
    expect(text).toBe(FILE.replace(/ {2}- .*$/m, '  - { interface: eth3, k-max: 5000 }'));
  });

  test('update merges mappings and replaces lists; delete removes; what is new comes last', () => {
    const text = edited([
      { operation: 'delete', section: 'ports' },
      { operation: 'update', section: 'router', value: { loopback: { ipv4: '192.0.2.1' } } },
      { operation: 'update', value: { 'cnpd:border-ports': ['eth8'], metrics: { enabled: true } } },
    ]);
    expect(treeOf(text)).toEqual({
      router: { name: 'r1', loopback: { ipv6: '2001:db8::1', ipv4: '192.0.2.1' } },
      log: { level: 'warn' },
      'border-ports': ['eth8'],
      metrics: { enabled: 'true' },
    });
    expect(text).toContain('# the router');
    expect(text).toContain('# the end');
    expect(text).not.toContain('eth2');
  });

  test('replace of the whole needs an object', () => {
    expect(edited([{ operation: 'replace', value: { router: { name: 'r2' } } }])).toBe('router: { name: r2 }\n');
    expect(edited([{ operation: 'replace', value: 'x' }])).toMatch(/^error: .*object/);
    expect(edited([{ operation: 'delete' }])).toBe('');
  });

  test('a file whose sections share a line is written anew', () => {
    const text = edited(
      [{ operation: 'replace', section: 'log', value: { level: 'debug' } }],
      '{ router: { name: r1 } }',
    );
    expect(treeOf(text)).toEqual({ router: { name: 'r1' }, log: { level: 'debug' } });
  });

  test('a hidden secret does not become the secret; what is nested without end is refused', () => {
    const secret = { authentication: { interface: { 'hmac-md5': '<hidden>' } } };
    expect(edited([{ operation: 'update', section: 'isis', value: secret }])).toMatch(
      /^error: isis\.authentication\.interface\.hmac-md5: <hidden> is what answers have/,
    );
    let deep: unknown = 'x';
    for (let i = 0; i < 100; i++) deep = [deep];
    expect(edited([{ operation: 'replace', section: 'ports', value: deep }])).toMatch(/^error: ports.*nested/);
  });

  test('a name that JavaScript knows is a name like others', () => {
    const value = JSON.parse('{"__proto__": {"a": "b"}, "constructor": "c"}') as object;
    const text = edited([{ operation: 'replace', section: 'log', value }]);
    expect(text).toContain('"__proto__": { a: b }');
    expect(loadIntent(text, 'f').ok).toBe(false);
  });
});

describe('a tree as text', () => {
  test('docs/cnpd.yaml means the same when it is written anew', () => {
    const source = readSource(example);
    if (!source.ok) throw new Error('the example is no YAML');
    const text = emitted(source.value.tree as Record<string, unknown>);
    expect(treeOf(text)).toEqual(treeOf(example));
    expect(loadIntent(text, 'f')).toEqual(loadIntent(example, 'f'));
  });

  test('any value comes back as it was, or is refused', () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('on', '- x', 'a: b', '#', '~', ''),
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), tie('node'), { maxKeys: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(value, (node) => {
        const result = editedText(FILE, [{ operation: 'replace', section: 'ports', value: node }]);
        if (result.ok)
          expect((treeOf(result.value) as { ports: unknown }).ports).toEqual(JSON.parse(JSON.stringify(node)));
        else expect(result.error).toMatch(/cannot be written|<hidden>/);
      }),
      { numRuns: 300 },
    );
  });
});
