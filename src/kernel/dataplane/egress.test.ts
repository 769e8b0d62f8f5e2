import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import {
  EGRESS_PORT_SIZE,
  type EgressPort,
  decodeEgressConfig,
  decodeEgressPort,
  decodeSenderProxy,
  encodeEgressConfig,
  encodeEgressPort,
  encodeSenderProxy,
} from './egress.ts';
import {
  EGRESS_MEASURE_SIZE,
  EGRESS_OPAQUE_SIZE,
  EGRESS_STATS_SIZE,
  MEASURE_FIELDS,
  decodeEgressMeasure,
  decodeEgressStats,
} from './egress-measurements.ts';
import { EgressPortTable, PortSlotsFull, type SlotMap } from './egress-ports.ts';
import {
  decodePrefixKey,
  mappedAddress,
  prefixKey,
  readU32Key,
  structure,
  u32Key,
  unmappedAddress,
  LITTLE_ENDIAN,
} from './layout.ts';

const PORT: Required<EgressPort> = {
  ifindex: 7,
  kMin: 50_000,
  kMax: 100_000,
  levelBytes: [100_000, 110_000, 120_000, 130_000, 140_000, 150_000, 160_000, 170_000],
  perFlowIntervalNs: 20_000_000,
  noticesPerSecond: 1000,
  burst: 10,
  vEcnPpm: 500_000,
  vGrowthBytes: 100_000,
  intervalNs: 10_000_000,
  rttNs: 10_500_000,
  multiqueue: true,
  contribution256: 128,
  deferral256: 26,
  tenant: 7,
  instructions: [
    { fromBytes: null, level: 100, action: 'notify', parameter: 0 },
    { fromBytes: 100_000, level: 180, action: 'rate-reduce', parameter: 30 },
    { fromBytes: null, level: 255, action: 'pause', parameter: 10_000 },
  ],
};

/** An array map in memory. */
function array(size: number, valueSize: number): SlotMap & { values: Uint8Array[] } {
  const values = Array.from({ length: size }, () => new Uint8Array(valueSize));
  return {
    values,
    lookup: (key) => values[readU32Key(key)]?.slice(),
    update: (key, value) => void (values[readU32Key(key)] = value.slice()),
  };
}

function table(): {
  table: EgressPortTable;
  stats: SlotMap;
  measures: SlotMap;
  peaks: SlotMap;
  buckets: SlotMap & { values: Uint8Array[] };
} {
  const maps = {
    ports: array(256, EGRESS_PORT_SIZE),
    stats: array(256, EGRESS_STATS_SIZE),
    measures: array(256, EGRESS_MEASURE_SIZE),
    opaque: array(256, EGRESS_OPAQUE_SIZE),
    peaks: array(256, 8),
    buckets: array(256, 8),
  };
  return { table: new EgressPortTable(maps), ...maps };
}

const u64 = (value: bigint): Uint8Array => structure(8, (view) => view.setBigUint64(0, value, LITTLE_ENDIAN));

describe('values of the congested node', () => {
  test('a port survives encoding and decoding', () => {
    expect(decodeEgressPort(encodeEgressPort(PORT))).toEqual(PORT);
  });

  test('a threshold that is off stays off', () => {
    const off = { ...PORT, kMin: null, kMax: null, vEcnPpm: null, vGrowthBytes: null };
    expect(decodeEgressPort(encodeEgressPort(off))).toEqual(off);
  });

  test('LHCNP-9-e: while the RTT is unknown the interval of a flow is used; thresholds not declared are off', () => {
    const { ifindex, kMin, kMax, levelBytes, perFlowIntervalNs, noticesPerSecond, burst } = PORT;
    const plain = { ifindex, kMin, kMax, levelBytes, perFlowIntervalNs, noticesPerSecond, burst };
    const off = {
      vEcnPpm: null,
      vGrowthBytes: null,
      intervalNs: 10_000_000,
      contribution256: 0,
      deferral256: 0,
      tenant: 0,
      multiqueue: false,
    };
    const instructions = [{ fromBytes: null, level: 100, action: 'notify', parameter: 0 }];
    expect(decodeEgressPort(encodeEgressPort(plain))).toEqual({
      ...plain,
      ...off,
      rttNs: perFlowIntervalNs,
      instructions,
    });
    expect(decodeEgressPort(encodeEgressPort({ ...plain, rttNs: null }))!.rttNs).toBe(perFlowIntervalNs);
  });

  test('a rate that does not divide a second is rounded down, never up', () => {
    expect(decodeEgressPort(encodeEgressPort({ ...PORT, noticesPerSecond: 3 }))!.noticesPerSecond).toBeLessThanOrEqual(
      3,
    );
  });

  test.each([
    { levelBytes: [1] },
    { noticesPerSecond: 0 },
    { burst: 0 },
    { instructions: [] },
    { instructions: [...PORT.instructions, ...PORT.instructions, ...PORT.instructions] },
  ])('an impossible port is refused: %o', (wrong) => {
    expect(() => encodeEgressPort({ ...PORT, ...wrong })).toThrow(RangeError);
  });

  test('the configuration survives encoding and decoding, with and without sources', () => {
    const config = {
      source4: address('192.0.2.1'),
      source6: address('2001:db8::1'),
      udpPort: 1021,
      flowAgeingNs: 60e9,
      flowSeed: 0x1234_5678_9abc_def0n,
      disclose: true,
    };
    expect(decodeEgressConfig(encodeEgressConfig(config))).toEqual(config);
    const none = { ...config, source4: null, source6: null };
    expect(decodeEgressConfig(encodeEgressConfig(none))).toEqual(none);
  });

  test.each([
    ['2001:db8::/32', '2001:db8::1'],
    ['10.0.0.0/8', '192.0.2.1'],
    ['10.0.0.0/8', '2001:db8::1'],
    ['::/0', null],
    ['0.0.0.0/0', null],
  ])('the proxy of %s survives encoding and decoding: %s', (sender, proxy) => {
    const value = encodeSenderProxy({ prefix: prefix(sender), proxy: proxy === null ? null : address(proxy) });
    expect(decodeSenderProxy(value)).toEqual(proxy === null ? null : address(proxy));
    expect(decodePrefixKey(prefixKey(prefix(sender)))).toEqual(prefix(sender));
  });

  test('an IPv4 address is ::ffff:a.b.c.d in a key', () => {
    expect(Buffer.from(mappedAddress(address('192.0.2.1'))).toString('hex')).toBe('00000000000000000000ffffc0000201');
    expect(unmappedAddress(mappedAddress(address('192.0.2.1')))).toEqual(address('192.0.2.1'));
  });

  test('statistics are summed over the CPUs', () => {
    const value = structure(2 * EGRESS_STATS_SIZE, (view) => {
      for (let i = 0; i < 24; i++) view.setBigUint64(8 * i, BigInt(i), LITTLE_ENDIAN);
    });
    expect(decodeEgressStats(value)).toEqual({
      packets: 12n,
      bytes: 14n,
      ceMarked: 16n,
      triggers: 18n,
      notifications: 20n,
      suppressedPerFlow: 22n,
      suppressedPerPort: 24n,
      noProxy: 26n,
      leftWithCe: 28n,
      notContributing: 30n,
      deferred: 32n,
      noFormat: 34n,
    });
  });

  test('a measurement is read', () => {
    const value = structure(EGRESS_MEASURE_SIZE, (view) => {
      view.setBigUint64(MEASURE_FIELDS.start, 77n, LITTLE_ENDIAN);
      view.setUint32(MEASURE_FIELDS.growth, 125_000, LITTLE_ENDIAN);
      view.setUint32(MEASURE_FIELDS.ecn, 500_000, LITTLE_ENDIAN);
    });
    expect(decodeEgressMeasure(value)).toEqual({ measuredAt: 77n, growthBytes: 125_000, ecnMarkingPpm: 500_000 });
  });
});

describe('the table of ports', () => {
  test('finds a port by its interface index, and others whose index is the same modulo 256', () => {
    const { table: ports } = table();
    for (const ifindex of [7, 7 + 256, 7 + 512]) ports.update(u32Key(ifindex), encodeEgressPort({ ...PORT, ifindex }));
    for (const ifindex of [7, 7 + 256, 7 + 512])
      expect(decodeEgressPort(ports.lookup(u32Key(ifindex))!)!.ifindex).toBe(ifindex);
    expect([...ports.keys()].map(readU32Key).sort((a, b) => a - b)).toEqual([7, 263, 519]);
  });

  test('still finds a port after the one in front of it is gone', () => {
    const { table: ports } = table();
    for (const ifindex of [7, 263]) ports.update(u32Key(ifindex), encodeEgressPort({ ...PORT, ifindex }));
    expect(ports.delete(u32Key(7))).toBe(true);
    expect(ports.delete(u32Key(7))).toBe(false);
    expect(ports.lookup(u32Key(7))).toBeUndefined();
    expect(decodeEgressPort(ports.lookup(u32Key(263))!)!.ifindex).toBe(263);
  });

  test('refuses a fifth port for the same four slots', () => {
    const { table: ports } = table();
    for (let i = 0; i < 4; i++) ports.update(u32Key(7 + 256 * i), encodeEgressPort({ ...PORT, ifindex: 7 + 256 * i }));
    expect(() => ports.update(u32Key(7 + 1024), encodeEgressPort({ ...PORT, ifindex: 7 + 1024 }))).toThrow(
      PortSlotsFull,
    );
  });

  test('a port that takes over a slot starts from zero; one that is only reloaded does not', () => {
    const { table: ports, peaks, measures } = table();
    peaks.update(u32Key(7), u64(9n));
    measures.update(u32Key(7), new Uint8Array(EGRESS_MEASURE_SIZE).fill(9));
    ports.update(u32Key(7), encodeEgressPort(PORT));
    expect(ports.peakQueueBytes(7)).toBe(0);
    expect(ports.measure(7)).toEqual({ ecnMarkingPpm: 0, growthBytes: 0, measuredAt: 0n });
    expect(ports.measure(8)).toBeUndefined();
    peaks.update(u32Key(7), u64(5n));
    ports.update(u32Key(7), encodeEgressPort({ ...PORT, kMin: 1 }));
    expect(ports.peakQueueBytes(7)).toBe(5);
    ports.resetPeak(7);
    expect(ports.peakQueueBytes(7)).toBe(0);
  });

  test('a changed rate opens the bucket again, a changed threshold does not', () => {
    const { table: ports, buckets } = table();
    ports.update(u32Key(7), encodeEgressPort(PORT));
    buckets.update(u32Key(7), u64(99n));
    ports.update(u32Key(7), encodeEgressPort({ ...PORT, kMin: 1 }));
    expect(buckets.values[7]).toEqual(u64(99n));
    ports.update(u32Key(7), encodeEgressPort({ ...PORT, noticesPerSecond: 2000 }));
    expect(buckets.values[7]).toEqual(u64(0n));
  });
});
