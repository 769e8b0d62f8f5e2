import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { citations, conformanceDocument, notes, requirements } from './conformance.ts';

describe('docs/conformance.md', () => {
  it('is what the tests of this tree say (npm run conformance rewrites it)', () => {
    const document = conformanceDocument();
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/conformance.md', document);
    expect(readFileSync('docs/conformance.md', 'utf8')).toBe(document);
  });

  it('names only requirements that exist', () => {
    const known = new Set(requirements().map((r) => r.id));
    const { built, tested } = citations();
    expect([...tested.keys(), ...built.keys()].filter((id) => !known.has(id))).toEqual([]);
    const prefixes = [...notes().keys()].filter((k) => ![...known].some((id) => id === k || id.startsWith(`${k}-`) || id.startsWith(`${k}.`)));
    expect(prefixes).toEqual([]);
  });
});
