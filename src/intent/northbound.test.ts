// gNMI over TCP is with TLS and rights, or says that it is not.
import { describe, expect, test } from 'vitest';
import { ROUTER, complaints, load } from './files.fixture.ts';

const northbound = (fields: string): string => `${ROUTER}northbound: { ${fields} }\n`;
const PEM = 'certificate: /a.pem, key: /a.key, client-ca: /ca.pem';
const RIGHTS = 'rights: [{ name: a.example, read: [/cnpd] }]';
const NO_RIGHTS = expect.stringMatching(/northbound\.rights.*without rights no client may read anything/) as string;

test('off without a section; with TLS and rights, or with plaintext, it is on', () => {
  expect(load(ROUTER).northbound).toBeUndefined();
  const tls = { certificate: '/a.pem', key: '/a.key', clientCa: '/ca.pem' };
  const rights = [{ name: 'a.example', read: ['/cnpd'], write: [] }];
  expect(load(northbound(`${PEM}, ${RIGHTS}`)).northbound).toEqual({ address: '::', port: 9339, tls, rights });
  expect(load(northbound('plaintext: on')).northbound).toEqual({ address: '::', port: 9339, rights: [] });
});

describe('is refused', () => {
  test.each(['certificate: /a.pem', 'key: /a.key', 'client-ca: /ca.pem'])('without %s', (missing) => {
    const [name] = missing.split(':');
    const rest = PEM.split(', ').filter((key) => key !== missing);
    expect(complaints(northbound([...rest, RIGHTS].join(', ')))).toEqual([
      expect.stringMatching(new RegExp(`northbound\\.${name}.*TLS needs certificate, key and client-ca`)),
    ]);
  });
  test.each([
    ['without rights', PEM, [NO_RIGHTS]],
    ['with an empty list of rights', `${PEM}, rights: []`, [NO_RIGHTS]],
    ['with plaintext and a key', 'plaintext: on, key: /a.key', [expect.stringMatching(/plaintext.*there is no TLS/)]],
    [
      'with plaintext and rights',
      `plaintext: on, ${RIGHTS}`,
      [expect.stringMatching(/rights.*without certificates clients have no names/)],
    ],
    [
      'with plaintext and an empty list of rights',
      'plaintext: on, rights: []',
      [expect.stringMatching(/rights.*without certificates clients have no names/)],
    ],
    [
      'with a plaintext that cannot be read, and for nothing else',
      'plaintext: maybe',
      [expect.stringMatching(/plaintext/)],
    ],
    [
      'with a link-local address',
      `address: "fe80::1", ${PEM}, ${RIGHTS}`,
      [expect.stringMatching(/northbound\.address/)],
    ],
  ])('%s', (_, fields, expected) => expect(complaints(northbound(fields))).toEqual(expected));
});
