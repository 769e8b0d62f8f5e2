// What is read of a path of gobgpd's. A table of 200,000 paths has few different contents: every path of one router has
// the same next hop, the same proxy and the same AS_PATH. So a reading is made once and shared by all paths with the
// same content; only their prefixes are kept for each.
import { type Family, formatAddress, isLinkLocal, sameAddress } from '../../../model/address.ts';
import type { BgpPathState } from '../../../model/carrier-state.ts';
import { characteristicCodes, readCharacteristics } from '../../../packet/bgp/characteristics.ts';
import { AFI, SAFI_UNICAST, decodeNhc } from '../../../packet/bgp/nhc.ts';
import type { Found, KindOptions, ReadAttribute, ReadEntry } from '../kinds/kind.ts';
import type { BgpKinds } from '../kinds/table.ts';
import { type Distrust, asPathText } from './domain.ts';
import type { GobgpPath } from '../gobgp/gobgp.ts';

/** What came of attribute 39. */
export interface NhcReading {
  readonly status: Exclude<BgpPathState['status'], 'originated'>;
  /** null: unreadable. */
  readonly headerNextHop: string | null;
  readonly asPath: string;
  /** Codes of unknown characteristics. */
  readonly unknown: readonly number[];
  /** Counters of what is ignored, without `bgp.`. */
  readonly warnings: readonly string[];
}

export interface Reading {
  /** Address of the neighbor, or `local`. */
  readonly peer: string;
  readonly identifier: number;
  readonly nextHop: string;
  /** The next hop's host prefix, as text. */
  readonly hostRoute: string;
  readonly metric: number;
  readonly best: boolean;
  /** Whether it came from the domain, by its neighbor and its AS_PATH. */
  readonly trusted: boolean;
  /** Absent: the path has no attribute 39. */
  readonly nhc?: NhcReading;
  /** By kind; of kinds that have some. */
  readonly entries: Entries;
}

export type Entries = ReadonlyMap<string, readonly ReadEntry[]>;

/** What a reader must know of a path beside the path. */
export interface Circumstances {
  /** Whether its prefix is the host prefix of its next hop. */
  readonly isHostRoute: boolean;
  /** Of its prefix. */
  readonly family: Family;
  /** Whether some sender can be in its prefix: else the learned table gives it no proxy, whatever the path contains. */
  readonly hasSenders: boolean;
  readonly distrust: Distrust | undefined;
}

type NhcPart = Pick<Reading, 'nhc' | 'entries'>;
const NO_ENTRIES: Entries = new Map();

/** What each kind finds in an attribute. */
export function readEntries(
  kinds: BgpKinds,
  attribute: ReadAttribute,
  options: KindOptions,
): Pick<NhcReading, 'status' | 'warnings'> & { readonly entries: Entries } {
  const entries = new Map<string, readonly ReadEntry[]>();
  const warnings: string[] = [];
  const statuses: Found<ReadEntry>['status'][] = [];
  for (const { kind, received } of kinds.rows) {
    const found = received.read(attribute, options);
    if (found.entries.length > 0) entries.set(kind, found.entries);
    warnings.push(...found.warnings);
    statuses.push(found.status);
  }
  const status = statuses.includes('used') ? 'used' : (statuses.find((s) => s !== 'nothing') ?? 'no-characteristic');
  return { entries, status, warnings };
}

function readNhc(
  path: GobgpPath,
  bytes: Uint8Array,
  { isHostRoute, family, hasSenders, distrust }: Circumstances,
  kinds: BgpKinds,
  options: KindOptions,
): NhcPart {
  const asPath = asPathText(path.asPath);
  const malformed = (code: string): NhcPart => ({
    entries: NO_ENTRIES,
    nhc: { status: 'malformed', headerNextHop: null, asPath, unknown: [], warnings: [`nhc.${code}`] },
  });
  if (path.badNhcFlags !== undefined) return malformed('bad-flags');
  const decoded = decodeNhc(bytes);
  if (!decoded.ok) return malformed(decoded.error.code);
  const { afi, safi, nextHop, characteristics } = decoded.value;
  const { container, ...read } = readCharacteristics(characteristics, characteristicCodes(options.codePoints));
  const common = { headerNextHop: formatAddress(nextHop), asPath, unknown: read.unknown };
  const ignored = (status: NhcReading['status'], warning = `learn.${status}`): NhcPart => ({
    entries: NO_ENTRIES,
    nhc: { ...common, status, warnings: [warning] },
  });
  if (!sameAddress(nextHop, path.nextHop)) return ignored('next-hop-mismatch');
  if (afi !== (family === 4 ? AFI.ipv4 : AFI.ipv6) || safi !== SAFI_UNICAST) return ignored('family-mismatch');
  // Another router has it on another link (draft-ietf-idr-nhc asks for a BGP identifier then, which gobgpd does not
  // report).
  if (isLinkLocal(nextHop)) return ignored('next-hop-mismatch', 'learn.link-local-next-hop');
  if (distrust) return ignored(distrust);
  const ignoredParts = read.bad.map(({ error }) => `characteristic.${error.code}`);
  if (container && !isHostRoute) ignoredParts.push('learn.private-misplaced');
  const attribute = { ...read, ...(container && isHostRoute && { container }), nextHop, hasSenders, isOwn: false };
  const { entries, status, warnings } = readEntries(kinds, attribute, options);
  return { nhc: { ...common, status, warnings: [...ignoredParts, ...warnings] }, entries };
}

function readPath(path: GobgpPath, circumstances: Circumstances, kinds: BgpKinds, options: KindOptions): Reading {
  const nextHop = formatAddress(path.nextHop);
  return {
    peer: path.neighbor ?? 'local',
    identifier: path.identifier,
    nextHop,
    hostRoute: `${nextHop}/${path.nextHop.family === 4 ? 32 : 128}`,
    metric: path.med,
    best: path.best,
    trusted: circumstances.distrust === undefined,
    ...(path.nhc ? readNhc(path, path.nhc, circumstances, kinds, options) : { entries: NO_ENTRIES }),
  };
}

/**
 * Two paths with the same text have the same reading. The AS_PATH of a path without the attribute matters only in that
 * it can be trusted.
 */
function keyOf(path: GobgpPath, { isHostRoute, family, hasSenders, distrust }: Circumstances): string {
  const common =
    `${path.neighbor ?? ''} ${path.identifier} ${path.nextHop.family} ${path.nextHop.value.toString(32)} ` +
    `${path.med} ${path.best} ${distrust ?? ''}`;
  if (!path.nhc) return common;
  const { buffer, byteOffset, length } = path.nhc;
  return (
    `${common} ${isHostRoute} ${hasSenders} ${family} ${path.badNhcFlags ?? ''} ${asPathText(path.asPath)} ` +
    `${Buffer.from(buffer, byteOffset, length).toString('latin1')}`
  );
}

/** The readings in use. */
export class Readings {
  readonly #kinds: BgpKinds;
  readonly #options: KindOptions;
  readonly #byKey = new Map<string, Reading>();
  readonly #uses = new Map<Reading, { readonly key: string; count: number }>();

  constructor(kinds: BgpKinds, options: KindOptions) {
    this.#kinds = kinds;
    this.#options = options;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** To be released as often as it is taken. */
  take(path: GobgpPath, circumstances: Circumstances): Reading {
    const key = keyOf(path, circumstances);
    const known = this.#byKey.get(key);
    if (known) {
      this.#uses.get(known)!.count++;
      return known;
    }
    const reading = readPath(path, circumstances, this.#kinds, this.#options);
    this.#byKey.set(key, reading);
    this.#uses.set(reading, { key, count: 1 });
    return reading;
  }

  release(reading: Reading): void {
    const use = this.#uses.get(reading)!;
    if (--use.count > 0) return;
    this.#byKey.delete(use.key);
    this.#uses.delete(reading);
  }
}
