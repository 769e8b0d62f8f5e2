// Writes the operator's file as a whole: a temporary file beside it, fsync, rename. Whoever reads it has the former
// content or the new one. Mode and owner stay. Extended attributes and access control lists are not kept.
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../model/error-text.ts';
import { syncDirectory } from './sync-directory.ts';

/** Of a file that was not there: keys may be in it. */
const NEW_MODE = 0o600;
const PERMISSIONS = 0o7777;

/** For cnpctl, and for gNMI. */
const NOT_WRITTEN = 'leave the file as it is: --temporary, or /cnpd/configuration/persistent false';

const HINTS: Readonly<Record<string, string>> = {
  EROFS: `mount the file system so that it can be written, or ${NOT_WRITTEN}`,
  EACCES: 'cnpd may not write in this directory',
  EPERM: 'cnpd cannot give a new file to the owner of the former one: give the file to the user of cnpd',
  EBUSY: `the file is a mount of its own: mount its directory instead, or ${NOT_WRITTEN}`,
  ENOSPC: 'make room',
  EDQUOT: 'make room',
};

/**
 * A link is followed: the file that it names is replaced.
 * @returns why the new file may not survive a power failure; undefined: it does
 * @throws Error; then the file is as it was
 */
export async function writeConfig(file: string, text: string): Promise<string | undefined> {
  const target = await prepared(file, text, (temporary, former) => rename(temporary, former));
  try {
    await syncDirectory(dirname(target));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Writes all but the last step, and takes it back. @throws Error as writeConfig() would */
export async function tryConfig(file: string, text: string, mountinfo = '/proc/self/mountinfo'): Promise<void> {
  await prepared(file, text, async (temporary, target) => {
    if (await isMountPoint(target, mountinfo))
      throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY', syscall: 'rename' });
    await rm(temporary);
  });
}

/** Nothing else tells before the rename: a file that is a mount may be of the same file system as its directory. */
async function isMountPoint(path: string, mountinfo: string): Promise<boolean> {
  const mounts = await readFile(mountinfo, 'utf8');
  return mounts.split('\n').some((line) => unescaped(line.split(' ')[4] ?? '') === path);
}

/** proc(5): blanks and backslashes are octal. */
const unescaped = (field: string): string =>
  field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));

async function prepared(
  file: string,
  text: string,
  last: (temporary: string, target: string) => Promise<void>,
): Promise<string> {
  const target = await realpath(file).catch(() => file);
  const temporary = join(dirname(target), `.${basename(target)}.cnpd-new`);
  try {
    await writeNew(temporary, target, text);
    await last(temporary, target);
    return target;
  } catch (cause) {
    // What is left of it takes the room that is missing.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw explained(file, cause);
  }
}

function explained(file: string, cause: unknown): Error {
  const hint = HINTS[(cause as NodeJS.ErrnoException).code ?? ''];
  return new Error(`${file} cannot be written and is as it was: ${messageOf(cause)}${hint ? ` (${hint})` : ''}`, {
    cause,
  });
}

async function writeNew(temporary: string, target: string, text: string): Promise<void> {
  await rm(temporary, { force: true });
  const former = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, NEW_MODE);
  try {
    await handle.writeFile(text);
    if (former) await giveAs(handle, former);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Owner first: a change of owner clears bits of the mode. */
async function giveAs(handle: FileHandle, former: { uid: number; gid: number; mode: number }): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== former.uid || gid !== former.gid) await handle.chown(former.uid, former.gid);
  await handle.chmod(former.mode & PERMISSIONS);
}
