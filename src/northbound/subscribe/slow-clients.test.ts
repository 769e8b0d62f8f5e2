import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { Served } from './served.fixture.ts';
import { onChange, sampled, subscribeRequest } from './subscriber.fixture.ts';

let served: Served;
beforeEach(async () => {
  served = new Served();
  await served.start();
});
afterEach(() => served.stop());

describe('clients that are slow', () => {
  const rows = (n: number, description: string, value = 0) =>
    Array.from({ length: n }, (_, i) => ({ name: `c${i}`, value, default: 0, description, source: 's' }));

  test('the newest value comes, with how many it missed; others get every change', async () => {
    served.state.codepoints = rows(300, 'd'.repeat(8000));
    const slow = await served.subscribed([onChange('cnpd', 'codepoints')]);
    const fast = await served.subscribed([onChange('cnpd', 'codepoints', 'value')]);
    slow.call.pause();
    // Each round is a different text for all, until the transport takes no more.
    for (let round = 1; round <= 6; round++) {
      served.state.codepoints = rows(300, String(round).repeat(8000), round);
      await until(`round ${round}`, () => fast.picture.get('/cnpd/codepoints[name=c299]/value') === BigInt(round));
    }
    expect(fast.log.filter((line) => line.startsWith('/cnpd/codepoints[name=c7]/value'))).toHaveLength(7);
    slow.call.resume();
    const last = '/cnpd/codepoints[name=c299]';
    await until('it has the newest', () => slow.picture.get(`${last}/value`) === 6n);
    expect(slow.picture.get(`${last}/description`)).toBe('6'.repeat(8000));
    const seen = slow.log.filter((line) => line.startsWith(`${last}/value`)).length;
    expect(seen).toBeLessThan(7);
    expect(seen + slow.duplicates.get(`${last}/value`)!).toBe(7);
    expect(served.counts.get('northbound.subscribe.missed')).toBeGreaterThan(0);
  });

  test('beyond the bound of its queue it is told to forget, and gets all anew', async () => {
    await served.start({ maxQueued: 100 });
    served.state.codepoints = rows(1000, 'd');
    const client = await served.subscribed([onChange('cnpd', 'codepoints')]);
    const clock = (): bigint => BigInt(Date.now()) * 1_000_000n;
    const before = clock();
    await until('the clock moves on', () => clock() > before);
    served.state.codepoints = rows(500, 'd', 1);
    await until('it has the new ones', () => client.picture.get('/cnpd/codepoints[name=c499]/value') === 1n);
    expect(client.log).toContain('delete /cnpd/codepoints');
    // A collector may ignore what is older than what it has.
    expect(client.notifications.find((one) => one.delete.length > 0)!.timestamp).toBeGreaterThan(before);
    expect(client.picture.size).toBe(500 * 5);
    expect(served.counts.get('northbound.subscribe.overflow')).toBe(1);
  });

  test('one that reads nothing is cut off, and its subscription is over', async () => {
    await served.start({ stuckMs: 300 });
    served.state.codepoints = rows(300, 'd'.repeat(8000));
    const client = served.call();
    client.call.pause();
    client.call.write(subscribeRequest([sampled(100, 'cnpd', 'codepoints'), onChange('cnpd', 'codepoints')]));
    await until('it is cut off', () => served.counts.get('northbound.subscribe.stuck'));
    await until('nothing is compared for it', () => served.subscriptions.watched === 0);
  });

  test('100 subscribers, one of them stuck: the others get each change', async () => {
    served.state.codepoints = rows(20, 'd'.repeat(80_000));
    const stuck = await served.subscribed([{ ...sampled(100, 'cnpd', 'codepoints') }, onChange('cnpd', 'codepoints')]);
    stuck.call.pause();
    const others = await Promise.all(
      Array.from({ length: 99 }, () => served.subscribed([onChange('cnpd', 'codepoints', 'value')])),
    );
    for (let round = 1; round <= 3; round++) {
      served.state.codepoints = rows(20, 'd'.repeat(80_000), round);
      await Promise.all(
        others.map((client) =>
          until('the change', () => client.picture.get('/cnpd/codepoints[name=c19]/value') === BigInt(round)),
        ),
      );
    }
    const lines = new Set(others.map(({ log }) => log.filter((line) => line.includes('[name=c7]')).join()));
    expect(lines.size).toBe(1);
  });
});
