// cnpctl doctor and a real gobgpd, over TCP as an operator has it: in the clear and with TLS, and what is reported when
// the two do not fit. The certificates are made by openssl here.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BINARIES, type GobgpBinary, GobgpNetwork } from './support/gobgp.ts';
import { program } from './support/network.ts';
import { is, until } from '../support/until.ts';

const ADDRESSES = { here: '127.0.0.1', there: '127.0.0.2' } as const;
let network: GobgpNetwork;

beforeAll(() => {
  network = new GobgpNetwork('gobgp-doctor');
  for (const name of ['ca', 'other-ca'])
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.pem`),
    );
  for (const name of ['gobgpd', 'cnpd']) {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
    );
    writeFileSync(file('san'), `subjectAltName=DNS:${name}.example\n`);
    openssl(
      'x509',
      '-req',
      '-days',
      '2',
      '-in',
      file(`${name}.csr`),
      '-CA',
      file('ca.pem'),
      '-CAkey',
      file('ca.key'),
      '-CAcreateserial',
      '-extfile',
      file('san'),
      '-out',
      file(`${name}.pem`),
    );
  }
});
afterEach(() => network.stopAll());
afterAll(() => network.remove());

const file = (name: string): string => join(network.directory, name);
const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'ignore'] });

interface Item {
  readonly id: string;
  readonly claim: string;
  readonly state: string;
  readonly problem?: string;
  readonly remedy?: string;
}

/** What doctor reports of gobgpd, without a running cnpd. @param gobgp of cnpd.yaml */
function doctor(gobgp: object): Item[] {
  const intent = {
    router: { name: 'r1', loopback: { ipv6: '2001:db8:ffff::1' } },
    bgp: { gobgp },
    proxy: {
      address: '2001:db8:ffff::1',
      senders: [{ prefix: '2001:db8:1::/64', format: 'standard-cnp' }],
      'accept-from': ['2001:db8:ffff::/48'],
    },
  };
  writeFileSync(file('cnpd.yaml'), JSON.stringify(intent));
  const argv = [
    'netns',
    'exec',
    network.netns,
    ...program('cnpctl'),
    '--socket',
    file('nobody.sock'),
    '-o',
    'json',
    'doctor',
    '-c',
    file('cnpd.yaml'),
  ];
  // Without cnpd something is always missing: exit code 1.
  const { stdout } = (() => {
    try {
      return { stdout: execFileSync('ip', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }) };
    } catch (error) {
      return error as { stdout: string };
    }
  })();
  return (JSON.parse(stdout) as { items: Item[] }).items.filter(({ id }) => id.startsWith('gobgp'));
}

const port = (gobgpd: { readonly socket: string }): string => /(\d+)\.sock$/.exec(gobgpd.socket)![1]!;
const target = (gobgpd: { readonly socket: string }): string => `127.0.0.1:${port(gobgpd)}`;

describe.each(BINARIES)('gobgpd $name', (binary: GobgpBinary) => {
  test('its API, AS and neighbors, and the family that is needed', async () => {
    const here = network.start(binary, {
      as: 65_001,
      address: ADDRESSES.here,
      neighbors: [{ address: ADDRESSES.there, as: 65_002 }],
    });
    await until('gobgpd answers', () => doctor({ target: target(here) })[0]?.state, is('ok'), 60_000);
    expect(doctor({ target: target(here) })).toMatchObject([
      { id: 'gobgp', state: 'ok', claim: expect.stringContaining(`API ${binary.name}, AS 65001, router ID 127.0.0.1`) },
      { id: 'gobgp.neighbors', state: 'missing', problem: expect.stringContaining('127.0.0.2 is ') },
      { id: 'gobgp.ipv6-unicast', state: 'unknown' },
      // No cnpd runs that could have put its policies in.
      { id: 'gobgp.domain', state: 'warning', problem: expect.stringContaining('are missing in gobgpd') },
    ]);
    network.start(binary, {
      as: 65_002,
      address: ADDRESSES.there,
      neighbors: [{ address: ADDRESSES.here, as: 65_001 }],
    });
    await until('the neighbor is established', () => doctor({ target: target(here) })[1]?.state, is('ok'), 120_000);
    expect(doctor({ target: target(here) })).toMatchObject([
      { id: 'gobgp', state: 'ok' },
      { id: 'gobgp.neighbors', state: 'ok', claim: expect.stringContaining('127.0.0.2 (AS 65002)') },
      { id: 'gobgp.ipv6-unicast', state: 'ok', claim: 'ipv6-unicast is negotiated with 127.0.0.2' },
      { id: 'gobgp.domain', state: 'warning' },
    ]);
  });

  test('with TLS: by the authority that signed its certificate and no other, under its name, and not in the clear', async () => {
    const gobgpd = network.start(binary, {
      as: 65_001,
      args: ['--tls', '--tls-cert-file', file('gobgpd.pem'), '--tls-key-file', file('gobgpd.key')],
    });
    const tls = { ca: file('ca.pem'), 'server-name': 'gobgpd.example' };
    await until('gobgpd answers', () => doctor({ target: target(gobgpd), tls })[0]?.state, is('ok'), 60_000);
    expect(doctor({ target: target(gobgpd), tls })[0]!.claim).toContain('with TLS');
    writeFileSync(file('empty.pem'), '');
    const mistakes: readonly (readonly [object, string])[] = [
      [{ tls: { ...tls, ca: file('other-ca.pem') } }, 'bgp.gobgp.tls'],
      [{ tls: { ...tls, 'server-name': 'other.example' } }, 'bgp.gobgp.tls.server-name'],
      [{ tls: { ...tls, ca: file('missing.pem') } }, 'bgp.gobgp.tls'],
      [{ tls: { ...tls, ca: file('empty.pem') } }, '-----BEGIN CERTIFICATE-----'],
      [{}, 'bgp.gobgp.tls'],
    ];
    for (const [mistake, remedy] of mistakes) {
      expect(doctor({ target: target(gobgpd), ...mistake }), JSON.stringify(mistake)).toEqual([
        expect.objectContaining({ id: 'gobgp', state: 'missing', remedy: expect.stringContaining(remedy) }),
      ]);
    }
  });

  test('without a configuration, one that hangs, and not there at all', async () => {
    const gobgpd = network.start(binary, undefined);
    await until(
      'gobgpd answers',
      () => ({ items: doctor({ target: target(gobgpd) }), log: gobgpd.log }),
      ({ items }) => items[0]?.remedy?.includes('[global.config]'),
      60_000,
    );
    gobgpd.signal('SIGSTOP');
    expect(doctor({ target: target(gobgpd) })).toMatchObject([
      {
        state: 'missing',
        problem: expect.stringContaining('does not answer'),
        remedy: expect.stringContaining('restart gobgpd'),
      },
    ]);
    await network.stopAll();
    expect(doctor({ target: target(gobgpd) })).toMatchObject([
      {
        state: 'missing',
        problem: expect.stringContaining('ECONNREFUSED'),
        remedy: expect.stringContaining(`--api-hosts ${target(gobgpd)}`),
      },
    ]);
  });
});

test.runIf(BINARIES.some(({ name }) => name === 'v4'))(
  'gobgpd v4 that asks for a certificate takes cnpd’s own',
  async () => {
    const args = [
      '--tls',
      '--tls-cert-file',
      file('gobgpd.pem'),
      '--tls-key-file',
      file('gobgpd.key'),
      '--tls-client-ca-file',
      file('ca.pem'),
    ];
    const gobgpd = network.start(
      BINARIES.find(({ name }) => name === 'v4')!,
      { as: 65_001, args },
    );
    const tls = { ca: file('ca.pem'), 'server-name': 'gobgpd.example' };
    await until(
      'gobgpd answers',
      () =>
        doctor({ target: target(gobgpd), tls: { ...tls, certificate: file('cnpd.pem'), key: file('cnpd.key') } })[0]
          ?.state,
      is('ok'),
      60_000,
    );
    expect(doctor({ target: target(gobgpd), tls })[0]).toMatchObject({ state: 'missing' });
  },
);
