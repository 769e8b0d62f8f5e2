// `cnpctl support-bundle`: what somebody needs who looks into a fault, in one archive. What cannot be had is noted in
// its manifest; secrets are masked.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type TarEntry, packTar } from 'modern-tar';
import { messageOf } from '../../model/error-text.ts';
import { MASK } from '../../model/masks.ts';
import { CONFIG_FILE } from '../../model/paths.ts';
import { type Context, print, printJson } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { Secrets, secretsIn } from './mask.ts';
import { type PartsOf, type Wanted, partsOf } from './parts.ts';
import { type BundleSources, PART_BYTES, PART_TIMEOUT_MS, type Part } from './sources.ts';

const AT_ONCE = 4;

interface Status {
  readonly intent: { readonly file: string };
}

/** A line of the manifest. */
interface Noted {
  readonly file: string;
  readonly ok: boolean;
  readonly bytes?: number;
  readonly truncated?: true;
  readonly error?: string;
}

interface Collected {
  readonly wanted: Wanted;
  readonly part?: Part;
  readonly error?: string;
}

export interface BundleOptions {
  /** Default: the file of the running cnpd. */
  readonly config?: string;
}

/** Exit code 1: cnpd did not answer; the bundle has the rest. */
export async function supportBundle(
  context: Context,
  given: string | undefined,
  options: BundleOptions,
): Promise<ExitCode> {
  const sources = await context.bundleSources();
  const at = new Date(context.nowMs());
  const name = `cnpd-support-${sources.hostname()}-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const path = given ?? `${name}.tar.gz`;
  const client = context.connect({ socket: context.options.socket, timeoutMs: PART_TIMEOUT_MS });
  const { file, unanswered } = await client.get(['cnpd', 'status']).then(
    (status) => ({ file: (status as Status).intent.file, unanswered: undefined }),
    (error: unknown) => ({ file: undefined, unanswered: messageOf(error) }),
  );
  const config = options.config ?? file ?? CONFIG_FILE;
  try {
    const examine = (): ReturnType<Context['examine']> => context.examine(config, { kernel: unanswered !== undefined });
    const parts = { version: context.version, configFile: config, client, sources, examine };
    const { entries, notes } = await bundle(name, parts, at, unanswered);
    sources.writeNew(path, await compressed(entries));
    return report(context, path, notes, unanswered);
  } catch (error) {
    context.err(`cnpctl: the bundle cannot be written: ${messageOf(error)}\n`);
    return EXIT.error;
  } finally {
    client.close();
  }
}

const compressed = async (entries: readonly TarEntry[]): Promise<Uint8Array> => promisify(gzip)(await packTar(entries));

/** @param unanswered why cnpd does not answer */
async function bundle(name: string, parts: PartsOf, at: Date, unanswered: string | undefined) {
  const collected = await collectAll(partsOf(parts));
  const secrets = await secretsOf(collected, parts.sources);
  const made = collected.map((one) => maskedPart(one, secrets));
  const notes = made.map(({ note }) => note);
  const manifest = {
    ...{ made: at.toISOString(), cnpctl: parts.version, cnpd: unanswered === undefined ? 'answers' : unanswered },
    ...{ limits: { bytes: PART_BYTES, milliseconds: PART_TIMEOUT_MS }, masked: MASK, parts: notes },
  };
  const entry = (file: string, text: string): TarEntry => {
    const body = Buffer.from(text);
    return { header: { name: `${name}/${file}`, size: body.length, mode: 0o600, mtime: at }, body };
  };
  const entries = made.flatMap(({ note, text }) => (text === undefined ? [] : [entry(note.file, text)]));
  return { notes, entries: [entry('manifest.json', `${JSON.stringify(manifest, null, 2)}\n`), ...entries] };
}

/** A few at a time, so that one that hangs does not keep the others waiting. */
async function collectAll(wanted: readonly Wanted[]): Promise<Collected[]> {
  const collected: Collected[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < wanted.length) {
      const at = next++;
      collected[at] = await collect(wanted[at]!);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return collected;
}

/** Whatever a part waits for. */
async function collect(wanted: Wanted): Promise<Collected> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Error(`not there within ${(2 * PART_TIMEOUT_MS) / 1000} s`));
    timer = setTimeout(give, 2 * PART_TIMEOUT_MS);
  });
  try {
    return { wanted, part: await Promise.race([(async () => wanted.get())(), late]) };
  } catch (error) {
    return { wanted, error: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

async function secretsOf(collected: readonly Collected[], sources: BundleSources): Promise<Secrets> {
  const secrets = new Secrets();
  for (const { wanted, part } of collected) {
    if (!wanted.hasSecrets || !part) continue;
    secrets.learn(part.text);
    if (wanted.file.endsWith('.yaml')) secrets.add(secretsIn(await sources.parseYaml(part.text)));
  }
  return secrets;
}

function maskedPart({ wanted, part, error }: Collected, secrets: Secrets): { note: Noted; text?: string } {
  const { file, isExact = false } = wanted;
  if (!part) return { note: { file, ok: false, error: secrets.mask(error!) } };
  if (isExact && secrets.isIn(part.text))
    return { note: { file, ok: false, error: 'a secret of the configuration is in it: it is left out' } };
  const masked = isExact ? part.text : file.endsWith('.json') ? secrets.maskJson(part.text) : secrets.mask(part.text);
  const isLong = !isExact && Buffer.byteLength(masked) > PART_BYTES;
  const text = isLong ? Buffer.from(masked).toString('utf8', 0, PART_BYTES) : masked;
  const truncated = isLong || part.truncated === true;
  return { note: { file, ok: true, bytes: Buffer.byteLength(text), ...(truncated && { truncated }) }, text };
}

function report(context: Context, path: string, notes: readonly Noted[], unanswered: string | undefined): ExitCode {
  const missing = notes.filter(({ ok }) => !ok);
  if (unanswered !== undefined)
    context.err(`cnpctl: cnpd does not answer, its state is not in the bundle: ${unanswered}\n`);
  if (context.options.output === 'json') printJson(context, { file: path, parts: notes });
  else
    print(context, [
      `${path}: ${notes.length - missing.length} parts; secrets are masked, addresses and names are not`,
      ...[...byReason(missing)].map(([reason, files]) => `not in it: ${files.join(', ')}: ${reason}`),
    ]);
  return unanswered === undefined ? EXIT.ok : EXIT.problem;
}

/** All that cnpd does not answer has one reason: it is said once. */
function byReason(missing: readonly Noted[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { file, error } of missing) {
    const reason = error!.split('\n')[0]!;
    files.set(reason, [...(files.get(reason) ?? []), file]);
  }
  return files;
}
