// The parts of cnpd.yaml that must not be repeated: everything under an `authentication` or `hmac-key`, or under a key
// that was meant to be one of those or of their keys. In a section with such keys, and in an unknown section, the value
// behind an unknown name is hidden too: `psk:` may have been meant for `hmac-key:`. Values are masked by their path,
// quoted lines by their text, because a line must be safe even if the file is not YAML.
import { HIDDEN } from '../model/masks.ts';
import { intentJsonSchema } from './json-schema.ts';
import { type Path, nearest } from './words.ts';

const KEYS = [
  'authentication',
  'interface',
  'area',
  'domain',
  'hmac-md5',
  'key-id',
  'md5',
  'hmac-sha-1',
  'hmac-sha-256',
  'hmac-sha-384',
  'hmac-sha-512',
  'hmac-key',
];
const LOOKS_SECRET = /auth|hmac|passw|secret|^key$|md5|sha-?[1235]/i;
/** Sections with keys in them. */
const KEYED = ['isis', 'ospfv2', 'ospfv3', 'stamp'];
const MEANT = ['authentication', 'hmac-md5', 'hmac-key'];
/**
 * What other configurations call the parts of authentication. What `check` prints ends in logs and tickets, and a key
 * typed in the place of a name must not: under `authentication` only these, known names and their misspellings are
 * shown.
 */
const OTHER_NAMES = [
  ...['type', 'mode', 'method', 'algorithm', 'hash', 'digest', 'hmac', 'password', 'passphrase', 'secret', 'psk'],
  ...['key', 'keys', 'key-string', 'key-chain', 'keychain', 'id', 'send', 'accept', 'value'],
];

/** Pieces of the two names, one more than the slips that `nearest` forgives: in most files it need not be asked. */
const RESEMBLES = /aut|hen|tic|ati|on|hma|c[-_][mk]|d5|key/i;

const isSecretKey = (word: string): boolean =>
  LOOKS_SECRET.test(word) || (RESEMBLES.test(word) && isMisspelledKey(word));

/** Answers of isMisspelledKey: the same few names occur again and again. */
const misspelled = new Map<string, boolean>();
const MOST_NAMES = 1024;

function isMisspelledKey(word: string): boolean {
  const before = misspelled.get(word);
  if (before !== undefined) return before;
  if (misspelled.size >= MOST_NAMES) misspelled.clear();
  const now = nearest(word, MEANT) !== undefined;
  misspelled.set(word, now);
  return now;
}

let names:
  | {
      readonly sections: ReadonlySet<string>;
      readonly all: ReadonlySet<string>;
      readonly misspelled: ReadonlySet<string>;
    }
  | undefined;

/** A shorter name resembles too many words. */
const SHORTEST_RESEMBLED = 5;
const LONGEST_RESEMBLING = 64;

/** A word without its separators, and that without one letter: misspellings of a name share one of them with it. */
function spellings(word: string): string[] {
  const letters = word.toLowerCase().replaceAll(/[-_]/g, '');
  return [letters, ...Array.from(letters, (_, i) => letters.slice(0, i) + letters.slice(i + 1))];
}

/** Whether a word was meant to be a name whose value is no key: `systemid`. A long file may have many words. */
const isMisspelledName = (word: string): boolean =>
  word.length >= SHORTEST_RESEMBLED &&
  word.length <= LONGEST_RESEMBLING &&
  spellings(word).some((spelling) => known().misspelled.has(spelling));

/** The names that cnpd.yaml knows: of its sections, and anywhere. */
function known(): NonNullable<typeof names> {
  if (names) return names;
  const all = new Set<string>();
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [word, inner] of Object.entries(schema)) {
      if (word === 'properties') for (const name of Object.keys(inner as object)) all.add(name);
      collect(inner);
    }
  };
  const schema = intentJsonSchema();
  collect(schema);
  const harmless = [...all].filter((name) => name.length >= SHORTEST_RESEMBLED && !isSecretKey(name));
  const misspelled = new Set(harmless.flatMap(spellings));
  names = { sections: new Set(Object.keys(schema['properties'] as object)), all, misspelled };
  return names;
}

/** Whether the value at `path` may be an authentication key, or replaces a section that has one. */
const isSecret = (path: Path): boolean =>
  path.some((step) => typeof step === 'string' && isSecretKey(step)) ||
  (path.length === 1 && KEYED.includes(String(path[0])));

/** A name and its value without the colon, or the space, between them. */
const RUN_TOGETHER = /\S[\s=:]+\S/;

/** Whether a place is under a name that is followed by keys of authentication. */
const isWithinKeys = (path: Path): boolean => path.some((step) => typeof step === 'string' && isSecretKey(step));

/**
 * Whether a name of a mapping may be shown: `hmac-md5:KEY`, without the space, is a name without a value, and
 * `- KEY: 1` under `authentication` a key in the place of a name.
 */
export const isSafeName = (path: Path, name: string, hasValue: boolean): boolean =>
  KEYS.includes(name) ||
  (isWithinKeys(path)
    ? hasValue && (OTHER_NAMES.includes(name) || known().all.has(name) || nearest(name, KEYS) !== undefined)
    : hasValue || !(isSecret(path) || isSecretKey(name) || RUN_TOGETHER.test(name)));

/** The path without the names that may be keys. */
export const shownPath = (path: Path): Path =>
  path.map((step, i) =>
    typeof step === 'number' || !isWithinKeys(path.slice(0, i)) || isSafeName(path.slice(0, i), step, true)
      ? step
      : HIDDEN,
  );

/** A number of this kind is the ID of a key, not a key. */
const KEY_ID = /^-?\d{1,6}$/;

/** A found value, as it may be shown; undefined: not at all. */
export function shownValue(path: Path, value: string): string | undefined {
  if (isSecret(path) && !(path.at(-1) === 'key-id' && KEY_ID.test(value))) return undefined;
  // user:password@host
  const at = value.lastIndexOf('@');
  return at > 0 && value.slice(0, at).includes(':') ? `${HIDDEN}${value.slice(at)}` : value;
}

const WORD_ENDS = ' \t"\'[{,';

/** Where `user:password@` begins in a line; Infinity: nowhere. */
function credentialsIn(line: string): number {
  for (let at = line.indexOf('@'), from = 0; at >= 0; from = at + 1, at = line.indexOf('@', from)) {
    let word = at;
    while (word > from && !WORD_ENDS.includes(line[word - 1]!)) word--;
    if (line.slice(word, at).includes(':')) return word;
  }
  return Infinity;
}

/** Whether a section begins in this line. */
function beginsSection(line: string): boolean {
  const [, name] = /^([\w-]+)\s*:/.exec(line) ?? [];
  return name !== undefined && known().sections.has(name);
}
// Each word is tried once, from its beginning: a long line must not take the square of its length.
const NAME = /\?\s+["']?([\w-]+)|(?<![\w-])([\w-]+)["']?\s*:/g;
/** Four digits of an IPv6 address look like a name with its colon. */
const ADDRESS_PART = /^[0-9a-f]{1,4}$/i;
/** A section's name, and whether a scalar replaces the section. */
const TOP = /^["']?([\w-]+)["']?\s*:\s*([^\s[{#])?/;
/** A name that is not followed by a colon. */
const NO_COLON = /^[\s-]*["']?[A-Za-z_][\w-]*["']?(?=(?:\s*=|\s+)\s*[^\s:#])/;
/** The beginning of a line that holds nothing but names. */
const STRUCTURE = new RegExp(
  `^[\\s?{-]*(?:(?:isis|ospfv2|ospfv3|areas|bgp|gobgp|tls|stamp|${[...KEYS, ...OTHER_NAMES].join('|')})\\s*:(?=\\s|$)[\\s{]*)*`,
);
/** YAML allows the items of a list at the indentation of its name. */
const LIST_ITEM = /^\s*-(?:\s|$)/;
const COMMENT = /(?:^|\s)#[^]*$/;

/**
 * For each line the column (from 0) from which on it may not be shown; Infinity for most.
 * @param wellFormed false: indentation says nothing, and all is hidden up to the next section
 */
export const hiddenFrom = (lines: readonly string[], wellFormed: boolean): number[] =>
  keysIn(lines, wellFormed).map((from, i) => Math.min(from, credentialsIn(lines[i]!)));

function keysIn(lines: readonly string[], wellFormed: boolean): number[] {
  /** Deeper lines are hidden as well; -1: all up to the next section. */
  let within: number | undefined;
  /** Within brackets lines may begin anywhere. */
  let brackets = false;
  /** In a section that has keys, or an unknown one. */
  let keyed = false;
  return lines.map((line) => {
    const indent = line.search(/\S|$/);
    const blank = line.replace(COMMENT, '').trim() === '';
    if (
      !blank &&
      within !== undefined &&
      (within === -1 ? beginsSection(line) : indent < within || (indent === within && !LIST_ITEM.test(line)))
    )
      within = undefined;
    brackets = (brackets && !beginsSection(line)) || /[[{]/.test(line);
    if (within !== undefined) return structureOf(line);
    const top = TOP.exec(line);
    if (top) keyed = KEYED.includes(top[1]!) || !known().sections.has(top[1]!);
    const mayBeSecret = (word: string): boolean =>
      isSecretKey(word) || (keyed && !known().all.has(word) && !ADDRESS_PART.test(word) && !isMisspelledName(word));
    const plain = line.replace(COMMENT, '');
    const name = [...plain.matchAll(NAME)].find((match) => mayBeSecret(match[1] ?? match[2]!));
    if (!name) return !keyed ? Infinity : top?.[2] !== undefined ? line.indexOf(':') + 1 : withoutColon(plain);
    const alone = wellFormed && !brackets && /^[\s"']*$/.test(line.slice(0, name.index));
    within = alone ? indent : -1;
    return Math.max(structureOf(line), name.index + name[0].length);
  });
}

/** `hmac-key KEY`, `psk = KEY` */
const withoutColon = (line: string): number => NO_COLON.exec(line)?.[0].length ?? Infinity;

const structureOf = (line: string): number => STRUCTURE.exec(line)![0].length;
