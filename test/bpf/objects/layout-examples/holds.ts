// The layouts of holds (example.ts).
import { viewOf } from '../../../../src/kernel/dataplane/layout.ts';
import { toHex } from '../../../../src/packet/hex.ts';
import { A, A_HEX, B, B_HEX, C, C_HEX, type Example, u32, wide, wideNumber } from './example.ts';

const FLOW = { sender: A, receiver: B, receiverQpn: u32(1) } as const;
const HOLD = {
  minor: 0x1234,
  phase: 'leaving',
  untilNs: wide(2),
  drained: wide(3),
  full: true,
  responses: true,
} as const;
const TUNNEL = { mode: 'service', source: A, destination: B, protocol: 41 } as const;
const TUPLE = { mode: 'flow', source: A, destination: B, sourcePort: 0xc001, destinationPort: 4791 } as const;
const PRIORITY = { mode: 'priority', priority: 5 } as const;
const PORT = { handle: u32(7), above: u32(10), held: wide(11), entered: wide(12) } as const;
const PACE = {
  ...{ rate: wide(16), least: wide(17), earliestNs: wide(18), sinceNs: wide(21), aheadNs: wide(19), frameNs: wide(20) },
} as const;

const PRIORITIES = Uint8Array.from({ length: 64 }, (_, dscp) => dscp >> 3);

/** What most keys have, and nothing in the other fields. */
const KEY = { source: A_HEX, destination: B_HEX, id: 0, ifindex: 0, kind: 0, protocol: 0 } as const;
const NO_ADDRESSES = { source: '00'.repeat(16), destination: '00'.repeat(16) } as const;

export const HOLDS: readonly Example[] = [
  {
    keysOf: ['holds'],
    fields: { ...KEY, id: u32(1), kind: 1 },
    narrow: ['ifindex'],
    written: (ts) => [ts.encodeHoldKey(FLOW)],
    read: (ts, bytes) => ts.decodeHoldKey(bytes),
    is: FLOW,
    unread: ['ifindex', 'protocol'],
  },
  {
    keysOf: ['holds'],
    fields: { ...KEY, kind: 2, protocol: 41, ifindex: u32(2) },
    narrow: ['id'],
    written: (ts) => [ts.encodeHoldKey({ traffic: TUNNEL, egress: u32(2) })],
    read: (ts, bytes) => [ts.decodeHoldKey(bytes), ts.decodeTrafficKey(viewOf(bytes), 0)],
    is: [
      { traffic: TUNNEL, egress: u32(2) },
      { traffic: TUNNEL, egress: u32(2) },
    ],
    unread: ['id'],
  },
  {
    keysOf: ['holds'],
    fields: { ...KEY, id: 0xc001_12b7, kind: 4, protocol: 17, ifindex: u32(2) },
    written: (ts) => [ts.encodeHoldKey({ traffic: TUPLE, egress: u32(2) })],
    read: (ts, bytes) => ts.decodeHoldKey(bytes),
    is: { traffic: TUPLE, egress: u32(2) },
    unread: ['protocol'],
  },
  {
    keysOf: ['holds'],
    fields: { ...KEY, ...NO_ADDRESSES, id: 5, kind: 3, ifindex: u32(2) },
    narrow: ['id', 'source', 'destination'],
    written: (ts) => [ts.encodeHoldKey({ traffic: PRIORITY, egress: u32(2) })],
    read: (ts, bytes) => ts.decodeHoldKey(bytes),
    is: { traffic: PRIORITY, egress: u32(2) },
    unread: ['source', 'destination', 'protocol'],
  },
  {
    valuesOf: ['holds'],
    fields: { until_ns: wide(2), drained: wide(3), minor: 0x1234, phase: 2, full: 1, responses: 1 },
    written: (ts) => [ts.encodeHold(HOLD)],
    read: (ts, bytes) => ts.decodeHold(bytes),
    is: HOLD,
  },
  {
    valuesOf: ['hold_records'],
    fields: {
      ...{ entered: wide(4), last_seen: wide(5), longest: u32(6), released: 1, responses: 1, unheld: 1, classed: 1 },
      ...{ stamped: wide(14), next: wide(15) },
    },
    size: (ts) => ts.HOLD_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeHoldRecord(bytes),
    is: {
      ...{ entered: wide(4), lastSeen: wide(5), longestFrame: u32(6), released: true, responses: true },
      ...{ stamped: wide(14), nextNs: wide(15) },
    },
    unread: ['unheld', 'classed'],
  },
  {
    valuesOf: ['hold_records'],
    fields: {
      ...{ entered: 0n, last_seen: 0n, longest: 0, released: 0, responses: 1, unheld: 0, classed: 0 },
      ...{ stamped: 0n, next: wide(15) },
    },
    narrow: ['entered', 'last_seen', 'longest', 'stamped'],
    written: (ts) => [ts.encodeHoldRecord({ responses: true, nextNs: wide(15) })],
  },
  {
    valuesOf: ['hold_paces'],
    fields: {
      ...{
        rate: wide(16),
        told: wide(16),
        least: wide(17),
        earliest: wide(18),
        since: wide(21),
        ahead: wide(19),
        frame: wide(20),
      },
    },
    written: (ts) => [ts.encodeHoldPace(PACE)],
    read: (ts, bytes) => ts.decodeHoldPace(bytes),
    is: PACE,
    unread: ['told'],
  },
  {
    valuesOf: ['hold_ports'],
    fields: PORT,
    written: (ts) => [ts.encodeHoldPort(PORT)],
    read: (ts, bytes) => ts.decodeHoldPort(bytes),
    is: PORT,
  },
  {
    valuesOf: ['hold_port_bytes'],
    fields: wide(13),
    read: (ts, bytes) => ts.decodePortBytes(bytes),
    is: wide(13),
  },
  {
    valuesOf: ['hold_state'],
    fields: { holds: [0, u32(8), u32(9), u32(10), u32(11)] },
    narrow: ['holds'],
    written: (ts) => [ts.encodeHoldState({ flow: u32(8), service: u32(9), priority: u32(10), tuple: u32(11) })],
  },
  { valuesOf: ['hold_filter'], fields: wide(9), written: (ts) => [ts.encodeHoldFilter(wide(9))] },
  {
    valuesOf: ['flow_control_config'],
    fields: {
      kind: 2,
      interval_ns: BigInt(wideNumber(2)),
      spacing_ns: BigInt(wideNumber(4)),
      burst_ns: 2n * BigInt(wideNumber(4)),
      priorities: toHex(PRIORITIES),
    },
    narrow: ['kind', 'priorities'],
    written: (ts) => [
      ts.encodeFlowControlConfig({
        mode: 'service',
        intervalNs: wideNumber(2),
        perSecond: 1e9 / wideNumber(4),
        burst: 3,
        priorities: [...PRIORITIES],
      }),
    ],
    size: (ts) => ts.FLOW_CONTROL_CONFIG_SIZE,
  },
  {
    keysOf: ['flow_control_told'],
    fields: { traffic: { ...KEY, kind: 2, protocol: 41, ifindex: u32(2) }, egress: u32(3), reason: 2 },
    narrow: ['traffic.id', 'reason'],
    written: (ts) => [ts.toldKey({ traffic: TUNNEL, ingress: u32(2), egress: u32(3), reason: 'held' })],
  },
  {
    struct: 'flow_control_record',
    fields: {
      time_ns: wide(1),
      traffic: { ...KEY, kind: 2, protocol: 43, ifindex: u32(2) },
      came_from: C_HEX,
      egress: u32(3),
      depth: u32(4),
      source_mac: '020304050607',
      reason: 2,
    },
    size: (ts) => ts.FLOW_CONTROL_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeFilledQueue(viewOf(bytes), 0, bytes.length),
    is: {
      atNs: wide(1),
      traffic: { ...TUNNEL, protocol: 43 },
      ingress: u32(2),
      cameFrom: C,
      sourceMac: Uint8Array.of(2, 3, 4, 5, 6, 7),
      egress: u32(3),
      reason: 'held',
      depth: u32(4),
    },
    unread: ['traffic.id'],
  },
];
