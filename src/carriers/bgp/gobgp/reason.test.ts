import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { CallError } from './channel.edge.ts';
import { GobgpError } from './fault.ts';
import { faultOf, hasNoTable } from './reason.ts';

const LIMIT = { maxMessageBytes: 1 };
const fault = (text: string): string[] => {
  const { code, reason } = faultOf(
    new Error(`No connection established. Last error: Error: ${text}. Resolution note: `),
    LIMIT,
  );
  return [code, reason];
};

test.each([
  [
    'write EPROTO 0080A2F1:error:0A00010B:SSL routines:ssl3_get_record:wrong version ' +
      'number:../deps/openssl/openssl/ssl/record/ssl3_record.c:355:\n',
    'tls',
    'gobgpd answers without TLS',
  ],
  [
    'self-signed certificate in certificate chain',
    'tls',
    "gobgpd's certificate is not signed by the authority in tls ca",
  ],
  ['unable to verify the first certificate', 'tls', "gobgpd's certificate is not signed by the authority in tls ca"],
  ['certificate has expired', 'certificate-time', "gobgpd's certificate has expired"],
  [
    "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b",
    'certificate-name',
    "gobgpd's certificate is for another name (altnames)",
  ],
  [
    '0080:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/x.c:1605:SSL ' +
      'alert number 116\n',
    'tls',
    'gobgpd requires a certificate from cnpd and got none that it accepts (TLS)',
  ],
  [
    '0080:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/x.c:1605:SSL ' +
      'alert number 42\n',
    'tls',
    "gobgpd refuses cnpd's certificate (TLS)",
  ],
  [
    '0080:error:05800074:x509 certificate routines:X509_check_private_key:key values mismatch:../deps/x.c:408:\n',
    'tls',
    'the files for tls certificate and tls key do not match',
  ],
  ['0080:error:0A0000FF:SSL routines:x:something new:../deps/x.c:1:\n', 'tls', 'TLS with gobgpd fails'],
  ['certificate is not yet valid', 'certificate-time', "gobgpd's certificate is not yet valid"],
  ['connect ECONNREFUSED 127.0.0.1:50051', 'not-there', 'connect ECONNREFUSED 127.0.0.1:50051'],
  ['connect ENOENT /run/tls/gobgpd.sock', 'not-there', 'connect ENOENT /run/tls/gobgpd.sock'],
  ['connect EHOSTUNREACH 192.0.2.1:50051', 'other', 'connect EHOSTUNREACH 192.0.2.1:50051'],
  ['read ECONNRESET', 'tls', 'read ECONNRESET'],
  ['Failed to connect (2026-01-01T00:00:00.000Z)', 'tls', 'Failed to connect (2026-01-01T00:00:00.000Z)'],
  ['Protocol error (2026-01-01T00:00:00.000Z)', 'another-program', 'Protocol error (2026-01-01T00:00:00.000Z)'],
])('%j', (text, code, expected) => expect(fault(text)).toEqual([code, expected]));

const answered = (code: status, details: string): CallError =>
  new CallError(Object.assign(new Error(details), { code, details }) as ConstructorParameters<typeof CallError>[0]);

test('what gRPC has a code for', () => {
  expect(faultOf(answered(status.DEADLINE_EXCEEDED, 'Deadline exceeded'), LIMIT)).toEqual({
    code: 'no-answer',
    reason: 'gobgpd accepts the connection but does not answer (Deadline exceeded)',
  });
  expect(faultOf(answered(status.RESOURCE_EXHAUSTED, 'x'), LIMIT)).toEqual({
    code: 'message-too-long',
    reason: 'gobgpd sent a message of more than 1 bytes, or refused one from cnpd as too long (x)',
  });
  expect(faultOf(answered(status.UNAVAILABLE, 'why'), LIMIT)).toEqual({ code: 'other', reason: 'why' });
  expect(faultOf(answered(status.UNKNOWN, 'table is full'), LIMIT)).toEqual({ code: 'other', reason: 'table is full' });
});

test('what the library says without its own words around it', () => {
  const words = (text: unknown): string => faultOf(text, LIMIT).reason;
  expect(words(new Error('No connection established. Last error: Name resolution failed. Resolution note: x'))).toBe(
    'Name resolution failed',
  );
  expect(words(new Error('Refused: No connection established. Last error: Error: x'))).toBe(
    'Refused: No connection established. Last error: Error: x',
  );
  expect(words('a word')).toBe('a word');
});

test('a cause that cnpd has found is not looked for in the words, in which a path may say anything', () => {
  const error = new GobgpError('tls-file', 'the file for tls ca cannot be read: /etc/altname/ca.pem');
  expect(faultOf(error, LIMIT)).toEqual({ code: 'tls-file', reason: error.message });
});

test('a family that gobgpd has no table of is no failure of another kind', () => {
  expect(hasNoTable(answered(status.UNKNOWN, 'address family: ipv4-unicast not supported'))).toBe(true);
  expect(hasNoTable(answered(status.UNKNOWN, 'table is full'))).toBe(false);
});

test('no control characters', () => expect(fault('one\r\n\u001b[31mtwo\u0007')).toEqual(['other', 'one [31mtwo']));
