// Where members that were declared at run time are kept. `members.json` in the run directory has all of them, and a
// restarted agent believes it: it survives the agent, not a reboot. The one in the state directory has those that
// survive a reboot. Each is written as a whole: temporary file, fsync, rename. The file of the run directory is renamed
// first, and decides: before it the request is not done, after it the request is done. If the second rename fails, the
// first is undone. After a crash between them, the first request of the next run writes the other one.
import { renameSync, unlinkSync } from 'node:fs';
import { mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NO_GROUPS, type RunTimeGroups, changedGroups } from '../intent/run-time-groups.ts';
import { formatAddress } from '../model/address.ts';
import { messageOf } from '../model/error-text.ts';
import type { GroupChange } from '../model/group-change.ts';
import { readBounded } from './read-bounded.ts';
import { syncDirectory } from './sync-directory.ts';

const NAME = 'members.json';
/** As left in a directory: for uninstall. */
export const MEMBER_FILES = [NAME, `${NAME}.new`, `${NAME}.bad`];

const VERSION = 1;
/** 4,096 members with all their leaves are less than a quarter of it. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface StoreOptions {
  readonly runDir: string;
  /** Absent: nothing can be persistent. */
  readonly stateDir?: string | undefined;
}

/** A file that could not be read. */
export interface Unreadable {
  /** One sentence, with its path. */
  readonly reason: string;
  /** Why it could not be renamed: it stays until the next write replaces it. Absent: it has the suffix .bad. */
  readonly notSetAside?: string;
}

export interface Loaded {
  readonly groups: RunTimeGroups;
  readonly unreadable: readonly Unreadable[];
}

export class MemberStore {
  readonly #run: string;
  readonly #state: string | undefined;
  /** Text of the file in the state directory. */
  #persisted: string | undefined;
  /** Text of the file in the run directory. */
  #kept: string | undefined;

  constructor({ runDir, stateDir }: StoreOptions) {
    this.#run = join(runDir, NAME);
    this.#state = stateDir === undefined ? undefined : join(stateDir, NAME);
  }

  get canPersist(): boolean {
    return this.#state !== undefined;
  }

  load(): Loaded {
    const unreadable: Unreadable[] = [];
    const read = (path: string): RunTimeGroups | undefined => {
      try {
        const text = readBounded(path, MAX_BYTES);
        if (text === undefined) return undefined;
        if (path === this.#state) this.#persisted = text;
        else this.#kept = text;
        return parseDocument(text);
      } catch (error) {
        unreadable.push({ reason: `${path}: ${messageOf(error)}`, ...setAside(path) });
        return undefined;
      }
    };
    const atBoot = this.#state === undefined ? undefined : read(this.#state);
    return { groups: read(this.#run) ?? atBoot ?? NO_GROUPS, unreadable };
  }

  /** @throws the system's error; then nothing has changed */
  async write(groups: RunTimeGroups): Promise<void> {
    const all = document(groups, () => true);
    const kept = document(groups, ({ persistent }) => persistent);
    const persists = this.#state !== undefined && kept !== (this.#persisted ?? document(NO_GROUPS, () => true));
    await writeNew(this.#run, all);
    if (persists) await writeNew(this.#state!, kept);
    try {
      await replace(this.#run);
      if (persists) await replace(this.#state!);
    } catch (error) {
      await this.#restore();
      throw error;
    }
    this.#kept = all;
    if (persists) this.#persisted = kept;
  }

  /** @throws the system's error: the run directory then has what was refused */
  async #restore(): Promise<void> {
    if (this.#kept === undefined) return rm(this.#run, { force: true });
    await writeNew(this.#run, this.#kept);
    await replace(this.#run);
  }
}

/**
 * What a state directory keeps when cnpd is removed, as a sentence: the next cnpd declares its members again.
 * Undefined: nothing; a file without members is removed.
 *
 * @throws the system's error
 */
export function keptMembers(stateDir: string): string | undefined {
  const path = join(stateDir, NAME);
  const text = readBounded(path, MAX_BYTES);
  if (text === undefined) return undefined;
  const counts = [...parseDocument(text).values()].map(({ members }) => members.size);
  const count = counts.reduce((sum, one) => sum + one, 0);
  if (count > 0)
    return (
      `${path}: ${count} persistent ${count === 1 ? 'member' : 'members'} of groups, which the next cnpd declares ` +
      'again; remove the file if it shall not'
    );
  unlinkSync(path);
  return undefined;
}

type Kept = (member: { readonly persistent: boolean }) => boolean;

/** As a gNMI value of the groups, so that it is read as a request is. */
export function document(groups: RunTimeGroups, isKept: Kept): string {
  const shown = [...groups.values()].flatMap(({ proxyAddress, name, designatedQpn, members }) => {
    const kept = [...members.values()].filter(isKept);
    if (kept.length === 0) return [];
    return {
      'proxy-address': formatAddress(proxyAddress),
      ...(name !== undefined && { name }),
      ...(designatedQpn !== undefined && { 'designated-qpn': designatedQpn }),
      member: kept.map(({ role, address, persistent, values }) => ({
        role,
        address: formatAddress(address),
        ...values,
        persistent,
      })),
    };
  });
  return `${JSON.stringify({ version: VERSION, groups: shown })}\n`;
}

/** @throws Error with the reason */
export function parseDocument(text: string): RunTimeGroups {
  const parsed = JSON.parse(text) as { readonly version?: unknown; readonly groups?: unknown } | null;
  if (parsed?.version !== VERSION) throw new Error(`its version is not ${VERSION}`);
  if (!Array.isArray(parsed.groups)) throw new Error('it has no list of groups');
  const changes = (parsed.groups as readonly unknown[]).map((value): GroupChange => {
    const group = (value as { readonly 'proxy-address'?: unknown } | null)?.['proxy-address'];
    if (typeof group !== 'string') throw new Error('a group has no Proxy Address');
    return { operation: 'update', group, value };
  });
  const groups = changedGroups(NO_GROUPS, changes);
  if (!groups.ok) throw new Error(groups.error.errors.join('; '));
  return groups.value;
}

/** So that an operator can look at it. */
function setAside(path: string): Pick<Unreadable, 'notSetAside'> {
  try {
    renameSync(path, `${path}.bad`);
    return {};
  } catch (error) {
    return { notSetAside: messageOf(error) };
  }
}

/** R_Keys are in it. */
const MODE = 0o600;

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  try {
    // Follows no symbolic link, and writes into no file of others.
    await unlink(temporary).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const file = await open(temporary, 'wx', MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    // What is left of it takes the space that is missing. The first error is the one to report.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function replace(path: string): Promise<void> {
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
}
