import { expect, test } from 'vitest';
import { formatListenAddress, listenAddress } from './listen-address.ts';

test.each([
  ['[::1]:9464', '::1', 9464],
  ['127.0.0.1:1024', '127.0.0.1', 1024],
  ['0.0.0.0:65535', '0.0.0.0', 65_535],
  ['[::]:9464', '::', 9464],
  ['[2001:DB8:0::1]:9464', '2001:db8::1', 9464],
])('%s is where cnpd can listen', (text, address, port) => {
  const read = listenAddress.parse(text);
  expect(read).toEqual({ ok: true, value: { address, port } });
  expect(formatListenAddress({ address, port })).toBe(text.toLowerCase().replace(':0::', '::'));
  expect(new RegExp(listenAddress.json['pattern'] as string).test(text)).toBe(true);
});

test.each([
  ['no port', '127.0.0.1'],
  ['a privileged port', '127.0.0.1:1023'],
  ['a port beyond the last one', '127.0.0.1:65536'],
  ['a name', 'localhost:9464'],
  ['IPv6 without brackets', '::1:9464'],
  ['IPv4 in brackets', '[127.0.0.1]:9464'],
  ['no address', '[::g]:9464'],
  ['an address with too large a part', '300.0.0.1:9464'],
  ['multicast', '[ff02::1]:9464'],
  ['link-local, which needs an interface', '[fe80::1]:9464'],
  ['a port with a zero in front', '127.0.0.1:09464'],
])('%s is refused: %s', (_, text) => {
  expect(listenAddress.parse(text)).toEqual({ ok: false, error: undefined });
});
