// Secrets in texts of a support bundle. Lines of cnpd.yaml and of FRR's configuration are masked by their words. What
// they had there is masked wherever else it stands, also in hexadecimal.
import { MASK } from '../../model/masks.ts';

/** Each: what stays before the secret. The rest of the line is the secret, but for what KEPT allows. */
const RULES: readonly RegExp[] = [
  /\b(?:area-|domain-)?password(?: (?:md5|clear|encrypted))?(?: \d(?= \S))? /i,
  /\bauthentication-key(?: \d(?= \S))? /i,
  /\bmessage-digest-key \d+ md5(?: \d(?= \S))? /i,
  /\bkey-string(?: \d(?= \S))? /i,
  /\bsnmp(?:-server)? community /i,
  /\bauthentication key-id \d+ hash-algo \S+ key /i,
  /\b(?:authentication string|nhrp authentication|authentication text) /i,
  /\b(?:tacacs|radius)-server key (?:\d (?=\S))?/i,
  /\bvrrp \d+ authentication /i,
  /\b(?:secret|passphrase|pre-shared-key|psk|token|tcp-md5)(?: \d(?= \S))? /i,
];

/** Behind a secret: not secret. */
const KEPT = / authenticate snp (?:send-only|validate)$/;

/** Keys of YAML and JSON whose value is a secret: in braces up to their end, else up to the end of the line. */
const NAMES = '(?:hmac-[a-z0-9-]+|md5|password|secret|auth-password|key-string|passphrase|token)';
const KEY = String.raw`(["']?\b${NAMES}["']?\s*:\s*)`;
/** Such a key with its value on the lines below that are farther to the right, or on one that begins with a colon. */
const VALUE_BELOW = new RegExp(
  String.raw`^(\s*(?:- +)*)(?:\? +)?["']?${NAMES}["']?\s*(?::\s*(?:[|>][-+0-9]*|[&!]\S*)*\s*(?:#.*)?)?$`,
  'i',
);
const IN_BRACES = new RegExp(
  String.raw`${KEY}("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,}\]][^,}\]]*?(?=\s*[,}\]]|$))`,
  'gi',
);
const ON_A_LINE = new RegExp(String.raw`${KEY}(\S.*)$`, 'gi');

/** Shorter ones are words of other lines, too. */
const SHORTEST_ELSEWHERE = 4;

interface MaskedLine {
  readonly text: string;
  readonly secrets: readonly string[];
}

function maskLine(line: string): MaskedLine {
  const secrets: string[] = [];
  let text = line.replace(line.includes('{') ? IN_BRACES : ON_A_LINE, (_, key: string, value: string) => {
    secrets.push(unquoted(value.trim()));
    return `${key}${MASK}`;
  });
  for (const rule of RULES) {
    const found = rule.exec(text);
    if (!found) continue;
    const from = found.index + found[0].length;
    const kept = KEPT.exec(text)?.[0] ?? '';
    const secret = text.slice(from, text.length - kept.length).trim();
    if (secret !== '' && secret !== MASK) secrets.push(...secret.split(/\s+/), secret);
    text = text.slice(0, from) + MASK + kept;
  }
  return { text, secrets };
}

/** Line by line, with what the lines before have begun. */
function* maskedLines(text: string): Generator<MaskedLine> {
  let key: number | undefined;
  for (const line of text.split('\n')) {
    const value = key === undefined ? undefined : valueBelow(line, key);
    if (value === undefined) {
      key = VALUE_BELOW.exec(line)?.[1]!.length;
      yield maskLine(line);
    } else {
      const secret = line.slice(value).trim();
      yield {
        text: secret === '' ? line : line.slice(0, value) + MASK,
        secrets: secret === '' ? [] : [unquoted(secret)],
      };
    }
  }
}

/** Where the value of a key begins in a line below it; undefined: it has none of it. @param key its indentation */
function valueBelow(line: string, key: number): number | undefined {
  const [{ length }] = /^\s*/.exec(line)!;
  if (line.trim() === '' || length > key) return length;
  const explicit = /^\s*: */.exec(line);
  return explicit && length === key ? explicit[0].length : undefined;
}

const unquoted = (value: string): string => (/^(["']).*\1$/.test(value) ? value.slice(1, -1) : value);

/** What to hide from every text. */
export class Secrets {
  readonly #known = new Set<string>();

  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < SHORTEST_ELSEWHERE || secret === MASK) continue;
      this.#known.add(secret);
      this.#known.add(JSON.stringify(secret).slice(1, -1));
      this.#known.add(Buffer.from(secret).toString('hex'));
    }
  }

  /** Of a configuration. */
  learn(text: string): void {
    for (const { secrets } of maskedLines(text)) this.add(secrets);
  }

  mask(text: string): string {
    // The longest first: one may be a part of another. Before the lines, whose rules may see only a part of one.
    return [...maskedLines(this.#withoutKnown(text))].map((line) => line.text).join('\n');
  }

  /** Of JSON, each text on its own, so that it stays JSON. */
  maskJson(text: string): string {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.mask(text);
    }
    return `${JSON.stringify(this.#maskValue(value), null, 2)}\n`;
  }

  #withoutKnown(text: string): string {
    const known = [...this.#known].sort((a, b) => b.length - a.length);
    return known.reduce((left, secret) => left.replaceAll(secret, MASK), text);
  }

  #maskValue(value: unknown, isSecret = false): unknown {
    if (typeof value === 'string') return isSecret ? MASK : this.mask(value);
    if (typeof value === 'number') return isSecret || this.isIn(String(value)) ? MASK : value;
    if (Array.isArray(value)) return value.map((item) => this.#maskValue(item, isSecret));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, of]) => [
        this.#withoutKnown(key),
        this.#maskValue(of, isSecret || SECRET_KEY.test(key)),
      ]),
    );
  }

  isIn(text: string): boolean {
    return [...this.#known].some((secret) => text.includes(secret));
  }
}

/** Values below keys of secrets in a value of YAML or JSON: what lines do not show, such as blocks and aliases. */
export function* secretsIn(value: unknown, isSecret = false): Generator<string> {
  if (typeof value === 'string' || typeof value === 'number') {
    if (isSecret) yield String(value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, of] of Object.entries(value)) yield* secretsIn(of, isSecret || SECRET_KEY.test(key));
}

const SECRET_KEY = /^(hmac-.*|md5|password|secret|key-string|passphrase|token)$/i;

/** The same value with secrets masked: of an intent, whose keys are in `key`, `keys` and `hmacKey`. */
export function maskedIntent(value: unknown, within = ''): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof Map || value instanceof Set) return maskedIntent([...value], within);
  if (Array.isArray(value)) return value.map((item) => maskedIntent(item, within));
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value;
  const isKey = (name: string): boolean =>
    name === 'hmacKey' ||
    ((name === 'key' || name === 'secret') && /^(interface|area|domain|keys|authentication)$/.test(within));
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [name, isKey(name) ? MASK : maskedIntent(of, name)]),
  );
}
