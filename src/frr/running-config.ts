// FRR's `show running-config` as blocks: the lines under `interface X` and `router isis TAG`. Only the lines that the
// preconditions need are interpreted.
import { dottedArea } from '../model/isis-area.ts';

/** Header line, e.g. `interface cnpd-isis`, → the lines inside, without indentation. */
export type RunningConfig = ReadonlyMap<string, readonly string[]>;

export function parseRunningConfig(text: string): RunningConfig {
  const blocks = new Map<string, string[]>();
  let open: string[] | undefined;
  for (const line of text.split('\n')) {
    if (!line.startsWith(' ')) {
      // `exit` and `!` close a block; any other line without indentation opens one (or is a setting of its own, an
      // empty block).
      open = undefined;
      const header = line.trim();
      if (header === '' || header === '!' || header === 'exit' || header === 'end') continue;
      open = blocks.get(header) ?? [];
      blocks.set(header, open);
    } else if (line.trim() !== '') {
      open?.push(line.trim());
    }
  }
  return blocks;
}

export type CircuitType = 'level-1' | 'level-1-2' | 'level-2-only';

/** What FRR is configured to do on one interface as to IS-IS. */
export interface IsisInterfaceConfig {
  /** Instance of `ipv6 router isis TAG`. */
  readonly tag6: string | undefined;
  readonly pointToPoint: boolean;
  readonly passive: boolean;
  readonly threeWay: boolean;
  readonly circuitType: CircuitType | undefined;
  readonly password: Password | undefined;
}

export interface Password {
  readonly kind: 'md5' | 'clear';
  readonly key: string;
  /** `authenticate snp validate` */
  readonly snpValidate: boolean;
}

export interface IsisInstanceConfig {
  readonly tag: string;
  /** As written: `49.0001.0000.0000.0001.00`. */
  readonly nets: readonly string[];
  readonly isType: CircuitType;
  /** Seconds, by level. */
  readonly lspGenInterval: Readonly<Record<1 | 2, number>>;
  /** Bytes. */
  readonly lspMtu: number;
  readonly areaPassword: Password | undefined;
  readonly domainPassword: Password | undefined;
  /** Levels into which IPv6 routes go that neither FRR nor an interface's address made. */
  readonly kernelRoutesInto: readonly (1 | 2)[];
}

/** FRR's defaults (yang/frr-isisd.yang). */
export const FRR_DEFAULTS = { lspGenInterval: 30, lspMtu: 1497, isType: 'level-1-2' } as const;

/** What follows a command; empty when nothing does, undefined when it is not there. */
export const argument = (lines: readonly string[], command: string): string | undefined =>
  lines
    .find((line) => line === command || line.startsWith(`${command} `))
    ?.slice(command.length)
    .trim();

export function isisInterface(config: RunningConfig, name: string): IsisInterfaceConfig {
  const lines = config.get(`interface ${name}`) ?? [];
  return {
    tag6: argument(lines, 'ipv6 router isis'),
    pointToPoint: lines.includes('isis network point-to-point'),
    passive: lines.includes('isis passive'),
    threeWay: !lines.includes('no isis three-way-handshake'),
    circuitType: argument(lines, 'isis circuit-type') as CircuitType | undefined,
    password: password(argument(lines, 'isis password')),
  };
}

export function isisInstances(config: RunningConfig): IsisInstanceConfig[] {
  return [...config].flatMap(([header, lines]) => {
    const match = /^router isis (\S+)( vrf default)?$/.exec(header);
    if (!match) return [];
    return {
      tag: match[1]!,
      nets: lines.filter((line) => line.startsWith('net ')).map((line) => line.slice(4).trim().toLowerCase()),
      isType: (argument(lines, 'is-type') ?? FRR_DEFAULTS.isType) as CircuitType,
      lspGenInterval: { 1: genInterval(lines, 1), 2: genInterval(lines, 2) },
      lspMtu: Number(argument(lines, 'lsp-mtu') ?? FRR_DEFAULTS.lspMtu),
      areaPassword: password(argument(lines, 'area-password')),
      domainPassword: password(argument(lines, 'domain-password')),
      kernelRoutesInto: ([1, 2] as const).filter(
        (level) => argument(lines, `redistribute ipv6 kernel level-${level}`) !== undefined,
      ),
    };
  });
}

/** FRR 8 writes `lsp-timers [level-N] gen-interval S …`, or `lsp-gen-interval [level-N] S`. */
function genInterval(lines: readonly string[], level: 1 | 2): number {
  for (const line of lines) {
    const match = /^(?:lsp-timers(?: level-([12]))? gen-interval|lsp-gen-interval(?: level-([12]))?) (\d+)/.exec(line);
    const of = match && (match[1] ?? match[2]);
    if (match && (of === undefined || Number(of) === level)) return Number(match[3]);
  }
  return FRR_DEFAULTS.lspGenInterval;
}

function password(text: string | undefined): Password | undefined {
  const match = text === undefined ? null : /^(md5|clear) (\S+)( authenticate snp validate)?/.exec(text);
  return match ? { kind: match[1] as 'md5' | 'clear', key: match[2]!, snpValidate: match[3] !== undefined } : undefined;
}

/** `49.0001.0000.0000.0001.00` → area `49.0001` and system ID `0000.0000.0001`. */
export function splitNet(net: string): { area: string; systemId: string } {
  const hex = net.replaceAll('.', '');
  return {
    area: dottedArea(hex.slice(0, -14)),
    systemId: hex.slice(-14, -2).replace(/^(.{4})(.{4})(.{4})$/, '$1.$2.$3'),
  };
}
