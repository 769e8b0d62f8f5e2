import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import {
  Encoding,
  ExtensionSchema,
  PathSchema,
  SubscribeRequestSchema,
  SubscriptionMode,
} from '../gen/gnmi/gnmi_pb.js';
import { Served, over } from './served.fixture.ts';
import { onChange, pollRequest, sampled, subscribeRequest } from './subscriber.fixture.ts';

let served: Served;
beforeEach(async () => {
  served = new Served();
  await served.start();
});
afterEach(() => served.stop());

describe('what is refused', () => {
  const { ON_CHANGE } = SubscriptionMode;
  const first = subscribeRequest([onChange('cnpd')]);
  const refusals: [string, Parameters<typeof subscribeRequest> | 'poll' | 'empty' | 'history', number, RegExp][] = [
    ['a path that does not exist', [[onChange('cnpd', 'senderz')]], 5, /^\/cnpd\/senderz: no element/],
    ['the wildcard ...', [[onChange('cnpd', '...')]], 12, /\.\.\./],
    ['another origin', [[onChange()], { prefix: create(PathSchema, { origin: 'x' }) }], 3, /origin "x"/],
    ['the encoding BYTES', [[onChange('cnpd')], { encoding: Encoding.BYTES }], 12, /BYTES/],
    ['no subscription', [[]], 3, /no subscription/],
    ['65 subscriptions', [Array.from({ length: 65 }, () => onChange('cnpd'))], 3, /65 subscriptions/],
    ['an interval below the shortest', [[sampled(99, 'cnpd')]], 3, /sample_interval is 99000000 ns; allowed: 100 ms/],
    ['a heartbeat below the shortest', [[{ ...onChange('cnpd'), heartbeatInterval: 1n }]], 3, /heartbeat_interval/],
    ['a mode of the list that does not exist', [[onChange('cnpd')], { mode: 9 as never }], 3, /mode 9/],
    ['a mode that does not exist', [[{ ...onChange('cnpd'), mode: 9 as typeof ON_CHANGE }]], 3, /mode 9/],
    ['Poll as the first request', 'poll', 3, /first request/],
    ['a request with nothing in it', 'empty', 3, /neither/],
    ['the extension history', 'history', 12, /history/],
  ];
  for (const [name, what, code, message] of refusals) {
    test(name, async () => {
      const request =
        what === 'poll'
          ? pollRequest()
          : what === 'empty'
            ? create(SubscribeRequestSchema)
            : what === 'history'
              ? {
                  ...first,
                  extension: [create(ExtensionSchema, { ext: { case: 'history', value: new Uint8Array() } })],
                }
              : subscribeRequest(...what);
      const client = served.call(request);
      await over(client);
      expect(client.error).toMatchObject({ code, details: expect.stringMatching(message) });
    });
  }

  test('a second list, and a Poll that does not belong there', async () => {
    const [list, poll] = [await served.subscribed([onChange('cnpd')]), await served.subscribed([onChange('cnpd')])];
    list.call.write(first);
    poll.call.write(pollRequest());
    await Promise.all([over(list), over(poll)]);
    expect(list.error).toMatchObject({ code: 3, details: expect.stringContaining('SubscriptionList already') });
    expect(poll.error).toMatchObject({ code: 3, details: expect.stringContaining('mode POLL') });
    await until('nothing is compared', () => served.subscriptions.watched === 0);
  });

  test('more streams than are allowed; one that ends makes room', async () => {
    await served.start({ maxStreams: 2 });
    const [one, two] = [
      await served.subscribed([onChange('cnpd', 'status')]),
      await served.subscribed([onChange('cnpd', 'status')]),
    ];
    const third = served.subscribe([onChange('cnpd', 'status')]);
    await over(third);
    expect(third.error).toMatchObject({ code: 8, details: expect.stringContaining('2 subscriptions already') });
    one.close();
    await until('there is room', async () => {
      const next = served.subscribe([onChange('cnpd', 'status')]);
      await until('an answer', () => next.syncs > 0 || next.isOver);
      return next.syncs > 0;
    });
    expect(two.isOver).toBe(false);
  });
});
