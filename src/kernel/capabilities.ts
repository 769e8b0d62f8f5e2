// Capabilities (capabilities(7)): which of them cnpd works with, which this process has, and how it gives up the
// others. They belong to threads, and Node.js has several before its first line of JavaScript runs: what the main
// thread gives up the others keep. So the process takes them out of the bounding set and starts itself again: an exec
// ends the other threads, and gives root no more than that set.
import { readFileSync } from 'node:fs';
import { accessRefused, become, dropFromBoundingSet, rootIsPrivileged, setCapabilities } from './ffi/process.ts';

/** By the bits of capability.h. */
export const NEEDED = { CAP_NET_BIND_SERVICE: 10n, CAP_NET_ADMIN: 12n, CAP_NET_RAW: 13n, CAP_SYS_ADMIN: 21n } as const;
/** What a configuration can need besides. */
const SOMETIMES = { CAP_CHOWN: 0n, CAP_DAC_OVERRIDE: 1n } as const;
const CAP_SETPCAP = 8n;
const KNOWN = { ...NEEDED, ...SOMETIMES };
export type Capability = keyof typeof KNOWN;

interface Held {
  readonly effective: bigint;
  readonly permitted: bigint;
  readonly inheritable: bigint;
  readonly bounding: bigint;
}

function held(): Held {
  const status = readFileSync('/proc/thread-self/status', 'utf8');
  const set = (name: string): bigint =>
    BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)`, 'm').exec(status)?.[1] ?? '0'}`);
  return { effective: set('CapEff'), permitted: set('CapPrm'), inheritable: set('CapInh'), bounding: set('CapBnd') };
}

const has = (set: bigint, bit: bigint): boolean => ((set >> bit) & 1n) === 1n;
const bitsOf = (set: bigint): number[] => [...set.toString(2)].reverse().flatMap((bit, i) => (bit === '1' ? [i] : []));
const setOf = (capabilities: readonly Capability[]): bigint =>
  capabilities.reduce((set, name) => set | (1n << KNOWN[name]), 0n);
const namesOf = (table: Readonly<Record<string, bigint>>, set: bigint): string[] =>
  Object.entries(table)
    .filter(([, bit]) => has(set, bit))
    .map(([name]) => name);

/** Those of this process that cnpd can use, and how many it has besides. */
export function heldCapabilities(): { used: string[]; others: number } {
  const { effective } = held();
  const used = namesOf(KNOWN, effective);
  return { used, others: bitsOf(effective).length - used.length };
}

/** Of those that cnpd cannot work without. */
export function missingCapabilities(): string[] {
  const { effective } = held();
  return namesOf(NEEDED, ~effective);
}

/** The command that fixes it. */
export const CAPABILITIES_REMEDY = `run cnpd as root, or with ${Object.keys(NEEDED).join(', ')}`;

/** Without it there is no STAMP reflector on port 862, and everything else. */
const NOT_TO_START: readonly string[] = ['CAP_NET_BIND_SERVICE'];
/** What the kernel takes for CAP_SYS_ADMIN where BPF alone is concerned (capabilities(7)). */
const BPF_ALONE = (1n << 38n) | (1n << 39n);

/** Which capabilities cnpd cannot start without and does not have, and the remedy; undefined when it has them. */
export function cannotStart(): string | undefined {
  const missing = missingCapabilities().filter((name) => !NOT_TO_START.includes(name));
  if (missing.length === 0) return undefined;
  const bpf =
    missing.includes('CAP_SYS_ADMIN') && (held().effective & BPF_ALONE) === BPF_ALONE
      ? '. CAP_BPF and CAP_PERFMON do not replace CAP_SYS_ADMIN, which it takes to mount a BPF file system and ' +
        'to make the network namespace in which cnpd tries what this kernel can do'
      : '';
  return `this process lacks ${missing.join(', ')}: ${CAPABILITIES_REMEDY}${bpf}`;
}

/** How many capabilities there are to give up when `keep` and NEEDED stay. */
export const superfluous = (keep: readonly Capability[]): number => bitsOf(held().permitted & ~wanted(keep)).length;

const wanted = (keep: readonly Capability[]): bigint => setOf([...(Object.keys(NEEDED) as Capability[]), ...keep]);

/**
 * What of this the process may not do with the capabilities in NEEDED alone: symbolic errno, or undefined when it may.
 */
export function refusedWithout<T extends { readonly path: string; readonly mode: number }>(
  uses: readonly T[],
): (T & { readonly code: string })[] {
  const now = held();
  setCapabilities({ ...now, effective: now.effective & wanted([]) });
  try {
    return uses.flatMap((use) => {
      const code = accessRefused(use.path, use.mode);
      return code === undefined ? [] : [{ ...use, code }];
    });
  } finally {
    setCapabilities(now);
  }
}

/** Why this process cannot give any up by itself; undefined when it can. */
export function cannotDrop(): string | undefined {
  if (!has(held().effective, CAP_SETPCAP)) return 'it has no CAP_SETPCAP';
  return rootIsPrivileged() ? undefined : 'its securebits have NOROOT';
}

/**
 * Becomes `path` with NEEDED and `keep` alone, as far as this process has them. Comes back only when that failed.
 * @throws KernelError
 */
export function becomeWithout(keep: readonly Capability[], path: string, argv: readonly string[]): never {
  const now = held();
  const most = wanted(keep);
  for (const capability of bitsOf(now.bounding & ~most)) dropFromBoundingSet(capability);
  // A user other than root keeps what is ambient through the exec: that is never more than what is permitted and
  // inheritable.
  setCapabilities({
    effective: now.effective & most,
    permitted: now.permitted & most,
    inheritable: now.inheritable & most,
  });
  become(path, argv);
}
