import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Encoding, PathSchema, SubscriptionList_Mode } from '../gen/gnmi/gnmi_pb.js';
import { exampleState, sender } from '../state.fixture.ts';
import { Served, over, synced } from './served.fixture.ts';
import { pathTo, pollRequest, targetDefined } from './subscriber.fixture.ts';

const { ONCE, POLL } = SubscriptionList_Mode;

let served: Served;
beforeEach(async () => {
  served = new Served();
  await served.start();
});
afterEach(() => served.stop());

describe('Subscribe ONCE', () => {
  test('the leaves that a path selects, one update each, then sync_response, then the end', async () => {
    const client = served.subscribe([targetDefined('cnpd', 'status')], { mode: ONCE });
    await over(client);
    expect(client.error).toBeUndefined();
    expect(client.log.at(-1)).toBe('sync');
    expect(Object.fromEntries(client.picture)).toMatchObject({
      '/cnpd/status/version': '0.1.0',
      '/cnpd/status/pid': 42n,
      '/cnpd/status/intent/file': '/etc/cnpd/cnpd.yaml',
      '/cnpd/status/intent/last-reload/errors': ['cnpd.yaml:3:1: unknown key'],
      '/cnpd/status/problems[feature=port eth2][problem=the root qdisc is pfifo_fast]/code': 'ports.queue-unreadable',
    });
    expect(served.asked).toEqual(['status']);
  });

  test('all of the state is what Get has in PROTO, in every encoding', async () => {
    const whole = async (encoding: Encoding) => {
      const client = served.subscribe([targetDefined()], { mode: ONCE, encoding });
      await over(client);
      return client.picture;
    };
    const [proto, json, ietf] = [
      await whole(Encoding.PROTO),
      await whole(Encoding.JSON),
      await whole(Encoding.JSON_IETF),
    ];
    expect(proto.size).toBeGreaterThan(300);
    expect([...json.keys()]).toEqual([...proto.keys()]);
    const bytes = '/cnpd/ports[interface=eth2]/bytes';
    expect([proto.get(bytes), json.get(bytes), ietf.get(bytes)]).toEqual([
      9_007_199_254_740_991n,
      9_007_199_254_740_991,
      '9007199254740991',
    ]);
    const rtt = '/cnpd/rtt[target=2001:db8:ffff::2]/rtt-ms';
    expect([proto.get(rtt), json.get(rtt), ietf.get(rtt)]).toEqual([20.063, 20.063, '20.063']);
    expect(proto.get('/cnpd/groups/group[proxy-address=2001:db8:aa::1]/roles')).toEqual(
      exampleState().groups.group[0]!.roles,
    );
  });

  test('wildcards, keys in any spelling, prefix with target and origin', async () => {
    const prefix = create(PathSchema, { target: 'leaf1', origin: 'cnpd', elem: pathTo('cnpd').elem });
    const client = served.subscribe(
      [
        targetDefined(['senders', { prefix: '2001:DB8:1:0::/64' }], 'metric'),
        targetDefined('isis', '*', 'level'),
        targetDefined(['ports', { interface: '*' }], 'k-max'),
      ],
      { mode: ONCE, prefix },
    );
    await over(client);
    expect([...client.picture.keys()]).toEqual([
      '/cnpd/senders[prefix=2001:db8:1::/64][carrier=isis][source=L2 0000.0000.c001.00-00]/metric',
      '/cnpd/isis/neighbors[interface=cnpd-isis][level=L2]/level',
      '/cnpd/isis/database[level=2][lsp-id=0000.0000.c001.00-00]/level',
      '/cnpd/ports[interface=eth2]/k-max',
    ]);
    expect(client.notifications.every(({ prefix: p }) => p!.target === 'leaf1' && p!.origin === 'cnpd')).toBe(true);
  });

  test('a subscription that is there twice is served once, one that differs is not lost', async () => {
    const pid = targetDefined('cnpd', 'status', 'pid');
    const version = targetDefined('cnpd', 'status', 'version');
    const client = served.subscribe([pid, version, pid], { mode: ONCE });
    await over(client);
    expect(client.log).toEqual(['/cnpd/status/pid 42', '/cnpd/status/version 0.1.0', 'sync']);
  });

  test('what is not there yet is no error, updates_only is sync_response alone', async () => {
    const none = served.subscribe([targetDefined('cnpd', ['ports', { interface: 'eth9' }])], { mode: ONCE });
    const only = served.subscribe([targetDefined('cnpd')], { mode: ONCE, updatesOnly: true });
    await Promise.all([over(none), over(only)]);
    expect([none.log, only.log, none.error, only.error]).toEqual([['sync'], ['sync'], undefined, undefined]);
  });

  test('a table larger than one message arrives whole', async () => {
    served.state.senders = Array.from({ length: 5000 }, (_, i) => sender(`2001:db8:${i.toString(16)}::/48`));
    const client = served.subscribe([targetDefined('cnpd', 'senders', 'prefix')], { mode: ONCE });
    await over(client);
    expect([...client.picture.values()]).toEqual(served.state.senders.map(({ prefix }) => prefix));
    expect(client.notifications.length).toBeGreaterThan(20);
  });
});

describe('Subscribe POLL', () => {
  test('values at first and for each Poll, each time with sync_response', async () => {
    const client = await served.subscribed([targetDefined('cnpd', 'status', 'pid')], { mode: POLL });
    served.state.status.pid = 43;
    client.call.write(pollRequest());
    await synced(client, 2);
    expect(client.log).toEqual(['/cnpd/status/pid 42', 'sync', '/cnpd/status/pid 43', 'sync']);
    client.call.end();
    await over(client);
    expect(client.error).toBeUndefined();
  });

  test('with updates_only the first answer is sync_response alone', async () => {
    const client = await served.subscribed([targetDefined('cnpd', 'status', 'pid')], { mode: POLL, updatesOnly: true });
    client.call.write(pollRequest());
    await synced(client, 2);
    expect(client.log).toEqual(['sync', '/cnpd/status/pid 42', 'sync']);
  });
});
