// What differs between the versions of gobgpd's gRPC API (v3.ts, v4.ts), as data and pure functions: names of methods,
// requests as bytes, a path from its bytes. What both have in common is in messages.ts. No I/O.
import type { Family } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { LargeCommunity } from '../../../packet/bgp/route.ts';
import type { Result } from '../../../model/result.ts';
import type { GobgpAbout, GobgpPath, Learn, OwnPath } from './gobgp.ts';

/** Why a path of gobgpd's cannot be used. Counted as `bgp.gobgp.path.CODE`. */
export interface PathError {
  readonly code: 'too-long' | 'not-protobuf' | 'not-bgp' | 'prefix' | 'next-hop' | 'neighbor';
  readonly message: string;
  /** What it is about, where that is known: the path is left out of the report for this prefix. */
  readonly prefix?: Prefix;
}

/** A path, or a withdrawal, which has no more than what it names. */
export interface HeardPath {
  readonly prefix: Prefix;
  /** Undefined: withdrawn. */
  readonly path: GobgpPath | undefined;
  /** As in `path`; in withdrawals too. */
  readonly neighbor: string | undefined;
  readonly identifier: number;
  /** gobgpd cannot reach the next hop: the path is never the best. */
  readonly unreachable: boolean;
}

/** Numbers of enumerations in messages about policies: those of version 4 begin with "unspecified". */
export interface PolicyApi {
  readonly numbers: {
    readonly neighborSet: number;
    readonly largeCommunitySet: number;
    readonly matchAny: number;
    readonly matchInvert: number;
    readonly communityAdd: number;
    readonly softIn: number;
    readonly softOut: number;
  };
  /** A soft reset takes back what a policy has come to reject meanwhile. */
  readonly takesBack: boolean;
}

export interface GobgpApi extends PolicyApi {
  readonly name: GobgpAbout['api'];
  /** Full name of the gRPC service. */
  readonly service: string;
  /** Changes from now on, never what there is already: that can be one message of many megabytes. */
  watchRequest(learn: Learn): Uint8Array;
  /** The global table of a unicast family; only these prefixes when there are any. */
  listRequest(family: Family, prefixes: readonly Prefix[]): Uint8Array;
  /**
   * A message for AddPathStream that puts paths in.
   * @param identifier default: OWN_IDENTIFIER
   * @param mark a large community that all of them have beside theirs
   */
  addRequest(paths: readonly OwnPath[], identifier?: number, mark?: LargeCommunity): Uint8Array;
  /**
   * The same stream takes paths out again: cnpd's own of these prefixes, by identifier. DeletePath is not used: it
   * takes a call a path, and one that names none takes out everything that was ever originated at this gobgpd.
   */
  withdrawRequest(prefixes: readonly Prefix[]): Uint8Array;
  /** Of any bytes; undefined: a path of another family than unicast. */
  decodePath(bytes: Uint8Array): Result<HeardPath, PathError> | undefined;
}

/** RFC 4760: AFI 1 and 2, SAFI 1. */
export const afiSafi = (family: Family): { readonly afi: number; readonly safi: number } => ({
  afi: family === 4 ? 1 : 2,
  safi: 1,
});
