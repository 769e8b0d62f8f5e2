// The layouts of holds (example.ts).
import { A, A_HEX, B, B_HEX, type Example, u32, wide } from './example.ts';

const FLOW = { sender: A, receiver: B, receiverQpn: u32(1) } as const;
const HOLD = { minor: 0x1234, phase: 'leaving', untilNs: wide(2), drained: wide(3) } as const;

export const HOLDS: readonly Example[] = [
  {
    keysOf: ['holds'],
    fields: { source: A_HEX, destination: B_HEX, id: u32(1), kind: 1 },
    written: (ts) => [ts.encodeHoldKey(FLOW)],
    read: (ts, bytes) => ts.decodeHoldKey(bytes),
    is: FLOW,
  },
  {
    valuesOf: ['holds'],
    fields: { until_ns: wide(2), drained: wide(3), minor: 0x1234, phase: 2 },
    written: (ts) => [ts.encodeHold(HOLD)],
    read: (ts, bytes) => ts.decodeHold(bytes),
    is: HOLD,
  },
  {
    valuesOf: ['hold_records'],
    fields: { entered: wide(4), last_seen: wide(5), longest: u32(6), released: 1, responses: 1, unheld: 1 },
    size: (ts) => ts.HOLD_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeHoldRecord(bytes),
    is: { entered: wide(4), lastSeen: wide(5), longestFrame: u32(6), released: true },
    unread: ['responses', 'unheld'],
  },
  { valuesOf: ['hold_ports'], fields: { handle: u32(7) }, written: (ts) => [ts.encodeHoldPort(u32(7))] },
  {
    valuesOf: ['hold_state'],
    fields: { holds: [0, u32(8), 0, 0] },
    narrow: ['holds'],
    written: (ts) => [ts.encodeHoldState(u32(8))],
  },
  { valuesOf: ['hold_filter'], fields: wide(9), written: (ts) => [ts.encodeHoldFilter(wide(9))] },
];
