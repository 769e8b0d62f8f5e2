// The data of the OSPF core: its configuration, its state, the events it consumes and the effects it returns. It is
// plain data that speaker.ts works on, as in carriers/isis: the clock is the `now` of each event, randomness a
// generator seeded by the configuration. One speaker is one router in one version of OSPF (version.ts). Each area has
// one point-to-point link, its own database and at most one neighbor.
import { type Note, warnLimited } from '../effects.ts';
import type { Stopping } from '../tasks.ts';
import type { IpAddress } from '../../model/address.ts';
import type { Findings } from '../../model/recording.ts';
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
  /** The interface's MTU: bytes of the largest IP datagram. */
  readonly mtu: number;
  /** Accept a neighbor whose MTU is larger than ours. */
  readonly ignoreMtu: boolean;
  /** Number of the interface, and link-state ID of OSPFv3's Link-LSA. */
  readonly interfaceId: number;
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  readonly retransmitMs: number;
  /** The first key signs, all keys verify. Empty: no authentication. */
  readonly keys: readonly AuthenticationKey[];
}

export interface SpeakerConfig {
  readonly version: OspfVersion;
  readonly routerId: number;
  readonly areas: readonly AreaConfig[];
  readonly privateTypes: PrivateTypes;
  /**
   * Tenths of a second, from which the sequence numbers of authenticated packets are computed. It must be later than
   * the end of an earlier run (RFC 7166 §3).
   */
  readonly authenticationBase: number;
  readonly seed: number;
  readonly lsdbLimit: number;
  /** While it is recorded, or replayed. */
  readonly findings?: Findings | undefined;
}

export type SpeakerEvent =
  | ({ readonly type: 'link-up'; readonly areaId: number } & LinkEnds)
  | { readonly type: 'link-down'; readonly areaId: number; readonly reason: string }
  /** One IP payload. The speaker keeps the bytes unless isFromLink refuses them, so pass a copy. */
  | {
      readonly type: 'received';
      readonly areaId: number;
      readonly payload: Uint8Array;
      readonly addresses: PacketAddresses;
    }
  /**
   * Everything that this router originates in an area, except its place in the topology. `more`: inter-area copies
   * follow.
   */
  | { readonly type: 'originate'; readonly areaId: number; readonly lsas: readonly OwnLsa[]; readonly more?: boolean }
  /** Other keys, applied without a restart. */
  | { readonly type: 'keys'; readonly areaId: number; readonly keys: readonly AuthenticationKey[] }
  | { readonly type: 'timer' }
  | { readonly type: 'stop' };

export type Effect =
  | { readonly type: 'send'; readonly areaId: number; readonly destination: IpAddress; readonly payload: Uint8Array }
  /** Another router's LSA is new, changed or gone (`lsa` is absent). Refreshes without a change are not reported. */
  | { readonly type: 'database'; readonly areaId: number; readonly key: LsaKey; readonly lsa?: StoredLsa }
  /** The neighbor of an area is Full; undefined: no neighbor is Full any more. */
  | { readonly type: 'adjacency'; readonly areaId: number; readonly neighbor: number | undefined }
  | Note
  /** Everything is withdrawn, or the time limit is reached. */
  | { readonly type: 'stopped'; readonly clean: boolean };

export interface AreaState {
  /** Only its keys change. */
  config: AreaConfig;
  link: LinkEnds | undefined;
  helloAt: number;
  neighbor: Neighbor | undefined;
  /** Why the last packet was refused; cleared when a hello is accepted. */
  refused: string | undefined;
  /** Router ID of the Full neighbor, as in the last effect. */
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
  /** The last authentication sequence number that was used. */
  authenticationSequence: bigint;
  stopping: Stopping | undefined;
  readonly warned: Map<string, number>;
}

/**
 * Refuses a packet that does not match the configuration of this link, and records the reason: it explains a missing
 * neighbor to the operator.
 */
export function refuse(s: Speaker, area: AreaState, name: string, reason: string, fields: object = {}): void {
  area.refused = reason;
  warnLimited(s, name, { area: formatId(area.config.areaId), ...fields, reason }, 'OSPF packet refused');
}
