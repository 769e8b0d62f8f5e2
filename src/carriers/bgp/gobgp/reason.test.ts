import { type ServiceError, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { gobgpRemedy } from '../../../diagnosis/gobgp/remedies.ts';
import { CallError } from './channel.edge.ts';
import { reasonOf } from './reason.ts';

const reason = (text: string): string =>
  reasonOf(new Error(`No connection established. Last error: Error: ${text}. Resolution note: `), {
    maxMessageBytes: 1,
  });

test.each([
  [
    'write EPROTO 0080A2F1:error:0A00010B:SSL routines:ssl3_get_record:wrong version ' +
      'number:../deps/openssl/openssl/ssl/record/ssl3_record.c:355:\n',
    'gobgpd answers without TLS',
  ],
  ['self-signed certificate in certificate chain', "gobgpd's certificate is not signed by the authority in tls ca"],
  ['unable to verify the first certificate', "gobgpd's certificate is not signed by the authority in tls ca"],
  ['certificate has expired', "gobgpd's certificate has expired"],
  [
    "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b",
    "gobgpd's certificate is for another name (altnames)",
  ],
  [
    '0080:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/x.c:1605:SSL ' +
      'alert number 116\n',
    "gobgpd asks for a certificate of cnpd's and got none that it takes (TLS)",
  ],
  [
    '0080:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/x.c:1605:SSL ' +
      'alert number 42\n',
    "gobgpd refuses cnpd's certificate (TLS)",
  ],
  [
    '0080:error:05800074:x509 certificate routines:X509_check_private_key:key values mismatch:../deps/x.c:408:\n',
    'the files for tls certificate and tls key do not belong together',
  ],
  ['0080:error:0A0000FF:SSL routines:x:something new:../deps/x.c:1:\n', 'TLS with gobgpd fails'],
  ['connect ECONNREFUSED 127.0.0.1:50051', 'connect ECONNREFUSED 127.0.0.1:50051'],
])('%j', (text, told) => {
  expect(reason(text)).toBe(told);
  if (told !== 'connect ECONNREFUSED 127.0.0.1:50051')
    expect(gobgpRemedy('127.0.0.1:50051', told)).not.toContain('start gobgpd with --api-hosts');
});

test('what the library says without its own words around it', () => {
  const words = (text: string): string => reasonOf(new Error(text), { maxMessageBytes: 1 });
  expect(words('No connection established. Last error: Name resolution failed. Resolution note: x')).toBe(
    'Name resolution failed',
  );
  expect(words('Refused: No connection established. Last error: Error: x')).toBe(
    'Refused: No connection established. Last error: Error: x',
  );
  expect(reasonOf('a word', { maxMessageBytes: 1 })).toBe('a word');
});

test('a gobgpd that does not answer, and a message that is too long for either side, are said as such', () => {
  const call = (code: status): string =>
    reasonOf(new CallError({ code, details: 'why' } as ServiceError), { maxMessageBytes: 4096 });
  expect(call(status.DEADLINE_EXCEEDED)).toBe('gobgpd accepts the connection and does not answer (why)');
  expect(call(status.RESOURCE_EXHAUSTED)).toContain('more than 4096 bytes');
  expect(call(status.UNAVAILABLE)).toBe('why');
});

test('no control characters', () => expect(reason('one\r\n\u001b[31mtwo\u0007')).toBe('one [31mtwo'));
