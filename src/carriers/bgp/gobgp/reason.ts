// Why a gobgpd cannot be used, in a sentence for an operator; what to do about it is found by these words
// (src/daemon/gobgp.ts).
import { status } from '@grpc/grpc-js';
import { CallError } from './channel.edge.ts';
import type { GobgpOptions } from './gobgp.ts';

/** OpenSSL names functions, files and line numbers, and ends in a line feed. */
const TLS: readonly (readonly [RegExp, string])[] = [
  [/wrong version number|packet length too long/i, 'gobgpd answers without TLS'],
  [
    /self[- ]signed certificate|unable to (?:verify|get)|UNABLE_TO_/i,
    "gobgpd's certificate is not signed by the authority in tls ca",
  ],
  [/certificate has expired|CERT_HAS_EXPIRED/, "gobgpd's certificate has expired"],
  [/not yet valid|CERT_NOT_YET_VALID/, "gobgpd's certificate is not yet valid"],
  [/altnames?\b/i, "gobgpd's certificate is for another name (altnames)"],
  [/key values mismatch/i, 'the files for tls certificate and tls key do not belong together'],
  [
    /alert certificate required|alert handshake failure/i,
    "gobgpd asks for a certificate of cnpd's and got none that it takes (TLS)",
  ],
  [
    /alert (?:bad certificate|unknown ca|certificate unknown|certificate expired|unsupported certificate)|tlsv1 alert|sslv3 alert/i,
    "gobgpd refuses cnpd's certificate (TLS)",
  ],
  [/error:[0-9A-F]{8}:SSL routines/i, 'TLS with gobgpd fails'],
];

const printable = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

/** What an operator can do something about comes first. */
export function reasonOf(error: unknown, { maxMessageBytes }: Pick<GobgpOptions, 'maxMessageBytes'>): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof CallError ? error.code : undefined;
  if (code === status.DEADLINE_EXCEEDED)
    return `gobgpd accepts the connection and does not answer (${printable(message)})`;
  if (code === status.RESOURCE_EXHAUSTED)
    return (
      `gobgpd sent a message of more than ${maxMessageBytes} bytes, ` +
      `or refused one of ours as too long (${message})`
    );
  const tls = TLS.find(([pattern]) => pattern.test(message));
  if (tls) return tls[1];
  // The library's words around the kernel's: `No connection established. Last error: Error: connect ECONNREFUSED
  // 127.0.0.1:50051. Resolution note: `.
  return printable(
    message
      .replace(/^No connection established\. Last error: (?:Error: )?/, '')
      .replace(/\. Resolution note: .*$/s, ''),
  );
}
