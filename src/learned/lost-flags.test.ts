import { describe, expect, test } from 'vitest';
import { SIGNALING_METRIC } from '../model/signaling-metric.ts';
import { fixture, flagged, plain } from './table.fixture.ts';

const SENDERS = '2001:db8:1::/64';
/** As leaked by a router that knows no flag: the metric of its path is added. */
const leaked = plain(SENDERS, SIGNALING_METRIC + 20);
const NOTHING = { prefixes: 0, originators: [] };

describe('a flag that is lost on the way', () => {
  test('is known from the metric alone, and says who loses it', () => {
    const { table, report } = fixture();
    report('leaf1', [plain(SENDERS, 10)]);
    report('leaf2', [plain('2001:db8:2::/64', SIGNALING_METRIC)]);
    expect(table.lostFlags()).toEqual(NOTHING);
    report('cnpd1', [leaked, plain('2001:db8:3::/64', SIGNALING_METRIC + 1)]);
    report('cnpd2', [leaked]);
    expect(table.lostFlags()).toEqual({ prefixes: 2, originators: ['cnpd1', 'cnpd2'] });
  });

  test('is none where the flag arrives from another router too, or no longer arrives without it', () => {
    const { table, report, reach } = fixture();
    report('leaf1', [leaked]);
    report('cnpd1', [flagged(SENDERS, '2001:db8::9')]);
    expect(table.lostFlags()).toEqual(NOTHING);
    report('cnpd1', []);
    expect(table.lostFlags().prefixes).toBe(1);
    reach([]);
    expect(table.lostFlags()).toEqual(NOTHING);
    reach(['leaf1']);
    report('leaf1', [plain(SENDERS, 10)]);
    expect(table.lostFlags()).toEqual(NOTHING);
  });

  test('is one of IS-IS alone: other protocols have no such metric', () => {
    const { table, report } = fixture();
    report('peer', [leaked], 'bgp');
    expect(table.lostFlags()).toEqual(NOTHING);
  });
});
