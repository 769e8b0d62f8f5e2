import { describe, expect, it } from 'vitest';
import { PortRtt } from './port-rtt.ts';

describe('RTT_est of a port', () => {
  it('LHCNP-5.3.1-d: is the smallest of the targets reached through it', () => {
    const rtt = new PortRtt();
    expect(rtt.update([{ port: 'eth2', rttMs: 20 }, { port: 'eth2', rttMs: 10 }, { port: 'eth3', rttMs: 5 }])).toBe(true);
    expect([...rtt.values]).toEqual([['eth2', 10], ['eth3', 5]]);
  });

  it('LHCNP-5.3.2-h: changes when the measurement leaves the band, and not for noise', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    for (const rttMs of [10.9, 9.1, 11.2, 8.8]) {
      expect(rtt.update([{ port: 'eth2', rttMs }])).toBe(false);
      expect(rtt.values.get('eth2')).toBe(10);
    }
    expect(rtt.update([{ port: 'eth2', rttMs: 11.5 }])).toBe(true);
    expect(rtt.values.get('eth2')).toBe(11.5);
  });

  it('a slow drift is followed in steps of the band', () => {
    const rtt = new PortRtt();
    let changes = 0;
    for (let rttMs = 10; rttMs <= 20; rttMs += 0.01) changes += rtt.update([{ port: 'eth2', rttMs }]) ? 1 : 0;
    expect(changes).toBeGreaterThan(3);
    expect(changes).toBeLessThan(9);
    expect(rtt.values.get('eth2')).toBeGreaterThan(17.5);
  });

  it('microseconds do not matter on a short path', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 0.1 }]);
    expect(rtt.update([{ port: 'eth2', rttMs: 0.14 }])).toBe(false);
  });

  it('a port without targets has none any more', () => {
    const rtt = new PortRtt();
    rtt.update([{ port: 'eth2', rttMs: 10 }]);
    expect(rtt.update([])).toBe(true);
    expect(rtt.values.size).toBe(0);
    expect(rtt.update([])).toBe(false);
  });
});
