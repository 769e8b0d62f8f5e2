import { describe, expect, test } from 'vitest';
import { declaredThresholds } from '../plan/thresholds.ts';
import { LONGEST_ROCE_FRAME } from '../model/roce.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const port = (keys: string, rest = ''): string => `${ROUTER}ports: [{ interface: wan, ${keys} }]\n${rest}`;
const AUTO = 'k-max: auto, rtt: 10ms';
const PROBES = 'stamp: { targets: [2001:db8::9] }\n';

describe('k-max: auto', () => {
  test('LHCNP-5.3.2-b, LHCNP-5.3.2-d: K_base is 64 kB and alpha 1 when they are not given', () => {
    const [wan] = load(port(AUTO)).ports;
    expect(wan).toMatchObject({ 'k-max': 'auto', 'k-base': 64_000, alpha: 1, rtt: 10 });
    expect(wan).not.toHaveProperty('k-min');
  });

  test('LHCNP-5.3.2-e: alpha, K_base and R are those of the port', () => {
    const text =
      `${ROUTER}ports:\n  - { interface: a, ${AUTO}, alpha: 0.25, k-base: 9kB }\n` +
      `  - { interface: b, ${AUTO}, alpha: 2, bandwidth: 100Gbit }\n`;
    expect(load(text).ports).toMatchObject([
      { 'k-base': 9000, alpha: 0.25 },
      { alpha: 2, bandwidth: 100e9 },
    ]);
  });

  test.each(['1B', '1500', '4197B'])(
    'LHCNP-5.3.2-c: a K_base of %s, less than one RoCEv2 frame, is refused',
    (kBase) => {
      expect(complaints(port(`${AUTO}, k-base: ${kBase}`))).toEqual([
        expect.stringMatching(
          /^ports\[0\]\.k-base: k-base \(\d+ bytes\) must hold one RoCEv2 frame of the largest size, 4198 bytes/,
        ),
      ]);
    },
  );

  test('LHCNP-5.3.2-c: a K_base of exactly one RoCEv2 frame is allowed', () => {
    expect(load(port(`${AUTO}, k-base: ${LONGEST_ROCE_FRAME}`)).ports[0]!['k-base']).toBe(4198);
  });

  test.each([
    ['64kB', ''],
    ['1MB', ''],
    ['9kB', ', k-base: 9kB'],
  ])('LHCNP-5.3.2-f: K_min %s is refused when K_max may be no more%s', (kMin, kBase) => {
    expect(complaints(port(`${AUTO}${kBase}, k-min: ${kMin}`))).toEqual([
      expect.stringMatching(
        /^ports\[0\]\.k-min: k-min \(\d+ bytes\) must be less than k-base, the lower bound of k-max: auto/,
      ),
    ]);
  });

  test('LHCNP-5.3.2-f: K_min below K_base is below every K_max', () => {
    expect(load(port(`${AUTO}, k-min: 63999`)).ports[0]!['k-min']).toBe(63_999);
  });

  test.each(['k-base: 64kB', 'alpha: 1.0', 'bandwidth: 1Gbit'])(
    '%s beside a fixed k-max is refused: it would say nothing',
    (key) => {
      expect(complaints(port(`k-max: 100kB, ${key}`))).toEqual([
        expect.stringMatching(/is used to compute k-max, which is fixed; set k-max: auto$/),
      ]);
      expect(complaints(port(`k-min: 100kB, ${key}`))).toEqual([
        expect.stringMatching(/is used to compute k-max, which is not set/),
      ]);
    },
  );
});

describe('RTT_est', () => {
  test('LHCNP-5.3.1-d, LHCNP-5.3.1-e: is configured by port, or measured', () => {
    expect(load(port('k-max: 100kB, rtt: 3ms')).ports[0]).toMatchObject({ rtt: 3 });
    expect(load(port('k-max: auto, rtt: probe', PROBES)).ports[0]).toMatchObject({ rtt: 'probe' });
    expect(load(port('k-max: auto, rtt: 3ms', PROBES)).ports[0]).toMatchObject({ rtt: 3 });
  });

  test('is measured wherever STAMP probes and nothing is configured', () => {
    expect(load(port('k-max: auto', PROBES)).ports[0]).toMatchObject({ rtt: 'probe' });
    expect(load(port('k-max: 100kB')).ports[0]).not.toHaveProperty('rtt');
  });

  test.each([
    [
      'k-max: auto',
      '',
      'ports[0]: k-max: auto needs a round-trip time: set rtt, or stamp with targets, or with learn: on',
    ],
    [
      'k-max: auto, rtt: probe',
      '',
      'ports[0].rtt: nothing measures round-trip times: rtt: probe needs stamp with targets, or with learn: on',
    ],
    [
      'k-max: 1MB, rtt: probe',
      'stamp: { enabled: off, targets: [2001:db8::9] }\n',
      'ports[0].rtt: nothing measures round-trip times: rtt: probe needs stamp with targets, or with learn: on',
    ],
    [
      'k-max: auto, rtt: probe',
      'stamp: { reflector: on, accept-from: ["2001:db8::/48"] }\n',
      'ports[0].rtt: nothing measures round-trip times: rtt: probe needs stamp with targets, or with learn: on',
    ],
  ])('%s is refused when STAMP does not probe', (keys, rest, complaint) => {
    expect(complaints(port(keys, rest))).toEqual([complaint]);
  });
});

describe('triggers beside K_max', () => {
  test(
    'LHCNP-5.4-d, LHCNP-5.4-e, LHCNP-5.3.1-c: V_ecn, ' +
      'V_growth and the interval that they are measured over are configured',
    () => {
      expect(
        load(port('k-max: 1MB, v-ecn: 12.5%, v-growth: 1.5MB/s, measurement-interval: 20ms')).ports[0],
      ).toMatchObject({ 'v-ecn': 0.125, 'v-growth': 1.5e6, 'measurement-interval': 20 });
    },
  );

  test('are off by default; the interval is 10 ms', () => {
    const [wan] = load(port('k-max: 1MB')).ports;
    expect(wan).toMatchObject({ 'measurement-interval': 10 });
    expect(wan).not.toHaveProperty('v-ecn');
    expect(wan).not.toHaveProperty('v-growth');
  });

  test.each([
    [
      'k-min: 1kB, v-ecn: 50%',
      'ports[0].v-ecn: v-ecn is a trigger of notifications, which a port without k-max does not send',
    ],
    [
      'k-min: 1kB, v-growth: 1MB/s',
      'ports[0].v-growth: v-growth is a trigger of notifications, which a port without k-max does not send',
    ],
    ['k-max: 1kB, ecn: off, v-ecn: 50%', 'ports[0].v-ecn: v-ecn is the rate of CE marking, which ecn: off forbids'],
    ['k-max: 1kB, v-growth: 1000GB/s', 'ports[0].v-growth: no queue grows by 10000000000 bytes in 10 ms'],
  ])('%s is refused', (keys, complaint) => {
    expect(complaints(port(keys))).toEqual([complaint]);
  });

  test.each<readonly [keys: string, path: string, allowed: RegExp]>([
    ['k-max: soon', 'k-max', /auto, or a size in bytes such as 50kB/],
    ['k-max: auto, rtt: 10', 'rtt', /probe, or a time such as 20ms, from 1us to 10s/],
    ['k-max: auto, rtt: 0s', 'rtt', /from 1us to 10s/],
    ['k-max: auto, rtt: 1ms, alpha: 0', 'alpha', /a number such as 1.5, from 0.01 to 100/],
    ['k-max: auto, rtt: 1ms, alpha: 0.0005', 'alpha', /a number such as 1.5/],
    ['k-max: auto, rtt: 1ms, bandwidth: 100', 'bandwidth', /a bit rate such as 100Gbit.*kbit, Mbit, Gbit, Tbit/],
    ['k-max: 1kB, v-ecn: 0.5', 'v-ecn', /a percentage such as 50%, from 0.001% to 99.999%/],
    ['k-max: 1kB, v-ecn: 100%', 'v-ecn', /a percentage/],
    ['k-max: 1kB, v-growth: 10MB', 'v-growth', /bytes per second such as 10MB\/s/],
    ['k-max: 1kB, measurement-interval: 1us', 'measurement-interval', /from 1ms to 10s/],
  ])('%s is out of range', (keys, path, allowed) => {
    expect(complaints(port(keys))).toEqual([
      expect.stringMatching(new RegExp(`^ports\\[0\\]\\.${path}: found .*allowed: .*${allowed.source}`)),
    ]);
  });
});

test('LHCNP-5.3.2-g: without k-min K_min is half of K_max; a port without CE marking has none', () => {
  const thresholds = (keys: string): unknown => declaredThresholds(load(port(keys)).ports[0]!);
  expect(thresholds('k-max: 1B, ecn: off')).toEqual({ kMin: null, kMax: 1 });
  expect(thresholds('k-max: 7B')).toEqual({ kMin: 3, kMax: 7 });
  expect(thresholds('k-min: 2B, k-max: 7B')).toEqual({ kMin: 2, kMax: 7 });
  expect(thresholds('k-min: 1kB')).toEqual({ kMin: 1000, kMax: null });
  expect(thresholds(AUTO)).toEqual({ kMin: null, kMax: null });
  expect(complaints(port('k-max: 1B'))).toEqual([
    expect.stringMatching(/^ports\[0\]\.k-max: there is no k-min below a k-max of 1 byte/),
  ]);
  expect(complaints(port('k-min: 7B, k-max: 7B'))).toEqual([
    expect.stringMatching(/^ports\[0\]\.k-min: k-min \(7 bytes\) must be less than k-max \(7 bytes\)/),
  ]);
});

test('LHCNP-5.4-e: a queue may grow by all that the kernel counts in an interval, and by no more', () => {
  expect(complaints(port('k-max: 1kB, v-growth: 400GB/s'))).toEqual([]);
  expect(complaints(port('k-max: 1kB, v-growth: 4GB/s, measurement-interval: 1001ms'))).toHaveLength(1);
});
