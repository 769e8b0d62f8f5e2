// What the BGP carrier needs of a gobgpd, in words of its own: its v3 and its v4 API express the same things
// differently (v3.ts, v4.ts), and no code beyond this folder sees which of them answers. Only unicast paths of both
// families are asked for.
import { type Family, type IpAddress, sameAddress } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { GobgpFault, GobgpFaultCode } from '../../../model/gobgp-fault.ts';
import type { AsSegment } from '../../../packet/bgp/route.ts';
import { sameBytes } from '../../../packet/bytes.ts';
import type { Mark } from '../domain-marks.ts';

/** A path that gobgpd has. */
export interface GobgpPath {
  /** Path identifier (RFC 7911): the neighbor's, or what whoever originated it here has chosen. */
  readonly identifier: number;
  /** Address of the neighbor that advertised it; undefined: it was originated at this gobgpd. */
  readonly neighbor: string | undefined;
  /** AS of that neighbor; 0 where gobgpd does not report it, which does not matter for a path originated here. */
  readonly neighborAs: number;
  /**
   * `own`: a cnpd of the domain has put it in; `outside`: it came into the domain from outside, by the mark of one of
   * its border routers.
   */
  readonly mark?: Mark;
  /** The route's next hop, the global address where there are two. */
  readonly nextHop: IpAddress;
  /** Value of attribute 39 as it came, without the attribute's header; absent: there is none. */
  readonly nhc?: Uint8Array;
  /** Its flags, where they are not those of an optional transitive attribute: it is malformed. */
  readonly badNhcFlags?: number;
  readonly asPath: readonly AsSegment[];
  /** MULTI_EXIT_DISC; 0 without. */
  readonly med: number;
  readonly best: boolean;
}

/**
 * What gobgpd has for a prefix now. It replaces whatever was reported for that prefix before; nothing goes in any other
 * way. gobgpd's own events contain less (a new best path without the old one), so the client asks again where an event
 * alone is not enough.
 */
export interface GobgpRoute {
  readonly prefix: Prefix;
  /** The best first; of `learn: best` the best path and cnpd's own. Empty: gobgpd has none any more. */
  readonly paths: readonly GobgpPath[];
}

/** A path that cnpd originates. ORIGIN is IGP, AS_PATH empty. */
export interface OwnPath {
  readonly prefix: Prefix;
  /** Of the prefix's family. */
  readonly nextHop: IpAddress;
  /** Value of attribute 39, sent with flags 0xC0. */
  readonly nhc: Uint8Array;
  /** 32 bits each. */
  readonly communities: readonly number[];
  readonly largeCommunities: readonly (readonly [number, number, number])[];
}

/** Whether they differ in their prefix at most. Paths of one declaration share the objects. */
export const samePaths = (a: OwnPath, b: OwnPath): boolean =>
  sameAddress(a.nextHop, b.nextHop) &&
  (a.nhc === b.nhc || sameBytes(a.nhc, b.nhc)) &&
  sameNumbers(a.communities, b.communities) &&
  (a.largeCommunities === b.largeCommunities || sameNumbers(a.largeCommunities.flat(), b.largeCommunities.flat()));

const sameNumbers = (a: readonly number[], b: readonly number[]): boolean =>
  a === b || (a.length === b.length && a.every((n, i) => n === b[i]));

/**
 * Marks the paths that are cnpd's among those originated at this gobgpd, and keeps them from replacing other paths with
 * the same prefix: their path identifier, "cnpd".
 */
export const OWN_IDENTIFIER = 0x636e_7064;

/** Whether cnpd has put this path in, in this life or in one before. */
export const isOwn = (path: { readonly neighbor: string | undefined; readonly identifier: number }): boolean =>
  path.neighbor === undefined && path.identifier === OWN_IDENTIFIER;

/** `best`: the best path of a prefix alone; `all`: every path that gobgpd has. */
export type Learn = 'best' | 'all';

export interface GobgpOptions {
  /** `HOST:PORT`, or `unix:/PATH`. */
  readonly target: string;
  /** Paths of PEM files, read at each attempt to connect. Absent: no TLS. */
  readonly tls?: {
    readonly ca: string;
    readonly certificate?: string;
    readonly key?: string;
    readonly serverName?: string;
  };
  /** Largest message that is taken from gobgpd, bytes. */
  readonly maxMessageBytes: number;
  readonly learn: Learn;
}

export interface GobgpAbout {
  readonly api: 'v3' | 'v4';
  readonly as: number;
  /** Dotted quad. */
  readonly routerId: string;
}

/** What the domain consists of beside gobgpd's own AS. */
export interface Guard {
  readonly domain: readonly number[];
  /** Declared members of gobgpd's confederation. */
  readonly confederation: readonly number[];
  /** Whether cnpd's policies are to be in gobgpd; otherwise they are removed, whichever run they are from. */
  readonly policy: boolean;
}

/** cnpd's policies in gobgpd. `off`: not to be there. Without them no path of cnpd's is put in. */
export type PolicyReport =
  | { readonly state: 'off' | 'pending' | 'installed' }
  /** `nameTaken`: another client uses one of their names. */
  | {
      readonly state: 'failed';
      readonly reason: string;
      readonly fault: GobgpFaultCode;
      readonly nameTaken: boolean;
    };

/** What the client reports. Calls are synchronous and must not throw. */
export interface GobgpListener {
  /** Found and understood; `routes` with all that it has will follow, then `listed`. */
  connected(about: GobgpAbout): void;
  /** In the order of the changes; a few hundred at a time, so that the event loop turns in between. */
  routes(routes: readonly GobgpRoute[]): void;
  /**
   * Every prefix that there is has been reported since `connected`: those not among them are gone. Changes follow.
   * @param without families of which it has no table
   */
  listed(without: readonly Family[]): void;
  /**
   * The connection is gone or never came about; the client tries again by itself, with jitter, at `retryAt`
   * (milliseconds of the clock).
   */
  lost(fault: GobgpFault, retryAt: number): void;
}

export interface GobgpClient {
  /** Begins to connect, and goes on until it is closed. */
  start(): void;
  /**
   * Puts paths in, all through one stream. Rejects (GobgpError) when the connection is lost on the way; what is
   * desired is then put in again after the next `listed`.
   */
  add(paths: readonly OwnPath[]): Promise<void>;
  /** Removes cnpd's own paths of these prefixes, and no others. */
  withdraw(prefixes: readonly Prefix[]): Promise<void>;
  /**
   * Reports (`routes`) what gobgpd has of these prefixes now, or what has happened to them meanwhile; resolves when it
   * has.
   */
  look(prefixes: readonly Prefix[]): Promise<void>;
  /**
   * gobgpd's neighbors as they are now, or were when it last answered: whoever asks does not wait for long. Undefined:
   * it is not connected, or does not answer.
   */
  peers(): Promise<BgpPeerState[] | undefined>;
  /** Members of gobgpd's confederation, by what they have sent: their neighbors are of the domain. */
  setMembers(members: ReadonlySet<number>): void;
  policy(): PolicyReport;
  /** For how long gobgpd owes an answer and sends nothing else either, milliseconds; 0: it owes none. */
  silentMs(): number;
  /** @param keepPolicy (default: yes) leaves cnpd's policies in gobgpd, for who comes after */
  close(keepPolicy?: boolean): Promise<void>;
}
