import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const proxy = (value: string): string =>
  `${ROUTER}proxy: { address: ${value}, ` +
  'senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], accept-from: [2001:db8::/32] }\n';
const [V4, V6] = [address('192.0.2.1'), address('2001:db8::1')];

describe('proxy.address', () => {
  test('is one address, or one of each family', () => {
    expect(load(proxy('2001:db8::1')).proxy).toMatchObject({ address: V6 });
    expect(load(proxy('2001:db8::1')).proxy).not.toHaveProperty('otherAddress');
    expect(load(proxy('[192.0.2.1]')).proxy).not.toHaveProperty('otherAddress');
    expect(load(proxy('[192.0.2.1, 2001:db8::1]')).proxy).toMatchObject({ address: V4, otherAddress: V6 });
    expect(load(proxy('[2001:db8::1, 192.0.2.1]')).proxy).toMatchObject({ address: V6, otherAddress: V4 });
  });

  test.each([
    ['[]', 'proxy.address', /without an address gets no notices/],
    ['[192.0.2.1, 192.0.2.2]', 'proxy.address[1]', /192\.0\.2\.1 is already the IPv4 address/],
    ['[192.0.2.1, 2001:db8::1, 192.0.2.2]', 'proxy.address[2]', /192\.0\.2\.1 is already the IPv4 address/],
    ['[192.0.2.1, ff02::5]', 'proxy.address[1]', /ff02::5 is not a unicast/],
    ['{ ipv4: 192.0.2.1 }', 'proxy.address', /or a list of/],
  ])('%s is refused where the mistake is', (value, path, message) => {
    expect(complaints(proxy(value))).toEqual([expect.stringMatching(message)]);
    expect(complaints(proxy(value))[0]).toContain(`${path}:`);
  });

  test('FCN-4.2.2-d: neither of them is a SID', () => {
    const srv6 =
      'srv6: { core-ports: [eth1], end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48, table: 10 }] }\n';
    for (const value of ['[192.0.2.1, "2001:db8:c::1"]', '2001:db8:c::1'])
      expect(complaints(`${proxy(value)}${srv6}`)).toEqual([expect.stringMatching(/2001:db8:c::1 is proxy\.address/)]);
    expect(complaints(`${proxy('[192.0.2.1, "2001:db8:c::2"]')}${srv6}`)).toEqual([]);
  });
});
