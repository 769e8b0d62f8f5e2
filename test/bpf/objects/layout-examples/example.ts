// One example of every layout that TypeScript shares with the eBPF programs: what each field of the C type holds, and
// the same as TypeScript writes or reads it. layouts.test.ts lays the fields out as the BTF of the objects says. Every
// number needs its whole width, so that a field of another width or place shows.
import type * as counters from '../../../../src/kernel/dataplane/counters.ts';
import type * as egressMeasurements from '../../../../src/kernel/dataplane/egress-measurements.ts';
import type * as egressPorts from '../../../../src/kernel/dataplane/egress-ports.ts';
import type * as egress from '../../../../src/kernel/dataplane/egress.ts';
import type * as flowControlCounters from '../../../../src/kernel/dataplane/flow-control-counters.ts';
import type * as flowControl from '../../../../src/kernel/dataplane/flow-control.ts';
import type * as flows from '../../../../src/kernel/dataplane/flows.ts';
import type * as guard from '../../../../src/kernel/dataplane/guard.ts';
import type * as holdCounters from '../../../../src/kernel/dataplane/hold-counters.ts';
import type * as holdKey from '../../../../src/kernel/dataplane/hold-key.ts';
import type * as holds from '../../../../src/kernel/dataplane/holds.ts';
import type * as layout from '../../../../src/kernel/dataplane/layout.ts';
import type * as multicastCounters from '../../../../src/kernel/dataplane/multicast-counters.ts';
import type * as multicastLists from '../../../../src/kernel/dataplane/multicast-lists.ts';
import type * as multicastState from '../../../../src/kernel/dataplane/multicast-state.ts';
import type * as multicast from '../../../../src/kernel/dataplane/multicast.ts';
import type * as noticeConfig from '../../../../src/kernel/dataplane/notice-config.ts';
import type * as notifications from '../../../../src/kernel/dataplane/notifications.ts';
import type * as portRoles from '../../../../src/kernel/dataplane/port-roles.ts';
import type * as proxy from '../../../../src/kernel/dataplane/proxy.ts';
import type * as queuePairs from '../../../../src/kernel/dataplane/queue-pairs.ts';
import type * as senderPolicies from '../../../../src/kernel/dataplane/sender-policies.ts';
import type * as source from '../../../../src/kernel/dataplane/source.ts';
import type * as sourceCounters from '../../../../src/kernel/dataplane/source-counters.ts';
import type * as srv6 from '../../../../src/kernel/dataplane/srv6.ts';
import type * as tenants from '../../../../src/kernel/dataplane/tenants.ts';
import { viewOf } from '../../../../src/kernel/dataplane/layout.ts';
import { address } from '../../../../src/model/address.ts';
import { prefix } from '../../../../src/model/prefix.ts';
import { fromHex } from '../../../../src/packet/hex.ts';
import type { Value } from '../../support/btf.ts';

/** All that the files of src/kernel/dataplane export, under one roof. */
export type Dataplane = typeof counters &
  typeof egress &
  typeof egressMeasurements &
  typeof egressPorts &
  typeof flowControl &
  typeof flowControlCounters &
  typeof flows &
  typeof guard &
  typeof holdCounters &
  typeof holdKey &
  typeof holds &
  typeof layout &
  typeof multicast &
  typeof multicastCounters &
  typeof multicastLists &
  typeof multicastState &
  typeof noticeConfig &
  typeof notifications &
  typeof portRoles &
  typeof proxy &
  typeof queuePairs &
  typeof senderPolicies &
  typeof source &
  typeof sourceCounters &
  typeof srv6 &
  typeof tenants;

export interface Example {
  /** Maps of which this is the key, or the value; or a type that is in none. */
  readonly keysOf?: readonly string[];
  readonly valuesOf?: readonly string[];
  readonly struct?: string;
  readonly fields: Value;
  /** Fields that may be narrower than their room here: small by nature, or not written. */
  readonly narrow?: readonly string[];
  readonly written?: (ts: Dataplane) => readonly Uint8Array[];
  readonly size?: (ts: Dataplane) => number;
  readonly read?: (ts: Dataplane, bytes: Uint8Array) => unknown;
  /** What reading gives. */
  readonly is?: unknown;
  /** Fields that are not read, and those of which a part is not. */
  readonly unread?: readonly string[];
  readonly partly?: readonly string[];
}

export const A = address('2001:db8:1:2:1003:4:5:10');
export const B = address('2001:db8:6:7:2008:9:a:20');
export const C = address('2001:db8:b:c:300d:e:f:30');
export const A_HEX = '20010db8000100021003000400050010';
export const B_HEX = '20010db80006000720080009000a0020';
export const C_HEX = '20010db8000b000c300d000e000f0030';

/** As an array of numbers in the machine's order. */
export const words = (hex: string): number[] =>
  Array.from(new Uint32Array(fromHex(hex).buffer.slice(0, hex.length / 2)));
export const halves = (hex: string): bigint[] => Array.from(new BigUint64Array(fromHex(hex).slice().buffer));
/** Numbers of 64 bits with both ends in use: the n-th of them, and of those that a JavaScript number can be. */
export const wide = (n: number): bigint => 0x0100_0000_0000_0001n * BigInt(n);
export const wideNumber = (n: number): number => 2 ** 57 + 2 ** 32 * n + 32;
export const u32 = (n: number): number => 0x0100_0001 * n;

const U32_KEYED = [
  'egress_ports egress_config egress_buckets egress_peaks egress_stats egress_opaque egress_measures flows counters',
  'source_config source_bucket source_holding notice_config guard_ports port_roles proxy_config proxy_bucket proxy_instructions proxy_latency tenant_config',
  'srv6_config multicast_config multicast_ports multicast_router_sids multicast_groups multicast_states',
  'multicast_lists multicast_branches multicast_records multicast_too_big',
  'hold_state hold_filter hold_records hold_paces hold_ports hold_port_bytes flow_control_config flow_control_bucket',
].flatMap((names) => names.split(' '));
const ADDRESS_KEYED = [
  'sender_capabilities',
  'end_con_sids',
  'own_addresses',
  'tenant_sids',
  'guard_end_con_sids',
].concat(['replication_end_cons', 'multicast_notifiers']);
const PREFIX_KEYED = ['sender_proxies', 'sender_policies', 'proxy_senders', 'proxy_sources', 'learned_senders'].concat([
  'guard_allow_inbound',
  'guard_allow_outbound',
  'source_senders',
  'source_nodes',
]);

/** What many maps share. */
export const SHARED: readonly Example[] = [
  {
    keysOf: U32_KEYED,
    valuesOf: ['multicast_routers', 'multicast_list_ids', 'multicast_members'],
    fields: u32(7),
    written: (ts) => [
      ts.u32Key(u32(7)),
      ts.guardPortKey(u32(7)),
      ts.portRoleKey({ ifindex: u32(7) }),
      ts.holdPortKey(u32(7)),
      ts.holdSlot(0x1000 + u32(7)),
    ],
    read: (ts, bytes) => ts.readU32Key(bytes),
    is: u32(7),
  },
  {
    keysOf: U32_KEYED,
    fields: 0,
    narrow: [''],
    written: (ts) => [
      ts.NOTICE_CONFIG_KEY,
      ts.PROXY_CONFIG_KEY,
      ts.SOURCE_KEY,
      ts.TENANT_CONFIG_KEY,
      ts.FLOW_CONTROL_KEY,
      ts.SOURCE_BUCKETS[0],
    ],
  },
  { keysOf: ['doubted_ports'], fields: u32(8), read: (ts, bytes) => ts.doubtedPort(bytes), is: u32(8) },
  {
    keysOf: [...ADDRESS_KEYED, 'srv6_local_sources', 'srv6_sids', 'multicast_destinations', 'multicast_routers'],
    valuesOf: ['srv6_tunnel_sources', 'multicast_router_sids', 'replication_end_cons'],
    fields: A_HEX,
    written: (ts) => [ts.mappedAddress(A), ts.addressKey(A), ts.guardedKey(A)],
    read: (ts, bytes) => [ts.unmappedAddress(bytes), ts.unmappedAddressAt(viewOf(bytes), 0)],
    is: [A, A],
  },
  {
    keysOf: PREFIX_KEYED,
    fields: { length: 128, address: A_HEX },
    narrow: ['length'],
    written: (ts) => [ts.prefixKey({ address: A, length: 128 })],
    read: (ts, bytes) => ts.decodePrefixKey(bytes),
    is: { address: A, length: 128 },
  },
  {
    keysOf: PREFIX_KEYED,
    fields: { length: 96 + 25, address: '00000000000000000000ffffc0000280' },
    narrow: ['length', 'address'],
    written: (ts) => [ts.prefixKey(prefix('192.0.2.128/25'))],
  },
  {
    keysOf: ['srv6_tunnel_sources', 'tenant_ports'],
    fields: { length: 40 + 128, ifindex: u32(9), family: 6, source: B_HEX },
    narrow: ['length'],
    written: (ts) => [ts.tunnelKey(u32(9), { address: B, length: 128 })],
    size: (ts) => ts.TUNNEL_KEY_SIZE,
  },
  {
    keysOf: ['srv6_tunnel_sources', 'tenant_ports'],
    fields: { length: 40 + 25, ifindex: u32(9), family: 4, source: 'c0000280' + '00'.repeat(12) },
    narrow: ['length', 'source'],
    written: (ts) => [ts.tunnelKey(u32(9), prefix('192.0.2.128/25'))],
  },
  {
    valuesOf: ['counters'],
    fields: wide(3),
    read: (ts, bytes) => [...ts.decodeCounters([[ts.u32Key(7), bytes]])],
    is: [['egress.triggers', wide(3)]],
  },
];
