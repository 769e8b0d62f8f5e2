import { expect, test } from 'vitest';
import { loadIntent } from './load.ts';

test('RMC-9-a: an HMAC TLV for groups is refused, with the reason, and not as a misspelled key', () => {
  const text =
    'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n' +
    'srv6: { core-ports: [eth1], replication: { locator: 2001:db8:e::/48 }, multicast: { hmac-key-id: 7 } }\n';
  const loaded = loadIntent(text, 'cnpd.yaml');
  expect(loaded.ok ? [] : loaded.error).toMatchObject([
    {
      line: 2,
      path: 'srv6.multicast.hmac-key-id',
      message: expect.stringMatching(/no HMAC TLV: it covers the outer source address .* Remove the key/) as unknown,
    },
  ]);
});
