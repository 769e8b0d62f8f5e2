// Removes everything that cnpd leaves behind on purpose: attached programs, pinned maps, the BPF file system, its SIDs in the routing table of this network
// namespace, the run directory. The agent must not be running; what it holds open would come back.
import { existsSync, lstatSync, readdirSync, rmSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isBpffs, unmountBpffs } from '../kernel/bpf/bpffs.ts';
import { detachPinnedLink } from '../kernel/bpf/tcx.ts';
import { SidRoutes } from '../kernel/netlink/sid-routes.ts';
import { removeSidRoutes } from '../reconcile/sid-routes.ts';
import { bpfDir, linksDir, runDirHolder } from './run-dir.ts';

const OWN_FILES = ['bpf', 'cnpd.pid', 'gnmi.sock'];

/** Returns the exit code: 0 nothing is left, 1 cnpd is running, or something in the directory is not cnpd's. */
export async function uninstall(runDir: string, say: (line: string) => void): Promise<number> {
  const holder = runDirHolder(runDir);
  if (holder !== undefined) {
    say(`cnpd is running (process ${holder}): stop it first`);
    return 1;
  }
  const bpf = bpfDir(runDir);
  if (existsSync(bpf) && isBpffs(bpf)) {
    const links = linksDir(runDir);
    for (const pin of existsSync(links) ? readdirSync(links) : []) {
      detachPinnedLink(join(links, pin));
      say(`detached ${pin}`);
    }
    // The kernel puts maps.debug and progs.debug into every new BPF file system; they cannot be removed and go with the mount.
    const maps = readdirSync(bpf).filter((name) => name !== 'links' && !name.endsWith('.debug'));
    for (const name of maps) rmSync(join(bpf, name));
    if (maps.length > 0) say(`removed ${maps.length} maps`);
    unmountBpffs(bpf);
  }
  const routes = SidRoutes.open();
  for (const sid of removeSidRoutes(routes)) say(`removed the route of ${sid}`);
  routes.close();
  return removeOwnFiles(runDir, say);
}

/** Removes what cnpd itself puts there, and the directory if nothing else is in it: a directory that somebody named by mistake keeps its content. */
function removeOwnFiles(runDir: string, say: (line: string) => void): number {
  if (!existsSync(runDir)) {
    say(`${runDir} does not exist: nothing to remove`);
    return 0;
  }
  for (const name of OWN_FILES) {
    const path = join(runDir, name);
    // A directory must be empty, which an unmounted BPF file system leaves.
    if (existsSync(path)) (lstatSync(path).isDirectory() ? rmdirSync : unlinkSync)(path);
  }
  const left = readdirSync(runDir);
  if (left.length > 0) {
    say(`${runDir} holds files that are not cnpd's and stays: ${left.slice(0, 5).join(', ')}`);
    return 1;
  }
  rmdirSync(runDir);
  say(`removed ${runDir}`);
  return 0;
}
