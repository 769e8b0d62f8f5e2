// Removes everything that cnpd leaves behind on purpose: attached programs, pinned maps, the BPF file system, its SIDs,
// the queues of held flows, and the routes and the device of groups in this network namespace, the run directory. The
// agent must not be running, since it would restore them. Objects of others, and objects that cannot be removed, stay
// and are reported; the rest is removed.
import { type Dirent, existsSync, lstatSync, readdirSync, rmSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isBpffs, unmountBpffs } from '../kernel/bpf/bpffs.ts';
import { markedFilter } from '../kernel/bpf/clsact.ts';
import { isKept, keptDirectory } from '../kernel/bpf/kept-object.ts';
import { detachPinnedLink } from '../kernel/bpf/tcx.ts';
import { isKernelError } from '../kernel/errors.ts';
import { removeEmptyClsact } from '../kernel/netlink/clsact-qdisc.ts';
import { removeHoldQueues } from '../kernel/netlink/fq.ts';
import { SidRoutes } from '../kernel/netlink/sid-routes.ts';
import { NamespaceBusy, lockNetns } from '../kernel/netns-lock.ts';
import { messageOf } from '../model/error-text.ts';
import { CLEARED_COUNTERS, GNMI_SOCKET, configSocketOf, setSocketOf, stateDirOf } from '../model/paths.ts';
import { connectError } from '../northbound/socket.ts';
import { isMapPin } from '../reconcile/pin-names.ts';
import { removeTrees } from '../reconcile/multicast/remove-trees.ts';
import { removeSidRoutes } from '../reconcile/sid-routes.ts';
import { FEATURE_FILES } from './kept-features.ts';
import { MEMBER_FILES, keptMembers } from './member-store.ts';
import { CLAIM_FILES, bpfDir, linksDir, runDirHolder } from './run-dir.ts';
import { uninstallGobgp } from './uninstall-gobgp.ts';

const SOCKET = basename(GNMI_SOCKET);
const SOCKETS = [SOCKET, setSocketOf(SOCKET), configSocketOf(SOCKET)];
const OWN_FILES = [...CLAIM_FILES, ...SOCKETS, CLEARED_COUNTERS, ...MEMBER_FILES, ...FEATURE_FILES];
const LINKS = 'links';
const NOBODY_THERE = ['ECONNREFUSED', 'ENOENT', 'ENOTDIR'];

/**
 * @param lock locks the network namespace, whose SIDs are removed too, until the returned function is called; throws
 * NamespaceBusy
 * @param stateDir persistent members in it are what an operator has declared, as cnpd.yaml is: they are named, and stay
 * @returns the exit code. 0: nothing else is left. 1: cnpd is running, or something is left that is not cnpd's or
 * cannot be removed.
 */
export async function uninstall(
  runDir: string,
  say: (line: string) => void,
  lock: () => () => void = lockNetns,
  stateDir = stateDirOf(runDir),
): Promise<number> {
  let release: (() => void) | undefined;
  try {
    const holder = await holderOf(runDir);
    if (holder !== undefined) {
      say(`cnpd is running (${holder}): stop it first`);
      return 1;
    }
    // Keeps a cnpd from starting meanwhile.
    release = lock();
    return await removeAll(runDir, stateDir, say);
  } catch (error) {
    if (!(error instanceof NamespaceBusy) && !isKernelError(error, 'EPERM')) throw error;
    say(
      error instanceof NamespaceBusy
        ? error.message
        : `cannot tell whether cnpd runs in this network namespace: ${error.message}: run this as root`,
    );
    return 1;
  } finally {
    release?.();
  }
}

/**
 * The user of the run directory. The pid file may be gone, and cnpd may run in another network namespace, so the socket
 * is tried too.
 */
async function holderOf(runDir: string): Promise<string | undefined> {
  const holder = runDirHolder(runDir);
  if (holder !== undefined) return `process ${holder}`;
  const socket = join(runDir, SOCKET);
  const refused = existsSync(socket) ? await connectError(socket) : 'ENOENT';
  if (refused === undefined) return `${socket} answers`;
  return NOBODY_THERE.includes(refused) ? undefined : `or cannot be asked: ${socket}: ${refused}`;
}

async function removeAll(runDir: string, stateDir: string | undefined, say: (line: string) => void): Promise<number> {
  const task = new Task(say);
  task.attempt(bpfDir(runDir), () => removePins(runDir, task));
  task.attempt('the routes of the SIDs', () => {
    const routes = SidRoutes.open();
    for (const sid of removeSidRoutes(routes)) say(`removed the route of ${sid}`);
    routes.close();
  });
  task.attempt('the queues of held flows', () => {
    for (const name of removeHoldQueues()) say(`removed the queues of held flows at ${name}`);
  });
  task.attempt('the routes of groups', () => {
    for (const what of removeTrees()) say(`removed ${what}`);
  });
  if (!(await uninstallGobgp(runDir, say))) task.left++;
  removeOwnFiles(runDir, task);
  if (stateDir !== undefined)
    task.attempt(stateDir, () => {
      const kept = keptMembers(stateDir);
      if (kept !== undefined) say(`kept ${kept}`);
      else if (existsSync(stateDir) && readdirSync(stateDir).length === 0) rmdirSync(stateDir);
    });
  return task.left === 0 ? 0 : 1;
}

/** Reports each step, and counts what is left. */
class Task {
  readonly say: (line: string) => void;
  left = 0;

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  leave(what: string, why: string): void {
    this.left++;
    this.say(`left ${what}: ${why}`);
  }

  attempt(what: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.leave(what, messageOf(error));
    }
  }
}

/**
 * Removes links and maps, and unmounts the file system if it holds nothing else: unmounting removes all its content.
 */
function removePins(runDir: string, task: Task): void {
  const [bpf, links] = [bpfDir(runDir), linksDir(runDir)];
  if (!existsSync(bpf) || !isBpffs(bpf)) return;
  const before = task.left;
  for (const entry of existsSync(links) ? readdirSync(links, { withFileTypes: true }) : [])
    removeLink(links, entry, task);
  removePrograms(bpf, task);
  // Every new BPF file system contains maps.debug and progs.debug. They cannot be removed and vanish with the mount, as
  // do empty folders and symbolic links.
  const entries = readdirSync(bpf, { withFileTypes: true }).filter(
    ({ name }) => name !== LINKS && !name.endsWith('.debug'),
  );
  const files = entries.filter((entry) => entry.isFile());
  const maps = files.filter(({ name }) => isMapPin(name));
  for (const { name } of maps) task.attempt(join(bpf, name), () => rmSync(join(bpf, name)));
  if (maps.length > 0) task.say(`removed ${maps.length} maps`);
  const foreign = [
    ...files.filter(({ name }) => !isMapPin(name)),
    ...entries.filter((entry) => entry.isDirectory() && holdsPins(join(bpf, entry.name))),
  ];
  for (const { name } of foreign) {
    task.leave(
      join(bpf, name),
      `not cnpd's, and the BPF file system that holds it. Remove it and run this again, or \`umount ${bpf}\``,
    );
  }
  if (task.left > before) {
    if (existsSync(links) && !holdsPins(links)) rmSync(links, { recursive: true });
    return;
  }
  unmountBpffs(bpf);
}

function removePrograms(bpf: string, task: Task): void {
  const kept = keptDirectory(bpf);
  if (!existsSync(kept) || !lstatSync(kept).isDirectory()) return;
  const own = readdirSync(kept).filter(isKept);
  for (const name of own) task.attempt(join(kept, name), () => rmSync(join(kept, name), { recursive: true }));
  if (own.length > 0) task.say(`removed the programs of ${own.length} objects`);
  if (readdirSync(kept).length === 0) rmdirSync(kept);
}

function removeLink(links: string, entry: Dirent, task: Task): void {
  const path = join(links, entry.name);
  if (entry.isDirectory()) {
    if (holdsPins(path)) task.leave(path, "not cnpd's");
    else rmSync(path, { recursive: true });
    return;
  }
  task.attempt(path, () => {
    const filter = markedFilter(path);
    // Without the filter, the mark may come from another network namespace, and the qdisc may belong to another
    // program.
    const ownsClsact = filter?.exists() === true;
    if (filter) filter.detachFilter();
    else detachPinnedLink(path);
    task.say(`detached ${entry.name}`);
    if (!filter || !ownsClsact) return;
    task.attempt(`the clsact qdisc of ${entry.name}`, () => {
      if (removeEmptyClsact(filter.ifindex)) task.say(`removed the empty clsact qdisc of ${entry.name}`);
    });
  });
}

/** Whether a directory contains a file at any depth, other than folders and symbolic links. */
const holdsPins = (directory: string): boolean =>
  readdirSync(directory, { withFileTypes: true, recursive: true }).some((entry) => entry.isFile());

/** Also a symbolic link to nothing. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Removes cnpd's own files, and the directory if it is then empty. A directory named by mistake keeps its content. */
function removeOwnFiles(runDir: string, task: Task): void {
  if (!existsSync(runDir)) return task.say(`${runDir} does not exist: nothing to remove`);
  const bpf = bpfDir(runDir);
  // An unmounted BPF file system leaves an empty directory. If it was unmounted under a running cnpd, `links/` may also
  // exist on the disk below.
  for (const path of [linksDir(runDir), bpf])
    if (existsSync(path) && !isBpffs(path)) task.attempt(path, () => rmdirSync(path));
  for (const path of OWN_FILES.map((name) => join(runDir, name)).filter(isThere)) {
    task.attempt(path, () => (lstatSync(path).isDirectory() ? rmdirSync : unlinkSync)(path));
  }
  const left = readdirSync(runDir);
  if (left.length > 0) {
    const others = left.filter((name) => name !== 'bpf');
    if (others.length > 0) task.leave(runDir, `it holds files that are not cnpd's: ${others.slice(0, 5).join(', ')}`);
    return;
  }
  task.attempt(runDir, () => {
    rmdirSync(runDir);
    task.say(`removed ${runDir}`);
  });
}
