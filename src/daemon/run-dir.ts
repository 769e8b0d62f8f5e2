// The run directory /run/cnpd: one place for its names, so that start, adoption and uninstall agree, and the claim on
// it: two agents on one run directory would take each other's programs off.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** A BPF file system of cnpd's own: maps under their names, links under `links/`. */
export const bpfDir = (runDir: string): string => join(runDir, 'bpf');
export const linksDir = (runDir: string): string => join(bpfDir(runDir), 'links');
const pidFile = (runDir: string): string => join(runDir, 'cnpd.pid');

export class RunDirBusy extends Error {
  override readonly name = 'RunDirBusy';
  readonly code = 'EBUSY';

  constructor(runDir: string, pid: number) {
    super(`${runDir} is in use by cnpd, process ${pid}: stop it, or give this one a --run-dir of its own`);
  }
}

/**
 * Field 22 of /proc/PID/stat: with the process number it names one process for ever. Undefined when there is no such
 * process, or only its remains: where nobody reaps (a container without an init) a killed agent stays a zombie.
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

/** The process that holds the claim, if it lives. */
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

/** File systems of the kernel's own, where a directory cannot be made; Node.js tries for ever. */
const NO_PLACE = /^\/(proc|sys)(\/|$)/;

const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/**
 * Whatever the umask is, and was when an earlier run made it: nobody else writes there, and the group of the socket in
 * it can pass. Of a directory that is there already only the right of others to write is taken away, unless it is made
 * for that, as /tmp is.
 */
function makeRunDir(runDir: string): void {
  const made = mkdirSync(runDir, { recursive: true }) !== undefined;
  const { uid, mode } = statSync(runDir);
  if (made) chmodSync(runDir, 0o755);
  else if (uid === process.geteuid!() && (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0)
    chmodSync(runDir, mode & 0o777 & ~OTHERS_WRITE);
}

/**
 * Makes the directory and claims it. Returns how to let go.
 * @throws RunDirBusy, RangeError (not an absolute path, or in /proc or /sys)
 */
export function claimRunDir(runDir: string): () => void {
  if (!isAbsolute(runDir) || NO_PLACE.test(resolve(runDir)))
    throw new RangeError(`${runDir} cannot be the run directory: an absolute path outside /proc and /sys is needed`);
  makeRunDir(runDir);
  const holder = runDirHolder(runDir);
  if (holder !== undefined && holder !== process.pid) throw new RunDirBusy(runDir, holder);
  rmSync(pidFile(runDir), { force: true });
  // Fails when another one was quicker.
  writeFileSync(pidFile(runDir), `${process.pid} ${startTime(process.pid)}\n`, { flag: 'wx' });
  chmodSync(pidFile(runDir), 0o644);
  return () => rmSync(pidFile(runDir), { force: true });
}
