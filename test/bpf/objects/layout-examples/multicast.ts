// The layouts of End.MT (example.ts).
import { fromHex } from '../../../../src/packet/hex.ts';
import { A, A_HEX, B, B_HEX, C, C_HEX, type Example, halves, u32, wide } from './example.ts';

const D_HEX = '20010db80010001140120013001400ff';
const GROUP = {
  proxy: A,
  source: B,
  edge: C,
  replication: { family: 6, value: BigInt(`0x${D_HEX}`) },
  designatedQpn: u32(1),
  sourceQpn: u32(2),
  cnpWindowNs: u32(3),
  copiesPerSecond: u32(4),
  copiesBurst: u32(5),
  isRoot: true,
  keepSource: true,
} as const;
const DIGEST = 'a102030405060708';
const OTHER_DIGEST = '1112131415161718';
const KEY = { digest: fromHex(DIGEST), group: u32(1), role: 'branching' } as const;
const LIST = {
  group: u32(1),
  first: u32(2),
  count: 0x4140,
  role: 'branching',
  hasLocal: true,
  parent: u32(3),
} as const;
const BRANCH = {
  address: A,
  qpn: u32(1),
  psnDelta: u32(2),
  write: { vaDelta: wide(3), rKey: u32(4) },
  excluded: true,
} as const;
const SET = 1n << 53n;
/** A word of epoch 0x155 with its content. */
const word = (content: bigint): bigint => (0x155n << 54n) | SET | content;
const labeled = <T>(value: T): { label: number; value: T } => ({ label: 0x155, value });

const CONFIG = { endMtTlv: 124, treeTlv: 125, fastCnpOption: 0x9e, fastCnpIoamOption: 0xbe } as const;

export const MULTICAST: readonly Example[] = [
  {
    valuesOf: ['multicast_config'],
    fields: { end_mt_tlv: 124, tree_tlv: 125, fast_cnp_option: 0x9e, fast_cnp_ioam_option: 0xbe },
    written: (ts) => [ts.encodeMulticastConfig(CONFIG)],
    size: (ts) => ts.MULTICAST_CONFIG_SIZE,
    read: (ts, bytes) => ts.decodeMulticastConfig(bytes),
    is: CONFIG,
  },
  {
    valuesOf: ['multicast_destinations'],
    fields: { group: u32(1), kind: 3 },
    written: (ts) => [ts.encodeMulticastDestination({ kind: 'proxy', group: u32(1) })],
    read: (ts, bytes) => ts.decodeMulticastDestination(bytes),
    is: { kind: 'proxy', group: u32(1) },
  },
  ...([['edge', 1] as const, ['replication', 2] as const] satisfies (readonly [string, number])[]).map(
    ([kind, number]): Example => ({
      valuesOf: ['multicast_destinations'],
      fields: { group: 0, kind: number },
      narrow: ['group'],
      written: (ts) => [ts.encodeMulticastDestination({ kind })],
    }),
  ),
  {
    valuesOf: ['multicast_ports'],
    fields: { is_core: 1 },
    written: (ts) => [ts.encodeMulticastPort({ isCore: true })],
    read: (ts, bytes) => ts.decodeMulticastPort(bytes),
    is: { isCore: true },
  },
  {
    valuesOf: ['multicast_groups'],
    fields: {
      proxy: A_HEX,
      source: B_HEX,
      edge: C_HEX,
      replication: D_HEX,
      designated_qpn: u32(1),
      source_qpn: u32(2),
      cnp_window_ns: u32(3),
      copies_per_second: u32(4),
      copies_burst: u32(5),
      flags: 3,
    },
    written: (ts) => [ts.encodeMulticastGroup(GROUP)],
    size: (ts) => ts.MULTICAST_GROUP_SIZE,
    read: (ts, bytes) => ts.decodeMulticastGroup(bytes),
    is: GROUP,
  },
  {
    keysOf: ['multicast_list_ids'],
    fields: { digest: halves(`${DIGEST}0000000000000000`)[0]!, group: u32(1), role: 1 },
    narrow: ['role'],
    written: (ts) => [ts.multicastListKey(KEY)],
    read: (ts, bytes) => ts.decodeMulticastListKey(bytes),
    is: KEY,
  },
  {
    valuesOf: ['multicast_lists'],
    fields: { group: u32(1), first: u32(2), count: 0x4140, role: 1, has_local: 1, parent: u32(3) },
    written: (ts) => [ts.encodeMulticastList(LIST)],
    read: (ts, bytes) => ts.decodeMulticastList(bytes),
    is: LIST,
  },
  {
    valuesOf: ['multicast_branches'],
    fields: {
      address: A_HEX,
      qpn: u32(1),
      psn_delta: u32(2),
      va_delta: wide(3),
      r_key: u32(4),
      has_write: 1,
      excluded: 1,
    },
    written: (ts) => [ts.encodeMulticastBranch(BRANCH)],
    size: (ts) => ts.MULTICAST_BRANCH_SIZE,
    read: (ts, bytes) => ts.decodeMulticastBranch(bytes),
    is: BRANCH,
  },
  {
    keysOf: ['multicast_members'],
    fields: { address: A_HEX, list: u32(1) },
    written: (ts) => [ts.multicastMemberKey({ address: A, list: u32(1) })],
    read: (ts, bytes) => ts.decodeMulticastMemberKey(bytes),
    is: { address: A, list: u32(1) },
  },
  {
    valuesOf: ['multicast_states'],
    fields: {
      current: (0x81001n << 44n) | (0x200001n << 22n) | 0x300007n,
      high: word(0x810001n),
      sent: word((0x15n << 48n) | (0x910002n << 24n) | 0xa10003n),
      nak_pending: word((0x61n << 24n) | 0xb10004n),
      repeat: word(1n),
      window_ns: wide(1),
      data_ns: wide(2),
      tokens: wide(3),
      packets: wide(4),
      answers: wide(5),
      around: u32(8),
      all_joined: u32(7),
      members: halves(`${DIGEST}${OTHER_DIGEST}`)[0]!,
      tree: halves(`${DIGEST}${OTHER_DIGEST}`)[1]!,
    },
    size: (ts) => ts.MULTICAST_STATE_SIZE,
    read: (ts, bytes) => ({ ...ts.decodeMulticastState(bytes), inUse: ts.listInUse(bytes) }),
    is: {
      inUse: 0x200001,
      current: { epoch: 0x81001, list: 0x200001, parent: 0x300007 },
      high: labeled(0x810001),
      sent: labeled({ nextPsn: 0xa10003, msn: 0x910002, credits: 0x15 }),
      nakPending: labeled({ psn: 0xb10004, syndrome: 0x61 }),
      repeat: 0x155,
      windowNs: wide(1),
      dataNs: wide(2),
      tokensNs: wide(3),
      packets: wide(4),
      answers: wide(5),
    },
    // Contents narrower than their word.
    partly: ['high', 'nak_pending', 'repeat'],
    unread: ['around', 'all_joined', 'members', 'tree'],
  },
  {
    valuesOf: ['multicast_too_big'],
    fields: {
      members: halves(`${DIGEST}${OTHER_DIGEST}`)[0]!,
      tree: halves(`${DIGEST}${OTHER_DIGEST}`)[1]!,
      epoch: u32(1),
      mtu: u32(2),
    },
    size: (ts) => ts.MULTICAST_TOO_BIG_SIZE,
    read: (ts, bytes) => ts.decodeMulticastTooBig(bytes),
    is: { membersDigest: fromHex(DIGEST), treeDigest: fromHex(OTHER_DIGEST), epoch: u32(1), mtu: u32(2) },
  },
  {
    valuesOf: ['multicast_records'],
    fields: {
      progress: word((0x15n << 48n) | (0x910002n << 24n) | 0xa10003n),
      nak: word((0x61n << 24n) | 0xb10004n),
      joined: SET,
      cnps: wide(1),
      heard_ns: wide(2),
      copies: wide(3),
      change: SET,
    },
    size: (ts) => ts.MULTICAST_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeMulticastRecord(bytes),
    is: {
      progress: labeled({ nextPsn: 0xa10003, msn: 0x910002, credits: 0x15 }),
      nak: labeled({ psn: 0xb10004, syndrome: 0x61 }),
      joined: true,
      cnps: wide(1),
      heardNs: wide(2),
      copies: wide(3),
    },
    partly: ['joined', 'nak'],
    unread: ['change'],
  },
  {
    valuesOf: ['multicast_records'],
    fields: { progress: 0n, nak: 0n, joined: SET, cnps: 0n, heard_ns: 0n, copies: 0n, change: 0n },
    narrow: ['progress', 'nak', 'joined', 'cnps', 'heard_ns', 'copies', 'change'],
    written: (ts) => [ts.newMulticastRecord(true)],
  },
];
