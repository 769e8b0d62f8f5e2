// The layouts of the source (example.ts).
import { prefix } from '../../../../src/model/prefix.ts';
import { viewOf } from '../../../../src/kernel/dataplane/layout.ts';
import { A, A_HEX, B, B_HEX, C, C_HEX, type Example, u32, wide, wideNumber } from './example.ts';

const RECORD = {
  time_ns: wide(1),
  sender: A_HEX,
  receiver: B_HEX,
  node: C_HEX,
  receiver_qpn: u32(2),
  sender_qpn: u32(3),
  metric: u32(4),
  ifindex: u32(5),
  parameter: 0x0106,
  level: 7,
  instruction: 2,
  format: 4,
  action: 3,
};
const READ = {
  atNs: wide(1),
  format: 'long-haul-roce',
  action: 'enforce',
  node: C,
  flow: { sender: A, receiver: B, receiverQpn: u32(2) },
  senderQpn: u32(3),
  ifindex: u32(5),
  instruction: { level: 7, action: 'rate-reduce', parameter: 0x0106 },
  metric: u32(4),
};

export const SOURCE: readonly Example[] = [
  {
    valuesOf: ['source_config'],
    fields: {
      fast_cnp_option: 0x9e,
      fast_cnp_ioam_option: 0x9d,
      icrc_skips_options: 1,
      long_haul_type: 200,
      flow_interval_ns: BigInt(wideNumber(2)),
      spacing_ns: BigInt(wideNumber(4)),
      burst_ns: 2n * BigInt(wideNumber(4)),
    },
    written: (ts) => [
      ts.encodeSourceConfig({
        fastCnpOption: 0x9e,
        fastCnpIoamOption: 0x9d,
        icrc: 'skip',
        longHaulIcmpv6Type: 200,
        perFlowIntervalNs: wideNumber(2),
        perSecond: 1e9 / wideNumber(4),
        burst: 3,
      }),
    ],
    size: (ts) => ts.SOURCE_CONFIG_SIZE,
  },
  {
    valuesOf: ['source_senders'],
    fields: { prefix_family: 6, action: 2 },
    written: (ts) => [ts.encodeSourceSender({ prefix: prefix('::/0'), action: 'convert' })],
    size: (ts) => ts.SOURCE_PREFIX_SIZE,
  },
  {
    valuesOf: ['source_nodes'],
    fields: { prefix_family: 4, action: 0 },
    written: (ts) => [ts.encodeSourceNode(prefix('0.0.0.0/0'))],
  },
  {
    valuesOf: ['source_holding'],
    fields: { until_ns: wide(2), room: 1 },
    written: (ts) => [ts.encodeSourceHolding({ untilNs: wide(2), room: true })],
  },
  {
    struct: 'source_record',
    fields: RECORD,
    size: (ts) => ts.SOURCE_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeSourceRecord(viewOf(bytes), 0, bytes.length),
    is: { ...READ, trace: null },
  },
  {
    struct: 'source_trace_record',
    fields: { record: RECORD, kind: 1, length: 238, trace: 'ab'.repeat(238) },
    size: (ts) => ts.SOURCE_TRACE_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeSourceRecord(viewOf(bytes), 0, bytes.length),
    is: { ...READ, trace: { kind: 1, bytes: new Uint8Array(238).fill(0xab) } },
  },
];
