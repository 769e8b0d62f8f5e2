// What the OSPF core is made of: its configuration, its state, the events it consumes and the effects it asks for.
// Plain data that speaker.ts works on, as in carriers/isis: the clock is the `now` of each event, randomness a
// generator seeded by the configuration. One speaker is one router in one version of OSPF (version.ts); each area has
// one point-to-point link, its own database and at most one neighbour.
import { type Note, warnLimited } from '../effects.ts';
import type { Stopping } from '../tasks.ts';
import type { IpAddress } from '../../model/address.ts';
import type { AuthenticationKey } from '../../packet/ospf/digest.ts';
import type { PrivateTypes } from '../../packet/ospf/lsa.ts';
import type { PacketAddresses } from '../../packet/ospf/packet-header.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import type { LinkEnds } from './admission.ts';
import type { Lsdb, StoredLsa } from './lsdb/lsdb.ts';
import type { Neighbor } from './neighbor/neighbor.ts';
import type { OwnState } from './own/state.ts';
import type { OspfVersion, OwnLsa } from './version.ts';

export interface AreaConfig {
  readonly areaId: number;
  /** OSPFv3 only. */
  readonly instanceId: number;
  /** Of the interface: bytes of the largest IP datagram. */
  readonly mtu: number;
  /** Accept a neighbour whose MTU is larger than ours. */
  readonly ignoreMtu: boolean;
  /** Number of the interface; the link-state ID of OSPFv3's Link-LSA. */
  readonly interfaceId: number;
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  readonly retransmitMs: number;
  /** The first signs, all verify; none: no authentication. */
  readonly keys: readonly AuthenticationKey[];
}

export interface SpeakerConfig {
  readonly version: OspfVersion;
  readonly routerId: number;
  readonly areas: readonly AreaConfig[];
  readonly privateTypes: PrivateTypes;
  /**
   * Tenths of seconds, from which the sequence numbers of authenticated packets are made: later than when an earlier
   * run ended (RFC 7166 §3).
   */
  readonly authenticationBase: number;
  readonly seed: number;
  readonly lsdbLimit: number;
}

export type SpeakerEvent =
  | ({ readonly type: 'link-up'; readonly areaId: number } & LinkEnds)
  | { readonly type: 'link-down'; readonly areaId: number; readonly reason: string }
  /** One IP payload. The speaker keeps the bytes, unless isFromLink says that it is refused: hand it a copy. */
  | {
      readonly type: 'received';
      readonly areaId: number;
      readonly payload: Uint8Array;
      readonly addresses: PacketAddresses;
    }
  /**
   * The whole of what this router originates in an area, beside its place in the topology. `more`: inter-area copies
   * follow.
   */
  | { readonly type: 'originate'; readonly areaId: number; readonly lsas: readonly OwnLsa[]; readonly more?: boolean }
  /** Other keys, taken over in flight. */
  | { readonly type: 'keys'; readonly areaId: number; readonly keys: readonly AuthenticationKey[] }
  | { readonly type: 'timer' }
  | { readonly type: 'stop' };

export type Effect =
  | { readonly type: 'send'; readonly areaId: number; readonly destination: IpAddress; readonly payload: Uint8Array }
  /**
   * Another router's LSA is new, changed or gone: `lsa` is absent when it is gone. Refreshes that change nothing are
   * left out.
   */
  | { readonly type: 'database'; readonly areaId: number; readonly key: LsaKey; readonly lsa?: StoredLsa }
  /** The neighbour of an area is Full, or (undefined) none is any more. */
  | { readonly type: 'adjacency'; readonly areaId: number; readonly neighbor: number | undefined }
  | Note
  /** Everything is withdrawn, or the time for it is over. */
  | { readonly type: 'stopped'; readonly clean: boolean };

export interface AreaState {
  /** Only the keys change. */
  config: AreaConfig;
  link: LinkEnds | undefined;
  helloAt: number;
  neighbor: Neighbor | undefined;
  /** Why the last packet was refused, as long as no hello was accepted after it. */
  refused: string | undefined;
  /** Router ID of the Full neighbour, as in the last effect. */
  adjacent: number | undefined;
  readonly lsdb: Lsdb;
  readonly own: OwnState;
  readonly inbox: { readonly payload: Uint8Array; readonly addresses: PacketAddresses }[];
}

export interface Speaker {
  readonly counterPrefix: string;
  readonly config: SpeakerConfig;
  now: number;
  effects: Effect[];
  random: number;
  readonly areas: ReadonlyMap<number, AreaState>;
  /** Last sequence number of authentication that was used. */
  authenticationSequence: bigint;
  stopping: Stopping | undefined;
  readonly warned: Map<string, number>;
}

/**
 * A packet that does not fit what this link is configured to be: an operator who sees no neighbour wants to know why.
 */
export function refuse(s: Speaker, area: AreaState, name: string, reason: string, fields: object = {}): void {
  area.refused = reason;
  warnLimited(s, name, { area: formatId(area.config.areaId), ...fields, reason }, 'OSPF packet refused');
}
