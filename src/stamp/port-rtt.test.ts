import { describe, expect, test } from 'vitest';
import { PortRtt } from './port-rtt.ts';

describe('RTT_est of a port', () => {
  test('LHCNP-5.3.1-d: is the smallest of the targets reached through it', () => {
    const rtt = new PortRtt();
    expect(
      rtt.update([
        { port: 'eth2', rttMs: 20 },
        { port: 'eth2', rttMs: 10 },
        { port: 'eth3', rttMs: 5 },
      ]),
    ).toBe(true);
    expect([...rtt.values]).toEqual([
      ['eth2', 10],
      ['eth3', 5],
    ]);
  });

  test('LHCNP-5.3.2-h: changes when the measurement leaves the band, and not for noise', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    for (const rttMs of [10.9, 9.1, 11.2, 8.8]) {
      expect(rtt.update([{ port: 'eth2', rttMs }])).toBe(false);
      expect(rtt.values.get('eth2')).toBe(10);
    }
    expect(rtt.update([{ port: 'eth2', rttMs: 11.5 }])).toBe(true);
    expect(rtt.values.get('eth2')).toBe(11.5);
  });

  test('a drift is followed in steps of the band', () => {
    const rtt = new PortRtt();
    let changes = 0;
    for (let rttMs = 10; rttMs <= 20; rttMs += 0.1) changes += rtt.update([{ port: 'eth2', rttMs }]) ? 1 : 0;
    expect(changes).toBeGreaterThan(3);
    expect(changes).toBeLessThan(9);
    expect(rtt.values.get('eth2')).toBeGreaterThan(17.5);
  });

  test('LHCNP-5.3.2-h: a smooth rise to a value within the wide band is reported in the end, from any start', () => {
    for (let from = 1; from < 20; from += 0.5) {
      const rtt = new PortRtt();
      let measured = from;
      let changes = 0;
      for (let i = 0; i < 300; i++) {
        measured += (20 - measured) / 16;
        changes += rtt.update([{ port: 'eth2', rttMs: measured }]) ? 1 : 0;
      }
      expect(rtt.values.get('eth2')).toBeGreaterThanOrEqual(20 / (1 + 1 / 32) - 1e-3);
      expect(changes).toBeLessThan(30);
    }
  });

  test('a small lasting difference is reported after a while, and a repeated value does not count as a measurement', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    for (let i = 0; i < 100; i++) expect(rtt.update([{ port: 'eth2', rttMs: 10.5 }])).toBe(false);
    const later = Array.from({ length: 60 }, (_, i) => rtt.update([{ port: 'eth2', rttMs: 10.5 + (i % 2) / 100 }]));
    expect(later.filter(Boolean)).toHaveLength(1);
    expect(rtt.values.get('eth2')).toBeCloseTo(10.5, 1);
  });

  test('LHCNP-5.3.2-h: leaving the narrow band briefly, or to alternating sides, is noise, however long it was quiet before', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    const samples = [
      ...Array.from({ length: 200 }, (_, i) => 10 + (i % 3) / 100),
      ...Array.from({ length: 31 }, (_, i) => 10.5 + (i % 2) / 100),
      10.1,
      ...Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 10.6 : 9.4)),
    ];
    for (const rttMs of samples) expect(rtt.update([{ port: 'eth2', rttMs }])).toBe(false);
  });

  test('microseconds do not matter on a short path', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 0.1 }]);
    expect(rtt.update([{ port: 'eth2', rttMs: 0.14 }])).toBe(false);
  });

  test('a port without targets has none', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    expect(rtt.update([])).toBe(true);
    expect(rtt.values.size).toBe(0);
    expect(rtt.update([])).toBe(false);
  });
});
