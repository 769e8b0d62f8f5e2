import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { COUNTERS } from './counters.ts';
import {
  type MulticastBranch,
  decodeMulticastBranch,
  decodeMulticastList,
  decodeMulticastListKey,
  decodeMulticastMemberKey,
  encodeMulticastBranch,
  encodeMulticastList,
  multicastListKey,
  multicastMemberKey,
  multicastStateIndex,
} from './multicast-lists.ts';
import {
  decodeMulticastRecord,
  decodeMulticastState,
  labelOfEpoch,
  listInUse,
  newMulticastRecord,
  MULTICAST_STATE_SIZE,
} from './multicast-state.ts';
import {
  type MulticastGroup,
  decodeMulticastConfig,
  decodeMulticastDestination,
  decodeMulticastGroup,
  decodeMulticastPort,
  encodeMulticastConfig,
  encodeMulticastDestination,
  encodeMulticastGroup,
  encodeMulticastPort,
} from './multicast.ts';

const GROUP: MulticastGroup = {
  proxy: address('2001:db8:f::1'),
  source: address('2001:db8:1::10'),
  edge: address('2001:db8:e1::1'),
  replication: address('2001:db8:e1::2'),
  designatedQpn: 0x123456,
  sourceQpn: 0x654321,
  cnpWindowNs: 50_000,
  copiesPerSecond: 1_000_000,
  copiesBurst: 4096,
  isRoot: true,
  keepSource: false,
};
const RECEIVER: MulticastBranch = {
  address: address('2001:db8:2::20'),
  qpn: 77,
  psnDelta: 0xffffff,
  write: { vaDelta: 0xffff_ffff_ffff_f000n, rKey: 0xdeadbeef },
  excluded: false,
};

describe('keys and values of the maps of End.MT are read as they were written', () => {
  test.each<Partial<MulticastGroup>>([
    {},
    { source: null, edge: null, replication: null, sourceQpn: null, isRoot: false },
    { keepSource: true },
  ])('group %j', (over) => {
    const group = { ...GROUP, ...over };
    expect(decodeMulticastGroup(encodeMulticastGroup(group))).toEqual(group);
  });

  test.each<Partial<MulticastBranch>>([{}, { write: null, excluded: true }, { address: null, qpn: 0 }])(
    'branch %j',
    (over) => {
      const branch = { ...RECEIVER, ...over };
      expect(decodeMulticastBranch(encodeMulticastBranch(branch))).toEqual(branch);
    },
  );

  test('configuration, destination, port', () => {
    const config = { endMtTlv: 124, treeTlv: 125, fastCnpOption: 0x9e, fastCnpIoamOption: 0xbe };
    expect(decodeMulticastConfig(encodeMulticastConfig(config))).toEqual(config);
    for (const destination of [{ kind: 'edge' }, { kind: 'replication' }, { kind: 'proxy', group: 4095 }] as const)
      expect(decodeMulticastDestination(encodeMulticastDestination(destination))).toEqual(destination);
    expect(decodeMulticastDestination(new Uint8Array(8))).toBeNull();
    for (const isCore of [true, false])
      expect(decodeMulticastPort(encodeMulticastPort({ isCore }))).toEqual({ isCore });
  });

  test('list, its key, and its members', () => {
    const key = { digest: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), group: 9, role: 'branching' } as const;
    expect(decodeMulticastListKey(multicastListKey(key))).toEqual(key);
    expect(() => multicastListKey({ ...key, digest: new Uint8Array(7) })).toThrow(RangeError);
    const list = { group: 9, first: 640, count: 64, role: 'branching', hasLocal: true, parent: 7 } as const;
    expect(decodeMulticastList(encodeMulticastList(list))).toEqual(list);
    const member = { address: GROUP.proxy, list: 12 };
    expect(decodeMulticastMemberKey(multicastMemberKey(member))).toEqual(member);
    expect([multicastStateIndex(3, 'edge'), multicastStateIndex(3, 'branching')]).toEqual([6, 7]);
  });
});

describe('what the programs write', () => {
  test('nothing is set in a state and a record of zeros', () => {
    expect(decodeMulticastState(new Uint8Array(MULTICAST_STATE_SIZE))).toMatchObject({
      current: null,
      high: null,
      sent: null,
      nakPending: null,
      repeat: null,
    });
    expect(decodeMulticastRecord(newMulticastRecord(false))).toMatchObject({
      progress: null,
      nak: null,
      joined: false,
    });
  });

  test('a state names the list in use', () => {
    const state = new Uint8Array(MULTICAST_STATE_SIZE);
    expect(listInUse(state)).toBe(0);
    new DataView(state.buffer).setBigUint64(0, (9n << 44n) | (0x200001n << 22n) | 7n, true);
    expect([listInUse(state), decodeMulticastState(state).current?.list]).toEqual([0x200001, 0x200001]);
  });

  test('a receiver that has joined in another list has joined in the new one', () =>
    expect(decodeMulticastRecord(newMulticastRecord(true)).joined).toBe(true));

  test('a label is the low ten bits of an epoch', () => expect(labelOfEpoch(0xfffff)).toBe(0x3ff));
});

test('counters of End.MT are in the common table', () =>
  expect(COUNTERS.filter(({ name }) => name.startsWith('multicast.')).every(({ index }) => index >= 256)).toBe(true));
