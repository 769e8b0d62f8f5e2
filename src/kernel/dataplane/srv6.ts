// Maps of the SRv6 programs (bpf/lib/srv6/layout.h): the bytes of their keys and values.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, unmappedAddress, viewOf } from './layout.ts';

/**
 * In dist/bpf/srv6.bpf.o. `encap`: tc egress of a core port, ahead of the detector. `decap`: tc ingress of a core port,
 * ahead of everything.
 */
export const SRV6_PROGRAMS = { encap: 'srv6_encap', decap: 'srv6_decap' } as const;

export const SRV6_MAPS = {
  config: 'srv6_config',
  /** Key addressKey, value FLAG. */
  localSources: 'srv6_local_sources',
  /** Key tunnelKey, value addressKey. */
  tunnelSources: 'srv6_tunnel_sources',
  /** Key addressKey, value encodeSid. */
  sids: 'srv6_sids',
} as const;

/** Caches of next hops: need no pin. */
export const SRV6_SCRATCH_MAPS = ['srv6_next_hops', 'srv6_next_hop_places'] as const;

/** Value of a table that is only a set of keys. */
export const FLAG = Uint8Array.of(1);

/** Key of an address in a hash table: 16 bytes in network order. */
export const addressKey = (a: IpAddress): Uint8Array => mappedAddress(a);

export interface Srv6Config {
  /** END.CON SID of tunnels without a row; null: their source is not changed. */
  readonly defaultSource: IpAddress | null;
  /** Whether there are rows in the table of tunnel sources. */
  readonly hasRows: boolean;
  readonly ecnMode: 'normal' | 'compatibility';
  readonly dscp: { readonly kind: 'pipe'; readonly outerDscp: number | null } | { readonly kind: 'uniform' };
  /** Other programs see packets at core ports. */
  readonly sharedIngress: boolean;
}

/** Offsets in struct srv6_config. */
export const SRV6_CONFIG_SIZE = 24;
const CONFIG = {
  source: 0,
  hasDefault: 16,
  hasRows: 17,
  compatibility: 18,
  uniform: 19,
  dscp: 20,
  shared: 21,
} as const;
const DSCP_AS_WRITTEN = 0xff;

/** @throws RangeError for a DSCP of more than 6 bits */
export function encodeSrv6Config(config: Srv6Config): Uint8Array {
  const dscp = config.dscp.kind === 'pipe' ? config.dscp.outerDscp : null;
  if (dscp !== null && !(dscp >= 0 && dscp <= 63)) throw new RangeError(`${dscp} is no DSCP`);
  return structure(SRV6_CONFIG_SIZE, (_, bytes) => {
    if (config.defaultSource) bytes.set(mappedAddress(config.defaultSource), CONFIG.source);
    bytes[CONFIG.hasDefault] = config.defaultSource ? 1 : 0;
    bytes[CONFIG.hasRows] = config.hasRows ? 1 : 0;
    bytes[CONFIG.compatibility] = config.ecnMode === 'compatibility' ? 1 : 0;
    bytes[CONFIG.uniform] = config.dscp.kind === 'uniform' ? 1 : 0;
    bytes[CONFIG.dscp] = dscp ?? DSCP_AS_WRITTEN;
    bytes[CONFIG.shared] = config.sharedIngress ? 1 : 0;
  });
}

/** The inverse. */
export function decodeSrv6Config(value: Uint8Array): Srv6Config {
  const dscp = value[CONFIG.dscp]!;
  return {
    defaultSource: value[CONFIG.hasDefault] ? unmappedAddress(value) : null,
    hasRows: value[CONFIG.hasRows] === 1,
    ecnMode: value[CONFIG.compatibility] ? 'compatibility' : 'normal',
    dscp: value[CONFIG.uniform]
      ? { kind: 'uniform' }
      : { kind: 'pipe', outerDscp: dscp === DSCP_AS_WRITTEN ? null : dscp },
    sharedIngress: value[CONFIG.shared] === 1,
  };
}

/** struct port_source_key. */
export const TUNNEL_KEY_SIZE = 28;

/** Key of the longest-match table of tunnel sources; `ingressIfindex` 0: any interface. */
export function tunnelKey(ingressIfindex: number, sender: Prefix): Uint8Array {
  return structure(TUNNEL_KEY_SIZE, (view, bytes) => {
    view.setUint32(0, 32 + 8 + sender.length, LITTLE_ENDIAN);
    view.setUint32(4, ingressIfindex, LITTLE_ENDIAN);
    bytes[8] = sender.address.family;
    bytes.set(addressBytes(sender.address), 9);
  });
}

/** A local SID that decapsulates. */
export interface SidEntry {
  /** Families of the packets that may be inside. */
  readonly families: readonly (4 | 6)[];
  /** ICMPv6 errors to it are consumed; the inner DSCP is kept. */
  readonly endCon: boolean;
  /** Whether the program may decapsulate; otherwise it only corrects the ECN field. */
  readonly decapsulate: boolean;
  /** Routing table of the look-up; 0: the rules and tables for any packet. */
  readonly table: number;
  /** The kernel's action for the rest is cnpd's own End.DT6, which drops IPv4. */
  readonly ownRoute: boolean;
}

/** struct srv6_sid. */
export const SID_SIZE = 8;
const FAMILY_BIT = { 4: 1, 6: 2 } as const;

export const encodeSid = (sid: SidEntry): Uint8Array =>
  structure(SID_SIZE, (view, bytes) => {
    bytes[0] = sid.families.reduce((bits, family) => bits | FAMILY_BIT[family], 0);
    bytes[1] = sid.endCon ? 1 : 0;
    bytes[2] = sid.decapsulate ? 1 : 0;
    bytes[3] = sid.ownRoute ? 1 : 0;
    view.setUint32(4, sid.table, LITTLE_ENDIAN);
  });

export const decodeSid = (value: Uint8Array): SidEntry => ({
  families: ([4, 6] as const).filter((family) => (value[0]! & FAMILY_BIT[family]) !== 0),
  endCon: value[1] === 1,
  decapsulate: value[2] === 1,
  table: viewOf(value).getUint32(4, LITTLE_ENDIAN),
  ownRoute: value[3] === 1,
});
