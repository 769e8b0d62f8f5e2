// What FRR reports about itself and about the interface that cnpd uses, asked on the daemons' vty sockets.
import { readFile } from 'node:fs/promises';
import { type Prefix, parsePrefix } from '../model/prefix.ts';
import { isisInstances, parseRunningConfig, type RunningConfig, splitNet } from './running-config.ts';
import { askDaemon, DEFAULT_VTY_DIR, type FrrDaemon, VTY_DEFAULTS, VtyError, type VtyOptions } from './vty.ts';

/** Where FRR's service looks up which daemons to start. */
export const DAEMONS_FILE = '/etc/frr/daemons';

/** An interface as zebra knows it. */
export interface LinkFacts {
  readonly mtu: number;
  readonly up: boolean;
}

export interface FrrFacts {
  /** Why isisd could not be asked; then `version` and `config` are absent. */
  readonly isisdError?: string;
  /** Whether FRR's service starts isisd; absent where there is no file that says so. */
  readonly isisdEnabled?: boolean;
  /** e.g. `8.4.4` */
  readonly version?: string;
  readonly config?: RunningConfig;
  /** IPv6 prefixes that FRR's own LSPs advertise, in all levels and topologies. */
  readonly advertised?: readonly { readonly prefix: Prefix; readonly metric: number }[];
  /**
   * The interface as zebra knows it; null: it does not exist in the kernel. Absent when zebra could not be asked
   * (`zebraError`).
   */
  readonly link?: LinkFacts | null;
  readonly zebraError?: string;
}

export interface FrrLocation {
  /** Directory of the vty sockets. */
  readonly vtyDir?: string;
  /** The program; default: the one on the search path. */
  readonly vtysh?: string;
  readonly vty?: VtyOptions;
  readonly daemonsFile?: string;
}

/** Program and first arguments with which vtysh reaches this FRR. */
export const vtyshCommand = ({ vtysh = 'vtysh', vtyDir }: FrrLocation): [string, ...string[]] => [
  vtysh,
  ...(vtyDir === undefined ? [] : ['--vty_socket', vtyDir]),
];

/** Never rejects: what cannot be asked is a fact too. */
export async function gatherFrrFacts(location: FrrLocation, interfaceName: string): Promise<FrrFacts> {
  const dir = location.vtyDir ?? DEFAULT_VTY_DIR;
  const vty = location.vty ?? VTY_DEFAULTS;
  const [isisd, zebra, enabled] = await Promise.all([
    attempt(async () => {
      const [version, config] = await askDaemon(dir, 'isisd', ['show version', 'show running-config'], vty);
      if (config!.status !== 0)
        throw new VtyError('closed', `isisd: show running-config failed: ${config!.text.trim()}`);
      const running = parseRunningConfig(config!.text);
      const lsps = await askDaemon(dir, 'isisd', ownLsps(running), vty);
      return {
        version: versionIn(version!.text),
        config: running,
        advertised: lsps.flatMap(({ text }) => advertisedPrefixes(text)),
      };
    }),
    attempt(async () =>
      readLink((await askDaemon(dir, 'zebra', [`show interface ${interfaceName} json`], vty))[0]!.text, interfaceName),
    ),
    attempt(async () => daemonEnabled(await readFile(location.daemonsFile ?? DAEMONS_FILE, 'utf8'), 'isisd')),
  ]);
  return {
    ...('error' in isisd ? { isisdError: isisd.error } : isisd.value),
    ...('error' in zebra ? { zebraError: zebra.error } : { link: zebra.value }),
    ...('error' in enabled ? {} : { isisdEnabled: enabled.value }),
  };
}

/** In the answer to `show version`. */
export const versionIn = (text: string): string => /^FRRouting (\d+(?:\.\d+)*)/m.exec(text)?.[1] ?? 'unknown';

/** What FRR was built with: hash functions of its own, which are MD5 and SHA-256, or those of OpenSSL. */
export type FrrCrypto = 'internal' | 'openssl';

/** In the answer to `show version`; undefined when it does not show how it was built. */
export function cryptoIn(text: string): FrrCrypto | undefined {
  const [, options] = /^configured with:([^]*)/m.exec(text) ?? [];
  return options === undefined ? undefined : options.includes('--with-crypto=openssl') ? 'openssl' : 'internal';
}

/** Fragments of an own LSP that are read: a PE has few prefixes, and FRR fills them in order. */
const LOOKED_AT = 16;

function ownLsps(config: RunningConfig): string[] {
  const systems = isisInstances(config).flatMap(({ nets }) => nets.map((net) => splitNet(net).systemId));
  return [...new Set(systems)].flatMap((system) =>
    Array.from(
      { length: LOOKED_AT },
      (_, i) => `show isis database detail ${system}.00-${i.toString(16).padStart(2, '0')}`,
    ),
  );
}

/** The lines `IPv6 Reachability: 2001:db8::/64 (Metric: 10)`, also of other topologies. */
function advertisedPrefixes(text: string): { prefix: Prefix; metric: number }[] {
  return [...text.matchAll(/IPv6 Reachability: (\S+) \(Metric: (\d+)\)/g)].flatMap(([, shown, metric]) => {
    const prefix = parsePrefix(shown!);
    return prefix ? [{ prefix, metric: Number(metric) }] : [];
  });
}

/** What cannot be had, as the reason why. */
export async function attempt<T>(ask: () => Promise<T>): Promise<{ value: T } | { error: string }> {
  try {
    return { value: await ask() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** The file is a shell script: the last assignment counts. */
export const daemonEnabled = (text: string, daemon: FrrDaemon): boolean =>
  /^["']?yes\b/.test([...text.matchAll(new RegExp(`^\\s*${daemon}=(.*)$`, 'gm'))].at(-1)?.[1] ?? '');

/** zebra keeps an entry (`pseudoInterface`, no index) for a configured interface that the kernel does not have. */
export function readLink(text: string, name: string): LinkFacts | null {
  const link = (
    JSON.parse(text) as Record<string, { index?: number; mtu?: number; operationalStatus?: string } | undefined>
  )[name];
  return link?.index !== undefined && link.mtu !== undefined
    ? { mtu: link.mtu, up: link.operationalStatus === 'up' }
    : null;
}
