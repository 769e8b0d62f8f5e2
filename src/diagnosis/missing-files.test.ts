import { expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import { type PathState, missingFileNotes } from './missing-files.ts';

const BGP =
  'bgp: { gobgp: { target: "gobgp.example:50051", tls: { ca: /g/ca.pem, certificate: /g/a.pem, key: /g/a.key } } }';
const NORTHBOUND =
  'northbound: { certificate: /n/a.pem, key: /n/a.key, client-ca: /n/ca.pem, rights: [{ name: noc, read: [/] }] }';

function notes(sections: string, states: Record<string, PathState> = {}) {
  const loaded = loadIntent(`router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n${sections}\n`, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return missingFileNotes(loaded.value, (path) => states[path] ?? 'file');
}

test('each file of a certificate or key that is not there is noted, with its key', () => {
  for (const [feature, key, path] of [
    ['northbound', 'northbound.certificate', '/n/a.pem'],
    ['northbound', 'northbound.key', '/n/a.key'],
    ['northbound', 'northbound.client-ca', '/n/ca.pem'],
    ['bgp', 'bgp.gobgp.tls.ca', '/g/ca.pem'],
    ['bgp', 'bgp.gobgp.tls.certificate', '/g/a.pem'],
    ['bgp', 'bgp.gobgp.tls.key', '/g/a.key'],
  ] as const)
    expect(notes(`${BGP}\n${NORTHBOUND}`, { [path]: 'absent' })).toEqual([
      {
        ...{ code: 'tls.file-missing', feature },
        problem: expect.stringMatching(`^${key}: ${path} does not exist on this machine, and without it there is no `),
        remedy: `put the PEM file there, or correct ${key}`,
      },
    ]);
});

test('a directory is no file; who may not look there says nothing; without TLS there is nothing to note', () => {
  expect(notes(NORTHBOUND, { '/n/a.key': 'no-file' })[0]?.problem).toContain('/n/a.key is not a file');
  expect(notes(NORTHBOUND, { '/n/a.key': 'unknown' })).toEqual([]);
  expect(notes('northbound: { plaintext: on }')).toEqual([]);
  expect(notes('bgp: { gobgp: { target: "127.0.0.1:50051" } }')).toEqual([]);
});
