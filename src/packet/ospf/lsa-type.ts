// The meaning of an LSA's type (RFC 2328 §A.4.1; RFC 5250; RFC 5340 §A.4.2.1): its flooding scope, and its function.
import type { Version } from './numbers.ts';
import type { LsaKey } from './types.ts';

/**
 * `unknown`: to be discarded. In OSPFv2 that is every unknown type (RFC 2328 §13 step 2), in OSPFv3 the reserved scope.
 */
type Scope = 'link' | 'area' | 'as' | 'unknown';

const OPAQUE_SCOPE: Readonly<Record<number, Scope>> = { 9: 'link', 10: 'area', 11: 'as' };
const SCOPE_V3: readonly Scope[] = ['link', 'area', 'as', 'unknown'];

/**
 * The U-bit: routers that do not know the function flood the LSA by its scope. Without it they do not flood it beyond
 * the link.
 */
export const U_BIT = 0x8000;
const FUNCTION_MASK = 0x1fff;
/** Functions of RFC 5340 and graceful restart (11), which do not set the U-bit; all later ones do. */
const BASE_FUNCTIONS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 7, 8, 9, 11]);

/** Where an LSA of this type is flooded. */
export function lsaScope(version: Version, type: number): Scope {
  if (version === 2)
    return OPAQUE_SCOPE[type] ?? (type === 5 ? 'as' : (type >= 1 && type <= 4) || type === 7 ? 'area' : 'unknown');
  const known = BASE_FUNCTIONS.has(lsaFunction(type)) || (type & U_BIT) !== 0;
  return known ? SCOPE_V3[(type >>> 13) & 3]! : 'link';
}

/** The function code of an OSPFv3 type. */
export const lsaFunction = (type: number): number => type & FUNCTION_MASK;

/**
 * Whether an OSPFv3 type may be originated toward routers that do not know its function. FRR resets the adjacency when
 * it receives one without U-bit.
 */
export const surelyFlooded = (type: number): boolean => BASE_FUNCTIONS.has(lsaFunction(type)) || (type & U_BIT) !== 0;

/**
 * Whether every router knows the type, and refuses a malformed LSA of it: all OSPFv2 types, and those of RFC 5340 and
 * graceful restart.
 */
export const isBaseType = (version: Version, type: number): boolean =>
  version === 2 || BASE_FUNCTIONS.has(lsaFunction(type));

/** OSPFv3 types that cnpd originates or reads. */
export const TYPE_V3 = {
  router: 0x2001,
  network: 0x2002,
  link: 0x0008,
  intraAreaPrefix: 0x2009,
  eRouter: 0xa021,
  eNetwork: 0xa022,
  eInterAreaPrefix: 0xa023,
  eAsExternal: 0xc025,
  eIntraAreaPrefix: 0xa029,
  routerInformation: 0xa00c,
  srv6Locator: 0xa02a,
  srv6LocatorAs: 0xc02a,
} as const;

/** OSPFv2 types. An opaque LSA's own type is the first byte of its link-state ID (RFC 5250 §3). */
export const TYPE_V2 = { router: 1, network: 2, opaqueLink: 9, opaqueArea: 10, opaqueAs: 11 } as const;

export const isOpaque = (type: number): boolean => OPAQUE_SCOPE[type] !== undefined;

export const opaqueLsId = (opaqueType: number, opaqueId: number): number => ((opaqueType << 24) | opaqueId) >>> 0;
export const opaqueTypeOf = ({ lsId }: LsaKey): number => lsId >>> 24;
export const opaqueIdOf = ({ lsId }: LsaKey): number => lsId & 0xffffff;
