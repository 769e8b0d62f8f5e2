import { expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { uselessNotes } from './useless.ts';

const notes = (sections: string): string[] => uselessNotes(load(`${ROUTER}${sections}`)).map(({ code }) => code);
const ISIS = 'isis: { system-id: 0000.0000.0001, area: 49.0001, level: 2, interface: cnpd-isis }\n';
const PORTS = 'ports: [{ interface: eth2, k-max: 100kB }]\n';

test.each([
  ['k-max without a carrier', PORTS, ['ports.no-carrier']],
  ['k-max with one', ISIS + PORTS, []],
  ['k-min alone needs none', 'ports: [{ interface: eth2, k-min: 50kB }]\n', []],
  [
    'a format that needs no proxy',
    `${PORTS}notifications: { senders: [{ prefix: "::/0", supports: [fast-cnp], order: [fast-cnp] }] }\n`,
    [],
  ],
  [
    'notifications without ports',
    `${ISIS}notifications: { senders: [{ prefix: "::/0", order: [proxy] }] }\n`,
    ['notifications.no-ports'],
  ],
  ['lo watched', `${ISIS}ports: [{ interface: lo, k-max: 100kB }]\n`, ['ports.loopback']],
  [
    'keys of one character',
    `${ISIS.replace(' }', ', authentication: { interface: { hmac-md5: x }, domain: { hmac-md5: "long enough" } } }')}` +
      'stamp: { reflector: on, accept-from: [2001:db8::/32], hmac-key: "y" }\n',
    ['authentication.short-key', 'authentication.short-key'],
  ],
])('%s', (_, sections, codes) => {
  expect(notes(sections)).toEqual(codes);
});
