// The sentences of a Markdown text, in the way a reader meets them.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/** A node of the Markdown tree (mdast), as far as it is read here. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position: { readonly start: { readonly line: number } };
}

export interface Sentence {
  readonly line: number;
  readonly text: string;
  readonly words: number;
}

/** What holds text that ends with it: a sentence never runs on from one to the next. */
const BLOCKS = new Set(['paragraph', 'heading', 'tableCell']);
/** A point after one of these ends no sentence. */
const ABBREVIATION = /(?:^|\s|\()(?:e\.g|i\.e|etc|vs|cf|approx|no|sect)\.$/i;

/** A node's text. Code counts as one word, however many are in it. */
function textOf(node: Node): string {
  if (node.type === 'inlineCode') return `\`${(node.value ?? '').replaceAll(/\s+/g, '_')}\``;
  if (node.type === 'break') return ' ';
  return node.children ? node.children.map(textOf).join('') : (node.value ?? '');
}

function blocksOf(node: Node): Node[] {
  return BLOCKS.has(node.type) ? [node] : (node.children ?? []).flatMap(blocksOf);
}

/** A sentence may begin with a name in lower case (cnpd), so the next letter decides nothing. */
function split(text: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const piece of text.split(/(?<=[.!?]["”')\]]?)\s+/u)) {
    open = open === '' ? piece : `${open} ${piece}`;
    if (ABBREVIATION.test(open)) continue;
    sentences.push(open);
    open = '';
  }
  return open === '' ? sentences : [...sentences, open];
}

/** `a`, `b` and `c`: names in a row are read at a glance, so they count as one word. */
const NAMES = /`[^`]*`(?:(?:,| and| or|, and|, or) `[^`]*`)+/g;

/** A dash, an arrow or an operator is no word. */
const countWords = (text: string): number =>
  text
    .replaceAll(NAMES, 'names')
    .split(/\s+/)
    .filter((word) => /[\p{L}\d]/u.test(word)).length;

export function sentencesOf(markdown: string): Sentence[] {
  const root = fromMarkdown(markdown, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] }) as Node;
  return blocksOf(root).flatMap((block) => {
    const text = textOf(block).replaceAll(/\s+/g, ' ').trim();
    // In a cell, a parenthesis explains one name of a list: it is read by itself.
    const pieces = block.type === 'tableCell' ? text.split(/\s*[()]\s*/) : [text];
    return pieces.flatMap(split).map((sentence) => ({
      line: block.position.start.line,
      text: sentence,
      words: countWords(sentence),
    }));
  });
}
