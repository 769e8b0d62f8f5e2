import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exampleState } from './state.fixture.ts';
import { MODULE, ROOT, type SchemaNode, yangName } from './schema.ts';

/** A YANG statement: keyword, argument, what is inside. */
interface Statement {
  readonly keyword: string;
  readonly argument: string;
  readonly inside: Statement[];
}

/** Enough of RFC 7950 §6 for this file: quoted and bare arguments, blocks; no comments, no concatenation. */
function parseYang(text: string): Statement[] {
  const tokens = text.match(/"[^"]*"|'[^']*'|[{};]|[^\s{};"']+/g)!;
  let at = 0;
  const statements = (): Statement[] => {
    const list: Statement[] = [];
    while (at < tokens.length && tokens[at] !== '}') {
      const keyword = tokens[at++]!;
      const argument = /^[{;]$/.test(tokens[at]!) ? '' : tokens[at++]!.replace(/^["']|["']$/g, '');
      let inside: Statement[] = [];
      if (tokens[at++] === '{') {
        inside = statements();
        at++;
      }
      list.push({ keyword, argument, inside });
    }
    return list;
  };
  return statements();
}

const TYPES: Record<string, string> = {
  'yang:date-and-time': 'date-and-time',
  'inet:ip-address-no-zone': 'ip-address',
  'inet:ip-prefix': 'ip-prefix',
  qpn: 'uint32',
  'system-id': 'string',
  'dotted-quad': 'string',
};
const DATA = new Set(['container', 'list', 'leaf', 'leaf-list', 'anyxml']);
const inner = (statement: Statement, keyword: string): Statement | undefined =>
  statement.inside.find((s) => s.keyword === keyword);

/** One line a node: path, kind, type, keys. */
function yangLines(module: readonly Statement[], statements = module, path = ''): string[] {
  return statements
    .flatMap((s) =>
      s.keyword === 'uses' ? module.find((g) => g.keyword === 'grouping' && g.argument === s.argument)!.inside : [s],
    )
    .filter((s) => DATA.has(s.keyword))
    .flatMap((s) => {
      const here = `${path}/${s.argument}`;
      const type = inner(s, 'type');
      const typeText =
        type?.argument === 'enumeration'
          ? type.inside.map((e) => e.argument).join('|')
          : type && (TYPES[type.argument] ?? type.argument);
      return [
        s.keyword === 'anyxml'
          ? `${here} leaf anyxml`
          : `${here} ${s.keyword} ${typeText ?? ''} ${inner(s, 'key')?.argument ?? ''}`.trim(),
        ...yangLines(module, s.inside, here),
      ];
    });
}

function schemaLines(node: SchemaNode, path = ''): string[] {
  return [...node.children.values()].flatMap((child) => {
    const here = `${path}/${child.name}`;
    const type = typeof child.type === 'string' ? child.type : child.type?.join('|');
    return [
      `${here} ${child.kind} ${type ?? ''} ${child.keys.map((k) => k.name).join(' ')}`.trim(),
      ...schemaLines(child, here),
    ];
  });
}

describe('schema', () => {
  const module = parseYang(readFileSync(new URL('../../yang/cnpd.yang', import.meta.url), 'utf8'))[0]!;

  test('yang/cnpd.yang and the served tree have the same nodes, kinds, types and keys', () => {
    const yang = yangLines(module.inside);
    expect(yang.length).toBeGreaterThan(90);
    expect(schemaLines(ROOT).sort()).toEqual(yang.sort());
  });

  test('the module is announced by its name and revision, and all but the configuration is read only', () => {
    expect(module.argument).toBe(MODULE.name);
    expect(inner(module, 'revision')!.argument).toBe(MODULE.version);
    const sections = inner(module, 'container')!.inside.filter(({ keyword }) => DATA.has(keyword));
    expect(sections.length).toBeGreaterThan(15);
    for (const section of sections)
      expect([section.argument, inner(section, 'config')?.argument]).toEqual([
        section.argument,
        section.argument === 'configuration' ? undefined : 'false',
      ]);
  });

  test('of no list two entries have the same keys', () => {
    const repeated: string[] = [];
    const look = (node: SchemaNode, value: unknown, path: string): void => {
      for (const child of node.children.values()) {
        const inside: unknown = (value as Record<string, unknown>)[child.field];
        const here = `${path}/${child.name}`;
        const entries = child.kind === 'list' ? (inside as Record<string, unknown>[]) : [];
        const keys = entries.map((entry) => child.keys.map(({ field }) => String(entry[field])).join(' '));
        if (child.kind === 'list' && keys.length === 0) repeated.push(`${here} has no example`);
        repeated.push(...keys.filter((key, i) => keys.indexOf(key) !== i).map((key) => `${here} ${key}`));
        for (const one of child.kind === 'container' ? [inside] : entries) look(child, one, here);
      }
    };
    look(ROOT, { cnpd: exampleState() }, '');
    expect(repeated).toEqual([]);
  });

  test('every node says what it is', () => {
    const silent = (s: Statement): string[] => [
      ...(DATA.has(s.keyword) && !inner(s, 'description') ? [s.argument] : []),
      ...s.inside.flatMap(silent),
    ];
    expect(silent(module)).toEqual([]);
  });

  test('field names become YANG names by one rule', () => {
    expect(['kMin', 'lspId', 'suppressedPerFlow', 'name'].map(yangName)).toEqual([
      'k-min',
      'lsp-id',
      'suppressed-per-flow',
      'name',
    ]);
  });
});
