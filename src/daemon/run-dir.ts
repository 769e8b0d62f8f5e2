// The run directory /run/cnpd: its file names, shared by start, adoption and uninstall, and the claim on it. Two agents
// in one run directory would detach each other's programs.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** cnpd's private BPF file system: maps under their names, links under `links/`. */
export const bpfDir = (runDir: string): string => join(runDir, 'bpf');
export const linksDir = (runDir: string): string => join(bpfDir(runDir), 'links');
const pidFile = (runDir: string): string => join(runDir, 'cnpd.pid');

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

/** The process that holds the claim, if it is alive. */
export function runDirHolder(runDir: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(pidFile(runDir), 'utf8');
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
  const holder = runDirHolder(runDir);
  if (holder !== undefined && holder !== process.pid) throw new RunDirBusy(runDir, holder);
  rmSync(pidFile(runDir), { force: true });
  // Fails if another agent was faster.
  writeFileSync(pidFile(runDir), `${process.pid} ${startTime(process.pid)}\n`, { flag: 'wx' });
  chmodSync(pidFile(runDir), 0o644);
  return () => rmSync(pidFile(runDir), { force: true });
}
