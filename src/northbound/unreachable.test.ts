// The sentences in which cnpctl says why there is no cnpd.
import { expect, test } from 'vitest';
import { unreachable, unreachableTcp } from './unreachable.ts';

test('only of the socket of Set it is said when it exists', () => {
  expect(unreachable('/run/cnpd/gnmi-set.sock', 'ENOENT')).toMatch(
    /^\/run\/cnpd\/gnmi-set\.sock: .*\(the socket of Set/,
  );
  expect(unreachable('/run/cnpd/gnmi-set.sock', 'EACCES')).not.toContain('the socket of Set');
  for (const socket of ['/run/cnpd/gnmi.sock', '/run/cnpd/gnmi-config.sock'])
    expect(unreachable(socket, 'ENOENT')).toMatch(/is this path$/);
});

test('over TCP: the words of the kernel, without those of the library, and a hint', () => {
  const of = (words: string) =>
    unreachableTcp('r1:9339', `No connection established. Last error: ${words}. Resolution note: `);
  expect(of('Error: connect ECONNREFUSED 192.0.2.1:9339')).toBe('r1:9339: connect ECONNREFUSED 192.0.2.1:9339');
  expect(of("Error [ERR_TLS_CERT_ALTNAME_INVALID]: IP: 192.0.2.1 is not in the cert's altnames")).toMatch(
    /--target among/,
  );
  expect(of('Failed to connect (2026-01-01T00:00:00.000Z)')).toMatch(/may want TLS/);
  expect(of('Error: C0:error:0A00010B:SSL routines::wrong version number:ssl.c:1:\n')).toMatch(/--plaintext\)$/);
});
