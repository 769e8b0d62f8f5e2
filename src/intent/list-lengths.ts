// The lengths of cnpd.yaml's lists, from its text, in one pass that keeps nothing: a list that is too long is refused
// before a parser makes nodes of it. Unusual syntax (block scalars, anchors, tags, complex keys, unterminated quotes)
// ends the count, and the result so far is used: the tree is checked as well.

export interface ListLength {
  readonly path: readonly string[];
  readonly entries: number;
  /** Where the first entry, or the bracket before it, is. */
  readonly offset: number;
}

type Names = readonly string[];

const [TAB, NEWLINE, RETURN, SPACE, QUOTE, HASH, APOSTROPHE, COMMA] = [9, 10, 13, 32, 34, 35, 39, 44];
const [DASH, COLON] = [45, 58];
const [OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [91, 92, 93, 123, 125];
/** `name:` at the beginning of a line. */
const KEY = /(["']?)([A-Za-z][\w-]*)\1[ ]*:(?=[ \n\r]|$)/y;
/** What begins a value that is not plainly written. */
const UNUSUAL = '|>&*!?%@`';

/** A collection in brackets that is not closed yet. */
interface Frame {
  readonly isList: boolean;
  readonly path: Names | undefined;
  readonly offset: number;
  entries: number;
  /** Nothing of the next entry has been seen. */
  before: boolean;
  /** Of a mapping: the name of the entry that is being read. */
  key: string | undefined;
}

export function listLengths(text: string, paths: readonly Names[]): ListLength[] {
  return new Counter(text, paths).count();
}

class Counter {
  private readonly text: string;
  /** As text, for comparison. */
  private readonly paths: ReadonlySet<string>;
  private readonly found: ListLength[] = [];
  private at = 0;
  /** The name of the section, and of the key in it, that lines of more indentation are in. */
  private owner: { readonly path: Names; readonly indent: number } | undefined;
  /** Indentation of the keys of the section. */
  private inner: number | undefined;
  private list: { readonly path: Names; readonly indent: number; readonly offset: number; entries: number } | undefined;

  constructor(text: string, paths: readonly Names[]) {
    this.text = text;
    this.paths = new Set(paths.map((path) => path.join()));
  }

  count(): ListLength[] {
    while (this.at < this.text.length && this.line());
    this.closeList();
    return this.found;
  }

  /** @returns false when it is not plainly written */
  private line(): boolean {
    const { text } = this;
    const start = this.at;
    while (text.charCodeAt(this.at) === SPACE) this.at++;
    const indent = this.at - start;
    const c = text.charCodeAt(this.at);
    if (c === NEWLINE || c === HASH || c === RETURN || this.at >= text.length) return this.toNextLine();
    if (c === DASH) {
      const after = text.charCodeAt(this.at + 1);
      if (indent === 0 && text.startsWith('---', this.at)) return this.toNextLine();
      return (after === SPACE || after === NEWLINE || after === RETURN) && this.item(indent);
    }
    if (c === OPEN_LIST || c === OPEN_MAP) return this.value(this.list ? undefined : (this.owner?.path ?? []));
    KEY.lastIndex = this.at;
    const key = KEY.exec(text)?.[2];
    if (key === undefined) return false;
    this.at = KEY.lastIndex;
    // A key of an entry says nothing about the list that the entry is in.
    if (this.list && indent > this.list.indent) return this.value(undefined);
    this.closeList();
    return this.named(key, indent) && this.value(this.owner?.path);
  }

  private named(key: string, indent: number): boolean {
    if (indent === 0) {
      this.owner = { path: [key], indent };
      this.inner = undefined;
      return true;
    }
    if (!this.owner) return false;
    this.inner ??= indent;
    if (indent < this.inner) return false;
    this.owner = { path: [this.owner.path[0]!, indent === this.inner ? key : ''], indent };
    return true;
  }

  private item(indent: number): boolean {
    const { owner } = this;
    if (!this.list && owner && indent >= owner.indent && this.paths.has(owner.path.join()))
      this.list = { path: owner.path, indent, offset: this.at, entries: 0 };
    if (this.list && indent < this.list.indent) return false;
    if (this.list?.indent === indent) this.list.entries++;
    this.at++;
    return this.value(undefined);
  }

  private closeList(): void {
    if (this.list) {
      const { path, entries, offset } = this.list;
      this.found.push({ path, entries, offset });
    }
    this.list = undefined;
  }

  private toNextLine(): boolean {
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end + 1;
    return true;
  }

  /**
   * The text behind a name or a dash, to the end of its line, or of the line in which its brackets close.
   * @param path of the value; undefined: none that is counted
   */
  private value(path: Names | undefined): boolean {
    const { text } = this;
    const frames: Frame[] = [];
    /** Where the last word began; -1: none since the last indicator. */
    let word = -1;
    /** A word may begin: after a space or an indicator. */
    let fresh = true;
    for (; this.at < text.length; this.at++) {
      const c = text.charCodeAt(this.at);
      const top = frames.at(-1);
      if (c === NEWLINE && !top) return this.toNextLine();
      if (c === SPACE || c === NEWLINE || c === TAB || c === RETURN) fresh = true;
      else if (c === HASH && fresh) this.skipComment();
      else if (top && c === COMMA) [top.before, top.key, word, fresh] = [true, undefined, -1, true];
      else if (top && (c === CLOSE_LIST || c === CLOSE_MAP)) {
        if (top.isList !== (c === CLOSE_LIST)) return false;
        frames.pop();
        this.close(top);
        [word, fresh] = [-1, true];
      } else if (c === COLON && word >= 0 && this.endsName(word)) {
        if (top && !top.isList) top.key ??= unquoted(text.slice(word, this.at));
        [word, fresh] = [-1, true];
      } else {
        if (top?.before) [top.entries, top.before] = [top.entries + 1, false];
        if ((c === OPEN_LIST || c === OPEN_MAP) && (top ? fresh : word < 0)) {
          frames.push(frameOf(c === OPEN_LIST, this.at, top ? pathIn(top) : path));
          [word, fresh] = [-1, true];
          continue;
        }
        fresh = false;
        if (word >= 0) continue;
        word = this.at;
        if (!this.begin(c)) return false;
      }
    }
    return frames.length === 0;
  }

  /** Whether this colon ends a name. */
  private endsName(word: number): boolean {
    const next = this.text.charCodeAt(this.at + 1);
    const first = this.text.charCodeAt(word);
    return (
      next === SPACE ||
      next === NEWLINE ||
      next === OPEN_LIST ||
      next === OPEN_MAP ||
      first === QUOTE ||
      first === APOSTROPHE
    );
  }

  /** A word; of one in quotes, all of it. @returns false when it is not plainly written */
  private begin(c: number): boolean {
    return c === QUOTE || c === APOSTROPHE ? this.skipQuoted(c) : !UNUSUAL.includes(this.text[this.at]!);
  }

  /** To the last character before the end of the line. */
  private skipComment(): void {
    const end = this.text.indexOf('\n', this.at);
    this.at = (end < 0 ? this.text.length : end) - 1;
  }

  private close({ isList, path, entries, offset }: Frame): void {
    if (isList && path && this.paths.has(path.join())) this.found.push({ path, entries, offset });
  }

  /** To the closing quote. @returns false when there is none */
  private skipQuoted(quote: number): boolean {
    const { text } = this;
    for (this.at++; this.at < text.length; this.at++) {
      const c = text.charCodeAt(this.at);
      if (c === BACKSLASH && quote === QUOTE) this.at++;
      else if (c === quote && quote === APOSTROPHE && text.charCodeAt(this.at + 1) === quote) this.at++;
      else if (c === quote) return true;
    }
    return false;
  }
}

const unquoted = (name: string): string => name.trim().replace(/^["']|["']$/g, '');

const frameOf = (isList: boolean, offset: number, path: Names | undefined): Frame => ({
  isList,
  path,
  offset,
  entries: 0,
  before: true,
  key: undefined,
});

/** In a flow mapping: deeper than two names nothing is counted. */
const pathIn = ({ isList, path, key }: Frame): Names | undefined =>
  !isList && path && key !== undefined && path.length < 2 ? [...path, key] : undefined;
