// cnpd.yaml as text → Intent, or everything that is wrong with it at once. Pure: the caller reads the file.
import type * as z from 'zod';
import { type Result, fail, ok } from '../model/result.ts';
import { HIDDEN } from '../model/masks.ts';
import { buildIntent } from './build.ts';
import { oversizedInTree } from './capacity.ts';
import { type IntentError, describeFound, formatPath, printable } from './errors.ts';
import type { Intent } from './intent.ts';
import { violations } from './rules.ts';
import { cnpdSchema } from './schema.ts';
import { refusalOf } from './refused-keys.ts';
import type { IssueParams } from './schema-parts.ts';
import { isSafeName, shownPath, shownValue } from './secrets.ts';
import { type Source, readOutline, readSource } from './yaml.ts';
import { groupName } from './values.ts';
import { type Path, nearest } from './words.ts';

/** More errors than these say nothing more, and finding their places takes time. */
const MAX_ERRORS = 200;

/** Names in a file that only this machine can resolve. */
interface Machine {
  groupExists(name: string): boolean;
}

/**
 * @param file name of the file, for messages only
 * @param machine absent: its answers are assumed to be positive
 */
export function loadIntent(text: string, file: string, machine?: Machine): Result<Intent, IntentError[]> {
  const source = readSource(text);
  if (!source.ok) return fail(ordered(source.error.map((e) => ({ ...e, file, path: formatPath(shownPath(e.path)) }))));
  return intentOf(source.value, file, machine);
}

/**
 * The intent as it is outside long lists, of which it has some entries alone. It costs a part of the whole. Undefined:
 * the text has no long list, or something is wrong with it.
 */
export function outlineOf(text: string): Intent | undefined {
  const source = readOutline(text);
  const intent = source && intentOf(source, '');
  return intent?.ok ? intent.value : undefined;
}

/** As loadIntent(), of what has been read. */
export function intentOf(source: Source, file: string, machine?: Machine): Result<Intent, IntentError[]> {
  const { tree, errors } = source;
  const locate = new Locator(file, source);
  const refused = errors.slice(0, MAX_ERRORS).map((e) => ({ ...e, file, path: formatPath(shownPath(e.path)) }));
  const long = oversizedInTree(tree).map(({ path, ...what }) => locate.error(path, what));
  if (long.length > 0) return fail(ordered([...refused, ...long]));
  let broken: readonly ReturnType<typeof violations>[number][] = [];
  // `when` makes the rules run although some values are wrong.
  const withRules = cnpdSchema.superRefine(
    (declared) => {
      broken = violations(declared);
    },
    { when: () => true },
  );
  const parsed = withRules.safeParse(tree ?? Object.create(null));
  const found = [
    ...refused,
    ...(parsed.error?.issues ?? []).slice(0, MAX_ERRORS).flatMap((issue) => fromIssue(issue, locate)),
    ...(machine ? GROUP_KEYS.flatMap((key) => unknownGroup(['gnmi', key], locate, machine)) : []),
    ...broken.slice(0, MAX_ERRORS).map(({ path, allowed, reason }) => locate.error(path, { allowed, message: reason })),
  ];
  return found.length === 0 && parsed.success ? ok(buildIntent(parsed.data)) : fail(ordered(found));
}

function ordered(errors: readonly IntentError[]): IntentError[] {
  const seen = new Set<string>();
  const unique = errors.filter((e) => {
    // The content of an alias or a tag is reported once, as alias or tag.
    const place = `${e.line}:${e.column}:${e.path}`;
    return !seen.has(place) && seen.add(place);
  });
  return unique.sort((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_ERRORS);
}

/** Gives errors their place. */
class Locator {
  private readonly file: string;
  private readonly source: Source;

  constructor(file: string, source: Source) {
    this.file = file;
    this.source = source;
  }

  error(
    path: Path,
    what: { allowed: string; message?: string; found?: string; of?: 'key' | 'value'; shown?: Path },
  ): IntentError {
    const found = what.found ?? this.describe(path);
    const message =
      what.message ??
      (found === 'nothing' ? `missing; allowed: ${what.allowed}` : `found ${found}; allowed: ${what.allowed}`);
    return {
      file: this.file,
      ...this.source.locate(path, what.of),
      path: formatPath(what.shown ?? shownPath(path)),
      found,
      allowed: what.allowed,
      message,
    };
  }

  private describe(path: Path): string {
    const value = this.at(path);
    if (typeof value !== 'string') return describeFound(value);
    const shown = shownValue(path, value);
    return shown === undefined ? HIDDEN : describeFound(shown);
  }

  at(path: Path): unknown {
    return path.reduce<unknown>(
      (node, step) =>
        typeof node === 'object' && node !== null ? (node as Record<string | number, unknown>)[step] : undefined,
      this.source.tree,
    );
  }
}

const GROUP_KEYS = ['socket-group', 'set-group'];

/** A number need not be a group's. An invalid name is refused as such. */
function unknownGroup(path: Path, locate: Locator, machine: Machine): IntentError[] {
  const group = locate.at(path);
  if (typeof group !== 'string' || !groupName.parse(group).ok || /^\d+$/.test(group) || machine.groupExists(group))
    return [];
  const allowed = 'a group of this machine';
  const message =
    `this machine has no group ${group} (\`getent group ${group}\` finds none): \`groupadd --system ${group}\`, ` +
    'or name another';
  return [locate.error(path, { allowed, message })];
}

function fromIssue(issue: z.core.$ZodIssue, locate: Locator): IntentError[] {
  const path = issue.path.filter((step): step is string | number => typeof step !== 'symbol');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MAX_ERRORS).map((key) => unknownKey(path, key, issue.message, locate));
  if (issue.code !== 'custom') return [locate.error(path, { allowed: issue.message })];
  const params = issue.params as unknown as IssueParams;
  const details = { allowed: params.allowed, ...(params.reason !== undefined && { message: params.reason }) };
  return [
    locate.error(
      path,
      params.secret
        ? {
            ...details,
            found: 'a key that is not printed',
            message: params.reason ?? `missing or malformed; allowed: ${params.allowed}`,
          }
        : details,
    ),
  ];
}

function unknownKey(path: Path, key: string, known: string, locate: Locator): IntentError {
  const shown = isSafeName(path, key, (locate.at([...path, key]) ?? null) !== null) ? key : HIDDEN;
  const refusal = refusalOf([...path, key]);
  if (refusal !== undefined) return locate.error([...path, key], { allowed: known, message: refusal, of: 'key' });
  const meant = nearest(key, known.split(', '));
  const found = `unknown key "${printable(shown, 60)}"`;
  const message = `${found}; ${meant ? `did you mean "${meant}"?` : `allowed: ${known}`}`;
  return locate.error([...path, key], { allowed: known, found, message, of: 'key', shown: [...path, shown] });
}
