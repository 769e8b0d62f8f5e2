// Maps of End.MT (bpf/lib/multicast/layout.h): their names, and the bytes of configuration, destinations, ports and
// groups. Lists and branches: multicast-lists.ts. What the programs write: multicast-state.ts.
import type { IpAddress } from '../../model/address.ts';
import { LITTLE_ENDIAN, putMapped, structure, unmappedAddressAt, viewOf } from './layout.ts';

/**
 * In dist/bpf/multicast.bpf.o. `ingress`: tc ingress, first, of every port that RoCEv2 may come through. `root`: tc
 * egress of cnpd-mc. `closeWindow`: only run by the agent, on a packet that multicastWindowPacket makes.
 */
export const MULTICAST_PROGRAMS = {
  ingress: 'multicast_ingress',
  entry: 'multicast_entry',
  root: 'multicast_root',
  closeWindow: 'multicast_close_window',
} as const;

export const MULTICAST_MAPS = {
  config: 'multicast_config',
  /** Key addressKey, value encodeMulticastDestination. */
  destinations: 'multicast_destinations',
  /** Key u32Key of the interface index, value encodeMulticastPort. */
  ports: 'multicast_ports',
  /** Key addressKey of a SID, value u32Key of its number, from 1 to MULTICAST_ROUTERS - 1. */
  routers: 'multicast_routers',
  /** The inverse: key u32Key of the number, value addressKey. */
  routerSids: 'multicast_router_sids',
  /** Key addressKey of a router's address, value MULTICAST_NOTIFIER. */
  notifiers: 'multicast_notifiers',
  /** Key u32Key of the group's index, value encodeMulticastGroup. */
  groups: 'multicast_groups',
  /** Key u32Key of multicastStateIndex, value decodeMulticastState. */
  states: 'multicast_states',
  /** Key multicastListKey, value u32Key of the list's index. */
  listIds: 'multicast_list_ids',
  /** Key u32Key of the list's index, from 1 on; value encodeMulticastList. */
  lists: 'multicast_lists',
  /** Key u32Key of the slot, value encodeMulticastBranch. */
  branches: 'multicast_branches',
  /** Key u32Key of the slot, value newMulticastRecord and decodeMulticastRecord. */
  records: 'multicast_records',
  /** Key multicastMemberKey, value u32Key of the slot. */
  members: 'multicast_members',
  /** Key u32Key of multicastStateIndex, value decodeMulticastTooBig. */
  tooBig: 'multicast_too_big',
} as const;

/** Buffers of the programs: they need no pin. */
export const MULTICAST_SCRATCH_MAPS = ['multicast_scratch', 'multicast_beliefs'] as const;

/** Lengths of the tables. */
export const MULTICAST_GROUPS = 4096;
export const MULTICAST_LISTS = 16_384;
export const MULTICAST_SLOTS = 65_536;
export const MULTICAST_ROUTERS = 16_384;
/** Branches of a list. */
export const MULTICAST_BRANCHES = 64;

export interface MulticastConfig {
  /** SRH TLV types. */
  readonly endMtTlv: number;
  readonly treeTlv: number;
  /** Types of Destination Options; with IOAM trace data 0: none. */
  readonly fastCnpOption: number;
  readonly fastCnpIoamOption: number;
}

export const MULTICAST_CONFIG_SIZE = 8;

/** struct multicast_config. */
export const encodeMulticastConfig = (config: MulticastConfig): Uint8Array =>
  structure(MULTICAST_CONFIG_SIZE, (_, bytes) =>
    bytes.set([config.endMtTlv, config.treeTlv, config.fastCnpOption, config.fastCnpIoamOption]),
  );

export const decodeMulticastConfig = (value: Uint8Array): MulticastConfig => ({
  endMtTlv: value[0]!,
  treeTlv: value[1]!,
  fastCnpOption: value[2]!,
  fastCnpIoamOption: value[3]!,
});

export const MULTICAST_NOTIFIER: Uint8Array = Uint8Array.of(1, 0, 0, 0);

const KIND = { edge: 1, replication: 2, proxy: 3 } as const;

/** An address that packets of groups are sent to. `group`: index of the group of a Proxy Address. */
export type MulticastDestination =
  | { readonly kind: 'edge' | 'replication' }
  | { readonly kind: 'proxy'; readonly group: number };

/** struct multicast_destination. */
export const encodeMulticastDestination = (destination: MulticastDestination): Uint8Array =>
  structure(8, (view, bytes) => {
    view.setUint32(0, destination.kind === 'proxy' ? destination.group : 0, LITTLE_ENDIAN);
    bytes[4] = KIND[destination.kind];
  });

/** Null for a kind that this version does not know. */
export function decodeMulticastDestination(value: Uint8Array): MulticastDestination | null {
  const kind = value[4];
  if (kind === KIND.proxy) return { kind: 'proxy', group: viewOf(value).getUint32(0, LITTLE_ENDIAN) };
  if (kind === KIND.edge) return { kind: 'edge' };
  return kind === KIND.replication ? { kind: 'replication' } : null;
}

/** struct multicast_port: whether other routers are behind the port, so that SIDs are reached through it. */
export const encodeMulticastPort = (port: { readonly isCore: boolean }): Uint8Array =>
  Uint8Array.of(port.isCore ? 1 : 0, 0, 0, 0);

export const decodeMulticastPort = (value: Uint8Array): { isCore: boolean } => ({ isCore: value[0] === 1 });

export interface MulticastGroup {
  readonly proxy: IpAddress;
  /** S1, at the root. */
  readonly source: IpAddress | null;
  /** This router's own SIDs. */
  readonly edge: IpAddress | null;
  readonly replication: IpAddress | null;
  readonly designatedQpn: number;
  /** Null: not known. Answers are then counted and dropped at the root. */
  readonly sourceQpn: number | null;
  readonly cnpWindowNs: number;
  /** 0: no limit. */
  readonly copiesPerSecond: number;
  /** Copies. A packet with more of them passes when the bucket is full. */
  readonly copiesBurst: number;
  readonly isRoot: boolean;
  readonly keepSource: boolean;
}

export const MULTICAST_GROUP_SIZE = 88;
const GROUP_FLAG = { root: 1, keepSource: 2 } as const;
const GROUP = {
  proxy: 0,
  source: 16,
  edge: 32,
  replication: 48,
  designatedQpn: 64,
  sourceQpn: 68,
  cnpWindow: 72,
  rate: 76,
  burst: 80,
  flags: 84,
};

/** struct multicast_group. */
export const encodeMulticastGroup = (group: MulticastGroup): Uint8Array =>
  structure(MULTICAST_GROUP_SIZE, (view, bytes) => {
    putMapped(bytes, GROUP.proxy, group.proxy);
    if (group.source) putMapped(bytes, GROUP.source, group.source);
    if (group.edge) putMapped(bytes, GROUP.edge, group.edge);
    if (group.replication) putMapped(bytes, GROUP.replication, group.replication);
    view.setUint32(GROUP.designatedQpn, group.designatedQpn, LITTLE_ENDIAN);
    view.setUint32(GROUP.sourceQpn, group.sourceQpn ?? 0, LITTLE_ENDIAN);
    view.setUint32(GROUP.cnpWindow, group.cnpWindowNs, LITTLE_ENDIAN);
    view.setUint32(GROUP.rate, group.copiesPerSecond, LITTLE_ENDIAN);
    view.setUint32(GROUP.burst, group.copiesBurst, LITTLE_ENDIAN);
    bytes[GROUP.flags] = (group.isRoot ? GROUP_FLAG.root : 0) | (group.keepSource ? GROUP_FLAG.keepSource : 0);
  });

export function decodeMulticastGroup(value: Uint8Array): MulticastGroup {
  const view = viewOf(value);
  const number = (at: number): number => view.getUint32(at, LITTLE_ENDIAN);
  return {
    proxy: unmappedAddressAt(view, GROUP.proxy),
    source: addressOrNull(view, GROUP.source),
    edge: addressOrNull(view, GROUP.edge),
    replication: addressOrNull(view, GROUP.replication),
    designatedQpn: number(GROUP.designatedQpn),
    sourceQpn: number(GROUP.sourceQpn) || null,
    cnpWindowNs: number(GROUP.cnpWindow),
    copiesPerSecond: number(GROUP.rate),
    copiesBurst: number(GROUP.burst),
    isRoot: (value[GROUP.flags]! & GROUP_FLAG.root) !== 0,
    keepSource: (value[GROUP.flags]! & GROUP_FLAG.keepSource) !== 0,
  };
}

/** Null for ::. */
function addressOrNull(view: DataView, at: number): IpAddress | null {
  const address = unmappedAddressAt(view, at);
  return address.value === 0n ? null : address;
}
