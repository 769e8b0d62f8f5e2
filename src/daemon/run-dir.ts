// The run directory /run/cnpd: its file names, shared by start, adoption and uninstall, and the claim on it. Two agents
// in one run directory would detach each other's programs.
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { tryLock } from '../kernel/ffi/libc.ts';
import { readBounded } from './read-bounded.ts';

/** cnpd's private BPF file system: maps under their names, links under `links/`. */
export const bpfDir = (runDir: string): string => join(runDir, 'bpf');
export const linksDir = (runDir: string): string => join(bpfDir(runDir), 'links');

/** Of cnpd in the run directory. */
export const CLAIM_FILES = ['cnpd.claim', 'cnpd.pid'] as const;
/** The process number and the time of its start, which tells it from a later process with the same number. */
const claimFile = (runDir: string): string => join(runDir, CLAIM_FILES[0]);
/** The process number alone, for `kill $(cat …)` and service managers. Up to 0.4.0 it was the claim as well. */
const pidFile = (runDir: string): string => join(runDir, CLAIM_FILES[1]);

export class RunDirBusy extends Error {
  override readonly name = 'RunDirBusy';
  readonly code = 'EBUSY';

  constructor(runDir: string, pid: number) {
    super(`${runDir} is in use by cnpd, process ${pid}: stop it, or give this one another --run-dir`);
  }
}

/**
 * Field 22 of /proc/PID/stat: together with the process number it identifies a process uniquely. Undefined if there is
 * no such process, or only a zombie: in a container without an init, a killed agent stays one.
 */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

const MOST_OF_CLAIM = 1024;

/** The process that holds the claim, if it is alive; also one of 0.4.0 or older. */
export const runDirHolder = (runDir: string): number | undefined =>
  claimedBy(claimFile(runDir)) ?? claimedBy(pidFile(runDir));

function claimedBy(file: string): number | undefined {
  let text: string;
  try {
    // A pipe would be waited for.
    text = readBounded(file, MOST_OF_CLAIM) ?? '';
  } catch {
    return undefined;
  }
  const [pid, started] = text.trim().split(' ');
  return started !== undefined && startTime(Number(pid)) === started ? Number(pid) : undefined;
}

/** Kernel file systems in which no directory can be made. Node.js would try for ever. */
const NO_PLACE = /^\/(proc|sys)(\/|$)/;

const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/**
 * Makes the run directory, whatever the umask is. Only its owner may write, and the group of the socket may enter. An
 * existing directory loses only the write permission of others, unless it is sticky like /tmp.
 */
function makeRunDir(runDir: string): void {
  const made = mkdirSync(runDir, { recursive: true }) !== undefined;
  const { uid, mode } = statSync(runDir);
  if (made) chmodSync(runDir, 0o755);
  else if (uid === process.geteuid!() && (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0)
    chmodSync(runDir, mode & 0o777 & ~OTHERS_WRITE);
}

/**
 * Makes the directory and claims it. The returned function releases the claim.
 * @throws RunDirBusy, RangeError (not an absolute path, or in /proc or /sys)
 */
export function claimRunDir(runDir: string): () => void {
  if (!isAbsolute(runDir) || NO_PLACE.test(resolve(runDir)))
    throw new RangeError(`${runDir} cannot be the run directory: an absolute path outside /proc and /sys is needed`);
  makeRunDir(runDir);
  const remove = (): void => CLAIM_FILES.forEach((name) => rmSync(join(runDir, name), { force: true }));
  inTurn(runDir, () => {
    const holder = runDirHolder(runDir);
    if (holder !== undefined && holder !== process.pid) throw new RunDirBusy(runDir, holder);
    remove();
    writeNew(claimFile(runDir), `${process.pid} ${startTime(process.pid)}\n`);
    writeNew(pidFile(runDir), `${process.pid}\n`);
  });
  return () => {
    if (runDirHolder(runDir) === process.pid) remove();
  };
}

/** Whoever may enter the directory may lock it, too: nobody waits for that for longer. */
const [LOOK_MS, MOST_LOOKS] = [10, 300];

/** Not while another agent looks at the claim and takes it: both would find none. */
function inTurn(directory: string, run: () => void): void {
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (let looks = 0; !tryLock(fd) && looks < MOST_LOOKS; looks++) pause(LOOK_MS);
    run();
  } finally {
    closeSync(fd);
  }
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Follows no symbolic link. @throws Error when there is such a file */
function writeNew(file: string, text: string): void {
  writeFileSync(file, text, { flag: 'wx' });
  chmodSync(file, 0o644);
}
