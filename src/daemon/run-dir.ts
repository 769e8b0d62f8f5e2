// Where things live under /run/cnpd: one place for the names, so that start, adoption and uninstall agree.
import { join } from 'node:path';

export const DEFAULT_RUN_DIR = '/run/cnpd';

/** A BPF file system of cnpd's own: maps under their names, links under `links/`. */
export const bpfDir = (runDir: string): string => join(runDir, 'bpf');
export const linksDir = (runDir: string): string => join(bpfDir(runDir), 'links');
