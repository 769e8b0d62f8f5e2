// What is read of a path of gobgpd's. A table of 200,000 paths has few different contents: every path of one router has
// the same next hop, the same proxy and the same AS_PATH. So a reading is made once and shared by all paths with the
// same content; only their prefixes are kept for each.
import { type Family, type IpAddress, formatAddress, isLinkLocal, sameAddress } from '../../../model/address.ts';
import type { AdvertisementKinds } from '../../../model/advertisement.ts';
import type { BgpPathState } from '../../../model/carrier-state.ts';
import { type CharacteristicCodes, readCharacteristics } from '../../../packet/bgp/characteristics.ts';
import { AFI, SAFI_UNICAST, decodeNhc } from '../../../packet/bgp/nhc.ts';
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
  /** Address of the neighbour, or `local`. */
  readonly peer: string;
  readonly identifier: number;
  readonly nextHop: string;
  /** The next hop's host prefix, as text. */
  readonly hostRoute: string;
  readonly metric: number;
  readonly best: boolean;
  /** Whether it came from the domain, by its neighbour and its AS_PATH. */
  readonly trusted: boolean;
  /** Absent: the path has no attribute 39. */
  readonly nhc?: NhcReading;
  readonly proxy?: IpAddress;
  readonly sids: readonly Pick<AdvertisementKinds['sid'], 'sid' | 'behavior'>[];
  readonly routerAddresses: readonly IpAddress[];
}

export interface ReadingOptions {
  readonly codes: CharacteristicCodes;
  /** Endpoint behaviours of the SIDs to learn. */
  readonly sidBehaviors: readonly number[];
}

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

type NhcPart = Pick<Reading, 'nhc' | 'proxy' | 'sids' | 'routerAddresses'>;
const NO_CAPABILITY = { sids: [], routerAddresses: [] } as const;

function readNhc(
  path: GobgpPath,
  bytes: Uint8Array,
  { isHostRoute, family, hasSenders, distrust }: Circumstances,
  { codes, sidBehaviors }: ReadingOptions,
): NhcPart {
  const asPath = asPathText(path.asPath);
  const malformed = (code: string): NhcPart => ({
    ...NO_CAPABILITY,
    nhc: { status: 'malformed', headerNextHop: null, asPath, unknown: [], warnings: [`nhc.${code}`] },
  });
  if (path.badNhcFlags !== undefined) return malformed('bad-flags');
  const decoded = decodeNhc(bytes);
  if (!decoded.ok) return malformed(decoded.error.code);
  const { afi, safi, nextHop, characteristics } = decoded.value;
  const { proxy, container, unknown, bad } = readCharacteristics(characteristics, codes);
  const common = { headerNextHop: formatAddress(nextHop), asPath, unknown };
  const ignored = (status: NhcReading['status'], warning = `learn.${status}`): NhcPart => ({
    ...NO_CAPABILITY,
    nhc: { ...common, status, warnings: [warning] },
  });
  if (!sameAddress(nextHop, path.nextHop)) return ignored('next-hop-mismatch');
  if (afi !== (family === 4 ? AFI.ipv4 : AFI.ipv6) || safi !== SAFI_UNICAST) return ignored('family-mismatch');
  // Another router has it on another link (draft-ietf-idr-nhc asks for a BGP identifier then, which gobgpd does not
  // report).
  if (isLinkLocal(nextHop)) return ignored('next-hop-mismatch', 'learn.link-local-next-hop');
  if (distrust) return ignored(distrust);
  const used = isHostRoute ? container : undefined;
  const warnings = bad.map(({ error }) => `characteristic.${error.code}`);
  if (container && !isHostRoute) warnings.push('learn.private-misplaced');
  const without = proxy
    ? 'no-senders'
    : bad.some(({ code }) => code === codes.pnc)
      ? 'no-proxy-address'
      : 'no-characteristic';
  return {
    nhc: { ...common, status: (proxy && hasSenders) || used ? 'used' : without, warnings },
    ...(proxy && { proxy }),
    sids: (used ?? [])
      .filter((one) => one.tlv === 'sid')
      .filter(({ behavior }) => sidBehaviors.includes(behavior))
      .map(({ sid, behavior }) => ({ sid, behavior })),
    routerAddresses: used ? [nextHop] : [],
  };
}

function readPath(path: GobgpPath, circumstances: Circumstances, options: ReadingOptions): Reading {
  const nextHop = formatAddress(path.nextHop);
  return {
    peer: path.neighbor ?? 'local',
    identifier: path.identifier,
    nextHop,
    hostRoute: `${nextHop}/${path.nextHop.family === 4 ? 32 : 128}`,
    metric: path.med,
    best: path.best,
    trusted: circumstances.distrust === undefined,
    ...(path.nhc ? readNhc(path, path.nhc, circumstances, options) : NO_CAPABILITY),
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
  readonly #options: ReadingOptions;
  readonly #byKey = new Map<string, Reading>();
  readonly #uses = new Map<Reading, { readonly key: string; count: number }>();

  constructor(options: ReadingOptions) {
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
    const reading = readPath(path, circumstances, this.#options);
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
