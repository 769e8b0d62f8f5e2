// Removes everything that cnpd leaves behind on purpose: attached programs, pinned maps, the BPF file system, the run directory. The agent must not be
// running; what it holds open would come back.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isBpffs, unmountBpffs } from '../kernel/bpf/bpffs.ts';
import { detachPinnedLink } from '../kernel/bpf/tcx.ts';
import { bpfDir, linksDir, runDirHolder } from './run-dir.ts';

/** Returns the exit code: 0 nothing is left, 1 cnpd is running. */
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
  rmSync(runDir, { recursive: true, force: true });
  say(`removed ${runDir}`);
  return 0;
}
