// Capabilities (capabilities(7)): those that cnpd needs, those that this process has, and how it drops the others.
// Capabilities belong to threads, and Node.js has several before its first line of JavaScript runs. What the main
// thread drops, the others keep. So the process removes them from the bounding set and executes itself again. An exec
// ends the other threads, and gives root only the capabilities in that set.
import { readFileSync } from 'node:fs';
import { accessRefused, become, dropFromBoundingSet, rootIsPrivileged, setCapabilities } from './ffi/process.ts';

/** Values: bit numbers in capability.h. */
export const NEEDED = { CAP_NET_BIND_SERVICE: 10n, CAP_NET_ADMIN: 12n, CAP_NET_RAW: 13n, CAP_SYS_ADMIN: 21n } as const;
/** Capabilities that some configurations need in addition. */
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

/** The capabilities of this process that cnpd can use, and the number of the others. */
export function heldCapabilities(): { used: string[]; others: number } {
  const { effective } = held();
  const used = namesOf(KNOWN, effective);
  return { used, others: bitsOf(effective).length - used.length };
}

/** The capabilities in NEEDED that this process lacks. */
export function missingCapabilities(): string[] {
  const { effective } = held();
  return namesOf(NEEDED, ~effective);
}

/** The command that fixes it. */
export const CAPABILITIES_REMEDY = `run cnpd as root, or with ${Object.keys(NEEDED).join(', ')}`;

/** Without this one only the STAMP reflector on port 862 is missing. */
const NOT_TO_START: readonly string[] = ['CAP_NET_BIND_SERVICE'];
/** CAP_SYS_ADMIN implies these two for BPF (capabilities(7)). */
const BPF_ALONE = (1n << 38n) | (1n << 39n);

/** The capabilities that cnpd needs to start and lacks, with the remedy; undefined when it has them all. */
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

/** The number of capabilities to drop when `keep` and NEEDED stay. */
export const superfluous = (keep: readonly Capability[]): number => bitsOf(held().permitted & ~retained(keep)).length;

const retained = (keep: readonly Capability[]): bigint => setOf([...(Object.keys(NEEDED) as Capability[]), ...keep]);

/** The uses that the capabilities in NEEDED alone do not allow, each with its symbolic errno. */
export function refusedWithout<T extends { readonly path: string; readonly mode: number }>(
  uses: readonly T[],
): (T & { readonly code: string })[] {
  const now = held();
  setCapabilities({ ...now, effective: now.effective & retained([]) });
  try {
    return uses.flatMap((use) => {
      const code = accessRefused(use.path, use.mode);
      return code === undefined ? [] : [{ ...use, code }];
    });
  } finally {
    setCapabilities(now);
  }
}

/** Why this process cannot drop capabilities itself; undefined when it can. */
export function cannotDrop(): string | undefined {
  if (!has(held().effective, CAP_SETPCAP)) return 'it has no CAP_SETPCAP';
  return rootIsPrivileged() ? undefined : 'its securebits have NOROOT';
}

/**
 * Executes `path` with NEEDED and `keep` alone, as far as this process has them. Returns only on failure.
 * @throws KernelError
 */
export function becomeWithout(keep: readonly Capability[], path: string, argv: readonly string[]): never {
  const now = held();
  const most = retained(keep);
  for (const capability of bitsOf(now.bounding & ~most)) dropFromBoundingSet(capability);
  // A user other than root keeps ambient capabilities through the exec. They are never more than the permitted and
  // inheritable ones.
  setCapabilities({
    effective: now.effective & most,
    permitted: now.permitted & most,
    inheritable: now.inheritable & most,
  });
  become(path, argv);
}
