import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, structure, u32Key } from './layout.ts';
import { FORMAT_NUMBER } from './notifications.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_SIZE,
  PROXY_PREFIX_SIZE,
  decodeLatency,
  decodeProxyConfig,
  decodeProxySender,
  encodeProxyConfig,
  encodeProxyInstructions,
  encodeProxySender,
  encodeProxySource,
  latencyBounds,
  latencyQuantile,
} from './proxy.ts';
import {
  FLOW_KEY_SIZE,
  QUEUE_PAIR_SIZE,
  decodeFlowKey,
  decodeQueuePair,
  encodeFlowKey,
  encodeStaticQueuePair,
} from './queue-pairs.ts';

const CONFIG = {
  address: address('2001:db8:ffff::1'),
  udpPort: 1021,
  perFlowIntervalNs: 50_000,
  noticesPerSecond: 10_000,
  burst: 100,
  learning: DEFAULT_LEARNING_LIMITS,
};

describe('values of the proxy', () => {
  test.each(['2001:db8:ffff::1', '192.0.2.1'])('the configuration survives encoding and decoding: %s', (text) => {
    const config = { ...CONFIG, address: address(text) };
    expect(encodeProxyConfig(config)).toHaveLength(PROXY_CONFIG_SIZE);
    expect(decodeProxyConfig(encodeProxyConfig(config))).toEqual(config);
  });

  test.each([
    ['2001:db8:ffff::1', '192.0.2.1'],
    ['192.0.2.1', '2001:db8:ffff::1'],
  ])('so does one with an address of each family: %s, %s', (first, second) => {
    const config = { ...CONFIG, address: address(first), otherAddress: address(second) };
    expect(decodeProxyConfig(encodeProxyConfig(config))).toEqual(config);
  });

  test('a map that was never written holds no configuration', () => {
    expect(decodeProxyConfig(new Uint8Array(PROXY_CONFIG_SIZE))).toBeUndefined();
  });

  test('PNC-6-b: a rate that does not divide a second is rounded down, never up', () => {
    expect(
      decodeProxyConfig(encodeProxyConfig({ ...CONFIG, noticesPerSecond: 3 }))!.noticesPerSecond,
    ).toBeLessThanOrEqual(3);
  });

  test.each([
    { noticesPerSecond: 0 },
    { noticesPerSecond: NaN },
    { burst: 0.5 },
    { learning: { ...DEFAULT_LEARNING_LIMITS, hits: -1 } },
    { learning: { ...DEFAULT_LEARNING_LIMITS, hits: 2.5 } },
  ])('what would be no limit is refused: %o', (wrong) => {
    expect(() => encodeProxyConfig({ ...CONFIG, ...wrong })).toThrow(RangeError);
  });

  test('a prefix’s value names its family, so that ::/0 does not match IPv4', () => {
    expect([...encodeProxySource(prefix('::/0'))]).toEqual([6, 0, 0, 0, 0, 0, 0, 0]);
    expect(encodeProxySource(prefix('10.0.0.0/8'))[0]).toBe(4);
    expect(encodeProxySender({ prefix: prefix('10.0.0.0/8'), format: 'standard-cnp' })).toHaveLength(PROXY_PREFIX_SIZE);
    expect(decodeProxySender(encodeProxySender({ prefix: prefix('::/0'), format: 'standard-cnp' }))).toBe(
      'standard-cnp',
    );
    expect(decodeProxySender(new Uint8Array(PROXY_PREFIX_SIZE))).toBeUndefined();
  });

  test('formats have the numbers of the builder', () => {
    for (const format of ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] as const) {
      const value = encodeProxySender({ prefix: prefix('::/0'), format });
      expect({ value1: value[1], decodeProxySender: decodeProxySender(value) }).toEqual({
        value1: FORMAT_NUMBER[format],
        decodeProxySender: format,
      });
    }
  });

  test('instructions are four bytes a level: parameter, level, action', () => {
    const byLevel = Array.from({ length: 8 }, (_, n) => ({
      level: 100 + n,
      action: n < 4 ? ('rate-reduce' as const) : ('pause' as const),
      parameter: 1000 * n,
    }));
    const value = encodeProxyInstructions(byLevel);
    expect({ valueLength: value.length, value: [...value.subarray(20, 24)] }).toEqual({
      valueLength: 32,
      value: [...structure(2, (view) => view.setUint16(0, 5000, LITTLE_ENDIAN)), 105, 1],
    });
    expect(() => encodeProxyInstructions(byLevel.slice(1))).toThrow(RangeError);
  });
});

describe('times', () => {
  test('the buckets follow each other without a gap, four an octave', () => {
    for (let i = 8; i < 127; i++) expect(latencyBounds(i).toNs).toBe(latencyBounds(i + 1).fromNs);
    expect(latencyBounds(4 * 10)).toEqual({ fromNs: 1024, toNs: 1280 });
  });

  test('a quantile is the upper bound of its bucket, over all CPUs; undefined without measurements', () => {
    const twoCpus = (a: bigint, b: bigint): Uint8Array =>
      structure(16, (view) => {
        view.setBigUint64(0, a, LITTLE_ENDIAN);
        view.setBigUint64(8, b, LITTLE_ENDIAN);
      });
    const buckets = decodeLatency([
      [u32Key(44), twoCpus(1n, 0n)],
      [u32Key(40), twoCpus(90n, 9n)],
      [u32Key(41), twoCpus(0n, 0n)],
    ]);
    expect(buckets.map(({ count }) => count)).toEqual([99n, 1n]);
    expect(latencyQuantile(buckets, 0.99)).toBe(1280);
    expect(latencyQuantile(buckets, 1)).toBe(2560);
    expect(latencyQuantile([], 0.5)).toBeUndefined();
  });
});

describe('Queue Pairs', () => {
  test.each([
    ['2001:db8::1', '2001:db8::2'],
    ['10.0.0.1', '10.0.0.2'],
  ])('a flow survives encoding and decoding: %s', (sender, receiver) => {
    const flow = { sender: address(sender), receiver: address(receiver), receiverQpn: 0xabcdef, tenant: 0x8000_0007 };
    expect(encodeFlowKey(flow)).toHaveLength(FLOW_KEY_SIZE);
    expect(decodeFlowKey(encodeFlowKey(flow))).toEqual(flow);
  });

  test('a configured Queue Pair has unknown PSNs', () => {
    const flow = { sender: address('10.0.0.1'), receiver: address('10.0.0.2'), receiverQpn: 5 };
    const value = encodeStaticQueuePair({ senderQpn: 0x64, now: 12n });
    expect(value).toHaveLength(QUEUE_PAIR_SIZE);
    expect(decodeQueuePair(encodeFlowKey(flow), value)).toEqual({
      ...flow,
      tenant: 0,
      peerTenant: 0,
      senderQpn: 0x64,
      source: 'configured',
      startingPsn: null,
      lastPsn: null,
      learnedAt: 12n,
      lastSeen: 12n,
      cnps: 0n,
      packets: 0n,
      bytes: 0n,
      confirmed: true,
      doubtful: false,
    });
  });

  test('an entry with an unknown source is not decoded', () => {
    expect(decodeQueuePair(new Uint8Array(FLOW_KEY_SIZE), new Uint8Array(QUEUE_PAIR_SIZE))).toBeUndefined();
  });
});
