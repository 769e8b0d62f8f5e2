// What FRR says about itself and about the interface that cnpd uses, asked on the daemons' vty sockets.
import { readFile } from 'node:fs/promises';
import { parseRunningConfig, type RunningConfig } from './running-config.ts';
import { askDaemon, DEFAULT_VTY_DIR, VTY_DEFAULTS, VtyError, type VtyOptions } from './vty.ts';

/** Where FRR's service looks up which daemons to start. */
export const DAEMONS_FILE = '/etc/frr/daemons';

export interface FrrFacts {
  /** Why isisd could not be asked; then `version` and `config` are absent. */
  readonly isisdError?: string;
  /** Whether FRR's service starts isisd; absent where there is no file that says so. */
  readonly isisdEnabled?: boolean;
  /** e.g. `8.4.4` */
  readonly version?: string;
  readonly config?: RunningConfig;
  /** The interface as zebra knows it; null: it does not exist in the kernel. Absent when zebra could not be asked (`zebraError`). */
  readonly link?: { readonly mtu: number; readonly up: boolean } | null;
  readonly zebraError?: string;
}

export interface FrrLocation {
  /** Directory of the vty sockets. */
  readonly vtyDir?: string;
  readonly vty?: VtyOptions;
  readonly daemonsFile?: string;
}

/** Never rejects: what cannot be asked is a fact too. */
export async function gatherFrrFacts(location: FrrLocation, interfaceName: string): Promise<FrrFacts> {
  const dir = location.vtyDir ?? DEFAULT_VTY_DIR;
  const vty = location.vty ?? VTY_DEFAULTS;
  const [isisd, zebra, enabled] = await Promise.all([
    attempt(async () => {
      const [version, config] = await askDaemon(dir, 'isisd', ['show version', 'show running-config'], vty);
      if (config!.status !== 0) throw new VtyError('closed', `isisd: show running-config failed: ${config!.text.trim()}`);
      return { version: /^FRRouting (\d+(?:\.\d+)*)/m.exec(version!.text)?.[1] ?? 'unknown', config: parseRunningConfig(config!.text) };
    }),
    attempt(async () => readLink((await askDaemon(dir, 'zebra', [`show interface ${interfaceName} json`], vty))[0]!.text, interfaceName)),
    attempt(async () => isisdEnabled(await readFile(location.daemonsFile ?? DAEMONS_FILE, 'utf8'))),
  ]);
  return {
    ...('error' in isisd ? { isisdError: isisd.error } : isisd.value),
    ...('error' in zebra ? { zebraError: zebra.error } : { link: zebra.value }),
    ...('error' in enabled ? {} : { isisdEnabled: enabled.value }),
  };
}

async function attempt<T>(ask: () => Promise<T>): Promise<{ value: T } | { error: string }> {
  try {
    return { value: await ask() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** The file is a shell script: the last assignment counts. */
const isisdEnabled = (text: string): boolean => /^["']?yes\b/.test([...text.matchAll(/^\s*isisd=(.*)$/gm)].at(-1)?.[1] ?? '');

/** zebra keeps an entry (`pseudoInterface`, no index) for a configured interface that the kernel does not have. */
function readLink(text: string, name: string): { mtu: number; up: boolean } | null {
  const link = (JSON.parse(text) as Record<string, { index?: number; mtu?: number; operationalStatus?: string } | undefined>)[name];
  return link?.index !== undefined && link.mtu !== undefined ? { mtu: link.mtu, up: link.operationalStatus === 'up' } : null;
}
