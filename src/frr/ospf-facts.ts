// What FRR's ospfd or ospf6d reports about itself, and zebra about the interfaces that cnpd uses, asked on their vty
// sockets.
import { readFile } from 'node:fs/promises';
import { type Prefix, parsePrefix } from '../model/prefix.ts';
import {
  DAEMONS_FILE,
  type FrrCrypto,
  type FrrLocation,
  type LinkFacts,
  attempt,
  cryptoIn,
  daemonEnabled,
  readLink,
  versionIn,
} from './frr-facts.ts';
import { type OspfVersionNumber } from './ospf-config.ts';
import { type RunningConfig, parseRunningConfig } from './running-config.ts';
import { DEFAULT_VTY_DIR, VTY_DEFAULTS, VtyError, askDaemon } from './vty.ts';

interface OspfProcess {
  /** Dotted quad. */
  readonly routerId: string;
  /** Whether opaque LSAs are taken; OSPFv3 needs no such thing. */
  readonly opaque: boolean;
}

export interface OspfFacts {
  /** Why the daemon could not be asked; then `version`, `config` and `process` are absent. */
  readonly error?: string;
  /** Whether FRR's service starts it; absent where there is no file that says so. */
  readonly enabled?: boolean;
  readonly version?: string;
  /** Whose hash functions it has; absent when it does not report it. */
  readonly crypto?: FrrCrypto;
  readonly config?: RunningConfig;
  /** The instance of the default VRF as it runs; null: there is none. */
  readonly process?: OspfProcess | null;
  /**
   * OSPFv3 only: prefixes that ospf6d's own LSAs advertise, in all areas; absent when it does not report them (FRR 8.1
   * and older).
   */
  readonly advertised?: readonly Prefix[];
  /** By name; null: it does not exist in the kernel. Absent when zebra could not be asked (`zebraError`). */
  readonly links?: ReadonlyMap<string, LinkFacts | null>;
  readonly zebraError?: string;
}

export const OSPF_DAEMON = { 2: 'ospfd', 3: 'ospf6d' } as const;
const PROCESS = { 2: 'show ip ospf json', 3: 'show ipv6 ospf6 json' } as const;
const OWN_LSAS = 'show ipv6 ospf6 database self-originated json';
/** As ospf6d abbreviates the LSAs by which others route: Intra-Area-Prefix, Inter-Area-Prefix, AS-External. */
const PREFIX_LSAS: ReadonlySet<string> = new Set(['INP', 'IAP', 'ASE']);
/** RFC 2328 appendix B. */
const MAX_AGE_SECONDS = 3600;

/** Never rejects: what cannot be asked is a fact too. */
export async function gatherOspfFacts(
  location: FrrLocation,
  version: OspfVersionNumber,
  interfaces: readonly string[],
): Promise<OspfFacts> {
  const dir = location.vtyDir ?? DEFAULT_VTY_DIR;
  const vty = location.vty ?? VTY_DEFAULTS;
  const daemon = OSPF_DAEMON[version];
  const [asked, zebra, enabled] = await Promise.all([
    attempt(async () => {
      const own = version === 3 ? [OWN_LSAS] : [];
      const [shown, config, running, lsas] = await askDaemon(
        dir,
        daemon,
        ['show version', 'show running-config', PROCESS[version], ...own],
        vty,
      );
      if (config!.status !== 0)
        throw new VtyError('closed', `${daemon}: show running-config failed: ${config!.text.trim()}`);
      const advertised = lsas && advertisedPrefixes(lsas.text);
      const crypto = cryptoIn(shown!.text);
      return {
        version: versionIn(shown!.text),
        ...(crypto && { crypto }),
        config: parseRunningConfig(config!.text),
        process: readProcess(version, running!.text),
        ...(advertised && { advertised }),
      };
    }),
    attempt(async () => {
      const replies = await askDaemon(
        dir,
        'zebra',
        interfaces.map((name) => `show interface ${name} json`),
        vty,
      );
      return new Map(interfaces.map((name, i) => [name, readLink(replies[i]!.text, name)] as const));
    }),
    attempt(async () => daemonEnabled(await readFile(location.daemonsFile ?? DAEMONS_FILE, 'utf8'), daemon)),
  ]);
  return {
    ...('error' in asked ? { error: asked.error } : asked.value),
    ...('error' in zebra ? { zebraError: zebra.error } : { links: zebra.value }),
    ...('error' in enabled ? {} : { enabled: enabled.value }),
  };
}

/** Without an instance the daemons answer with nothing, with `{}` or with a sentence. */
function readProcess(version: OspfVersionNumber, text: string): OspfProcess | null {
  if (!text.trimStart().startsWith('{')) return null;
  const { routerId, opaqueCapable } = JSON.parse(text) as { routerId?: string; opaqueCapable?: boolean };
  return routerId === undefined ? null : { routerId, opaque: version === 3 || opaqueCapable === true };
}

interface ShownLsas {
  readonly lsa?: readonly { readonly type: string; readonly age: number; readonly payload: string }[];
}

/**
 * By scope: one list per area, and one for the AS. An LSA of several prefixes is listed once for each; prefixes being
 * withdrawn do not count.
 */
export function advertisedPrefixes(text: string): Prefix[] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const scopes = Object.values(JSON.parse(text) as Record<string, readonly ShownLsas[]>);
  const lsas = scopes.flat().flatMap(({ lsa }) => lsa ?? []);
  return lsas.flatMap(({ type, age, payload }) =>
    PREFIX_LSAS.has(type) && age < MAX_AGE_SECONDS ? (parsePrefix(payload) ?? []) : [],
  );
}
