// Pages, and parts of pages, that are made from the source: `npm run conformance` writes them, a test compares them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { expect } from 'vitest';

/** In the layout of this repository's Markdown. */
async function formatted(page: string, text: string): Promise<string> {
  const { code, errors } = await format(page, text, { printWidth: 100, proseWrap: 'always' });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}

export async function expectGenerated(page: string, made: string): Promise<void> {
  const text = await formatted(page, made);
  if (process.env['UPDATE_CONFORMANCE']) writeFileSync(page, text);
  expect(existsSync(page) ? readFileSync(page, 'utf8') : 'no such page: npm run conformance').toBe(text);
}

/** A description as a sentence. A value or a program that begins it keeps its case: `off: …`, `cnpd …`. */
export function sentence(text: string): string {
  if (text === '') return '';
  const capital = /^(?:[\w-]+:|(?:cnpd|gobgpd)\b)/.test(text) ? text : `${text[0]!.toUpperCase()}${text.slice(1)}`;
  return capital.endsWith('.') ? capital : `${capital}.`;
}
