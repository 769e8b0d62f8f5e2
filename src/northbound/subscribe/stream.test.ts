import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { StateSource } from '../../model/state.ts';
import { exampleState, sourceOf } from '../state.fixture.ts';
import { Served, over, synced } from './served.fixture.ts';
import { ms, onChange, sampled, targetDefined } from './subscriber.fixture.ts';

let served: Served;
beforeEach(async () => {
  served = new Served();
  await served.start();
});
afterEach(() => served.stop());

describe('Subscribe STREAM, ON_CHANGE', () => {
  test('first all, then what changes; entries and leaves that go are deleted', async () => {
    const client = await served.subscribed([onChange('cnpd', 'ports'), onChange('cnpd', 'proxies')]);
    const before = client.log.length;
    served.state.ports[0]!.kMax = 7;
    served.state.ports[0]!.rttMs = null;
    served.state.ports.push({ ...exampleState().ports[0]!, interface: 'eth3' });
    served.state.proxies = [];
    await until('the changes are there', () => client.picture.get('/cnpd/ports[interface=eth3]/interface'));
    await until('the proxy is gone', () => client.log.includes('delete /cnpd/proxies[address=2001:db8:ffff::1]'));
    const news = client.log.slice(before);
    expect(news).toContain('/cnpd/ports[interface=eth2]/k-max 7');
    expect(news).toContain('delete /cnpd/ports[interface=eth2]/rtt-ms');
    expect(news.filter((line) => line.includes('eth2'))).toHaveLength(2);
    expect([...client.picture.keys()].some((path) => path.includes('proxies'))).toBe(false);
  });

  test('an entry that a wider path and a narrower one select is sent once; a narrow path tells of its leaf only', async () => {
    const client = await synced(
      served.subscribe([onChange('cnpd', 'ports'), onChange('cnpd', ['ports', { interface: 'eth2' }], 'packets')]),
    );
    const narrow = await served.subscribed([onChange('cnpd', 'ports', 'packets')]);
    const sent = client.log.length;
    served.state.ports[0]!.packets++;
    await until('the change is there', () => client.log.length > sent);
    served.state.ports = [];
    await until('the port is gone', () => narrow.log.find((line) => line.startsWith('delete')));
    expect(client.log.slice(sent, sent + 1)).toEqual(['/cnpd/ports[interface=eth2]/packets 11']);
    expect(narrow.log).toEqual([
      '/cnpd/ports[interface=eth2]/packets 10',
      'sync',
      '/cnpd/ports[interface=eth2]/packets 11',
      'delete /cnpd/ports[interface=eth2]/packets',
    ]);
  });

  test('updates_only: sync_response, and from then on changes', async () => {
    const client = await served.subscribed([onChange('cnpd', 'status')], { updatesOnly: true });
    expect(client.log).toEqual(['sync']);
    served.state.status.health = 'running';
    await until('the change is there', () => client.log.length > 1);
    expect(client.log).toEqual(['sync', '/cnpd/status/health running']);
  });

  test('heartbeat: what has not changed is sent again', async () => {
    const client = await served.subscribed([{ ...onChange('cnpd', 'status', 'pid'), heartbeatInterval: ms(1000) }]);
    await until('it is sent again', () => client.log.length >= 3);
    expect(client.log.slice(0, 3)).toEqual(['/cnpd/status/pid 42', 'sync', '/cnpd/status/pid 42']);
  });

  test('however many subscribe, a unit is compared once; nobody left: not at all', async () => {
    const many = await Promise.all(
      Array.from({ length: 20 }, () => served.subscribed([onChange('cnpd', 'isis', 'neighbors')])),
    );
    expect(served.subscriptions.watched).toBe(1);
    served.state.isis.neighbors[0]!.state = 'down';
    await Promise.all(
      many.map((client) => until('it is told', () => client.log.some((line) => line.endsWith('down')))),
    );
    for (const client of many) client.close();
    await until('nothing is compared', () => served.subscriptions.watched === 0);
  });

  test('a unit that cannot be read ends the subscription with INTERNAL, by its name', async () => {
    const failing = () => Promise.reject(new Error('map gone'));
    await served.start({ source: { ...sourceOf(served.state), flows: failing } as StateSource });
    const client = served.subscribe([onChange('cnpd', 'flows')]);
    await over(client);
    expect(client.error).toMatchObject({
      code: 13,
      details: expect.stringContaining('flows: the state cannot be read'),
    });
  });
});

describe('Subscribe STREAM, SAMPLE', () => {
  test('all values again and again; with suppress_redundant those that differ, and what is gone', async () => {
    const all = await served.subscribed([sampled(100, 'cnpd', 'status', 'pid')]);
    const news = await served.subscribed([{ ...sampled(100, 'cnpd', 'ports'), suppressRedundant: true }]);
    const sent = news.log.length;
    await until('three samples', () => all.log.length >= 4);
    expect(new Set(all.log)).toEqual(new Set(['/cnpd/status/pid 42', 'sync']));
    expect(news.log).toHaveLength(sent);
    served.state.ports[0]!.triggers++;
    await until('the change is there', () => news.log.length > sent);
    served.state.ports = [];
    await until('the port is gone', () => news.picture.size === 0);
    expect(news.log.slice(sent)).toEqual([
      '/cnpd/ports[interface=eth2]/triggers 6',
      'delete /cnpd/ports[interface=eth2]',
    ]);
  });

  test('heartbeat: suppressed values are sent again', async () => {
    const client = await synced(
      served.subscribe([
        { ...sampled(100, 'cnpd', 'status', 'pid'), suppressRedundant: true, heartbeatInterval: ms(1000) },
      ]),
    );
    await until('it is sent again', () => client.log.length >= 3);
    expect(client.log.slice(0, 3)).toEqual(['/cnpd/status/pid 42', 'sync', '/cnpd/status/pid 42']);
  });

  test('what all remember for suppress_redundant is bounded; a stream that ends gives its share back', async () => {
    // An entry of ports has some 30 leaves.
    await served.start({ maxRemembered: 40 });
    const redundant = [{ ...sampled(100, 'cnpd', 'ports'), suppressRedundant: true }];
    const first = await served.subscribed(redundant);
    const refused = served.subscribe(redundant);
    await over(refused);
    expect(refused.error).toMatchObject({ code: 8, details: expect.stringContaining('at most 40 leaves') });
    first.close();
    await until('there is room', async () => {
      const next = served.subscribe(redundant);
      await until('an answer', () => next.syncs > 0 || next.isOver);
      return next.syncs > 0;
    });
  });

  test('updates_only with suppress_redundant: what is as it was at the start is not sent', async () => {
    const client = await synced(
      served.subscribe([{ ...sampled(100, 'cnpd', 'ports'), suppressRedundant: true }], { updatesOnly: true }),
    );
    served.state.ports[0]!.triggers = 99;
    await until('the change is there', () => client.log.length > 1);
    expect(client.log).toEqual(['sync', '/cnpd/ports[interface=eth2]/triggers 99']);
  });
});

describe('Subscribe STREAM, TARGET_DEFINED', () => {
  test('state on change; counters and times are sampled', async () => {
    const client = await synced(
      served.subscribe([
        { ...targetDefined('cnpd', 'ports'), sampleInterval: ms(400) },
        targetDefined('cnpd', 'flows'),
      ]),
    );
    expect(client.picture.get('/cnpd/ports[interface=eth2]/packets')).toBe(10n);
    const before = client.log.length;
    served.state.ports[0]!.packets = 11;
    served.state.ports[0]!.kMax = 7;
    await until('the counter is there', () => client.picture.get('/cnpd/ports[interface=eth2]/packets') === 11n);
    const news = client.log.slice(before);
    // The setting came when it changed, the counters with the sample.
    expect(news[0]).toBe('/cnpd/ports[interface=eth2]/k-max 7');
    expect(news.filter((line) => line.includes('k-max'))).toHaveLength(1);
    expect(news).toContain('/cnpd/ports[interface=eth2]/bytes 9007199254740991');
    expect(news.some((line) => line.includes('/flows'))).toBe(false);
  });
});
