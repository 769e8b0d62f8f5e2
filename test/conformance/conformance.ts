// Generates docs/conformance.md: one entry a requirement of the five drafts, saying where it is built (source files
// that cite its ID), where it is tested (tests whose titles have its ID), or why it is not
// (test/conformance/notes.tsv). Nothing here is written by hand twice.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readTitles } from './test-titles.ts';

const REQUIREMENT = /\b(?:LHCNP|FCNP|RMC|PNC|FCN)-[0-9.]+-[a-z]\b/g;
/** In test titles the acceptance criteria count as well; in source text `A1` may be anything. */
const REQUIREMENT_OR_CRITERION = /\b(?:(?:LHCNP|FCNP|RMC|PNC|FCN)-[0-9.]+-[a-z]|A(?:[1-9]|1\d|20))\b/g;

interface Requirement {
  readonly id: string;
  readonly level: string;
  readonly who: string;
  readonly text: string;
}

const rowsOf = (file: string): string[][] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));

export const requirements = (): Requirement[] =>
  rowsOf('test/conformance/requirements.tsv').map(([id, level, who, text]) => ({
    id: id!,
    level: level!,
    who: who!,
    text: text!,
  }));

/**
 * Reasons for requirements without a test, by ID or by ID prefix (`LHCNP-5.5` covers LHCNP-5.5-a). The longest match
 * wins.
 */
export const notes = (): Map<string, string> =>
  new Map(rowsOf('test/conformance/notes.tsv').map(([id, why]) => [id!, why!]));

function noteFor(id: string, all: Map<string, string>): string | undefined {
  const keys = [...all.keys()].filter((k) => id === k || id.startsWith(`${k}-`) || id.startsWith(`${k}.`));
  const best = keys.sort((a, b) => b.length - a.length)[0];
  return best === undefined ? undefined : all.get(best);
}

/** The files that may cite requirements, without what the build generates (`gen/`), in a fixed order. */
const sources = (): string[] =>
  ['src', 'bpf', 'test']
    .flatMap((top) => readdirSync(top, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.split('/').includes('gen'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/**
 * ID → files that cite it; of test files only the titles under which tests run count, so that a comment or a skipped
 * test proves nothing.
 */
export const citations = (): Citations => (read ??= readCitations());

type Citations = Readonly<Record<'built' | 'tested' | 'skipped', ReadonlyMap<string, Set<string>>>>;
/** The tree does not change while a test runs. */
let read: Citations | undefined;

function readCitations(): Citations {
  const built = new Map<string, Set<string>>();
  const tested = new Map<string, Set<string>>();
  const skipped = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, id: string, file: string): void =>
    void map.set(id, (map.get(id) ?? new Set()).add(file));
  for (const file of sources()) {
    if (!/\.(ts|c|h)$/.test(file) || file.startsWith('test/conformance/')) continue;
    const text = readFileSync(file, 'utf8');
    if (file.endsWith('.test.ts')) {
      const titles = readTitles(file, text);
      for (const title of titles.running) {
        for (const [id] of title.matchAll(REQUIREMENT_OR_CRITERION)) add(tested, id, file);
      }
      for (const title of titles.skipped) {
        for (const [id] of title.matchAll(REQUIREMENT_OR_CRITERION)) add(skipped, id, file);
      }
    } else if (!file.startsWith('test/')) {
      for (const [id] of text.matchAll(REQUIREMENT)) add(built, id, file);
    }
  }
  return { built, tested, skipped };
}

const cell = (files: Set<string> | undefined): string =>
  [...(files ?? [])]
    .sort()
    .map((f) => `\`${f}\``)
    .join(', ');

const COLUMNS = 100;

/**
 * A paragraph broken between words.
 * @param first what its first line begins with; the others are indented as much
 */
function wrapped(text: string, first = ''): string {
  const indent = ' '.repeat(first.length);
  const lines = [first];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length > indent.length && line.length + 1 + word.length > COLUMNS) lines.push(indent + word);
    else lines[lines.length - 1] = line.length === indent.length ? line + word : `${line} ${word}`;
  }
  return lines.join('\n');
}

/** What cnpd does in place of a sender; the rest of the component serves the lab's endpoint alone. */
const ENFORCES = /^src\/source\/(?!dcqcn|reaction)/;

/**
 * Whether a line binds the sender alone and nothing else does what it says: cnpd is no sender, so what fulfils it is
 * the lab's RoCE endpoint, with the formats of src/packet. Lines for the sender that a program of cnpd's keeps as well
 * are cnpd's.
 */
function onlyInTheLab({ who }: Requirement, built: ReadonlySet<string>): boolean {
  if (who === 'SRC') return ![...built].some((file) => file.startsWith('bpf/') || ENFORCES.test(file));
  return who.split(',').includes('SRC') && built.size > 0 && [...built].every((file) => file.startsWith('src/lab/'));
}

/** Why a line is without a test, when no note says. */
export const untested = (
  id: string,
  built: ReadonlyMap<string, unknown>,
  skipped: ReadonlyMap<string, Set<string>>,
): string =>
  skipped.has(id)
    ? `**its test is skipped** in ${cell(skipped.get(id))}`
    : built.has(id)
      ? '**no test yet**'
      : '**not built yet**';

export function conformanceDocument(): string {
  const all = notes();
  const { built, tested, skipped } = citations();
  let inLab = 0;
  const entries = requirements().map((r) => {
    const where = cell(tested.get(r.id));
    const lab = where !== '' && onlyInTheLab(r, built.get(r.id) ?? new Set());
    if (lab) inLab++;
    const note = noteFor(r.id, all);
    // A note of a whole draft ("not built yet") says nothing about a line that has a test; one of this very line does.
    const proof = where
      ? [where, ...(all.has(r.id) ? [note] : [])].join('; ')
      : (note ?? untested(r.id, built, skipped));
    const places = [lab ? '**lab**' : '', cell(built.get(r.id))].filter((part) => part !== '').join(', ');
    return [
      wrapped(`**${r.id}** (${r.level}) ${r.text}`, '- '),
      ...(places === '' ? [] : [wrapped(`built in ${places}`, '  - ')]),
      wrapped(where ? `tested in ${proof}` : `not tested: ${proof}`, '  - '),
    ].join('\n');
  });
  const count = requirements().filter((r) => tested.has(r.id)).length;
  return [
    '# Conformance',
    '',
    wrapped(
      'Generated from the tests by `npm run conformance`; do not edit. Requirement IDs are ' +
        '`<draft>-<section>-<letter>`: LHCNP = Long-haul CNP, FCNP = Fast CNP, PNC = Fast CNP with Proxy, ' +
        'FCN = END.CON, RMC = End.MT; A1…A20 are acceptance criteria drawn from the numbers in the drafts.',
    ),
    '',
    wrapped(
      `${count} of ${requirements().length} lines are named by a test that runs. ${inLab} of these are for the sender, ` +
        'which cnpd is not: what fulfils them is the RoCE endpoint of the lab, and "built in" says **lab**.',
    ),
    '',
    ...entries,
    '',
  ].join('\n');
}
