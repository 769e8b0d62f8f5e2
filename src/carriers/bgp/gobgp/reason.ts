// Why a gobgpd cannot be used: a code, by which the remedy is chosen, and a sentence for an operator. Where cnpd itself
// finds the cause it throws it under its code (fault.ts), and gRPC has some. Of a connection that does not come about
// grpc-js keeps nothing but the words of Node.js and OpenSSL, and gobgpd answers in words alone: they are read here and
// nowhere else.
import { status } from '@grpc/grpc-js';
import { messageOf, withoutChannelWords } from '../../../model/error-text.ts';
import type { GobgpFault, GobgpFaultCode } from '../../../model/gobgp-fault.ts';
import { CallError } from './channel.edge.ts';
import { GobgpError } from './fault.ts';
import type { GobgpOptions } from './gobgp.ts';

interface Words {
  readonly pattern: RegExp;
  readonly code: GobgpFaultCode;
  /** In place of those words; OpenSSL names functions, files and line numbers, and ends in a line feed. */
  readonly reason?: string;
}

/** The first that matches. */
const WORDS: readonly Words[] = [
  { pattern: /\bconnect (?:ECONNREFUSED|ENOENT)\b/, code: 'not-there' },
  {
    pattern: /wrong version number|packet length too long/i,
    code: 'tls',
    reason: 'gobgpd answers without TLS',
  },
  {
    pattern: /self[- ]signed certificate|unable to (?:verify|get)|UNABLE_TO_/i,
    code: 'tls',
    reason: "gobgpd's certificate is not signed by the authority in tls ca",
  },
  {
    pattern: /certificate has expired|CERT_HAS_EXPIRED/,
    code: 'certificate-time',
    reason: "gobgpd's certificate has expired",
  },
  {
    pattern: /not yet valid|CERT_NOT_YET_VALID/,
    code: 'certificate-time',
    reason: "gobgpd's certificate is not yet valid",
  },
  {
    pattern: /altnames?\b/i,
    code: 'certificate-name',
    reason: "gobgpd's certificate is for another name (altnames)",
  },
  {
    pattern: /key values mismatch/i,
    code: 'tls',
    reason: 'the files for tls certificate and tls key do not match',
  },
  {
    pattern: /alert certificate required|alert handshake failure/i,
    code: 'tls',
    reason: 'gobgpd requires a certificate from cnpd and got none that it accepts (TLS)',
  },
  {
    pattern:
      /alert (?:bad certificate|unknown ca|certificate unknown|certificate expired|unsupported certificate)|tlsv1 alert|sslv3 alert/i,
    code: 'tls',
    reason: "gobgpd refuses cnpd's certificate (TLS)",
  },
  { pattern: /error:[0-9A-F]{8}:SSL routines/i, code: 'tls', reason: 'TLS with gobgpd fails' },
  { pattern: /Protocol error|Parse Error/i, code: 'another-program' },
  // A port that is open and then closed at once: in the clear to one with TLS.
  {
    pattern: /certificate|\bTLS\b|\bSSL\b|\bPEM\b|ECONNRESET|Connection dropped|HTTP\/2|Failed to connect/i,
    code: 'tls',
  },
];

const printable = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

/** What an operator can do something about comes first. */
export function faultOf(error: unknown, { maxMessageBytes }: Pick<GobgpOptions, 'maxMessageBytes'>): GobgpFault {
  const message = messageOf(error);
  if (error instanceof GobgpError) return { code: error.code, reason: printable(message) };
  const code = error instanceof CallError ? error.code : undefined;
  if (code === status.DEADLINE_EXCEEDED)
    return {
      code: 'no-answer',
      reason: `gobgpd accepts the connection but does not answer (${printable(message)})`,
    };
  if (code === status.RESOURCE_EXHAUSTED)
    return {
      code: 'message-too-long',
      reason:
        `gobgpd sent a message of more than ${maxMessageBytes} bytes, ` +
        `or refused one from cnpd as too long (${message})`,
    };
  const known = WORDS.find(({ pattern }) => pattern.test(message));
  return { code: known?.code ?? 'other', reason: known?.reason ?? printable(withoutChannelWords(message)) };
}

/** gobgpd's answer about a family that its configuration leaves out; gRPC's code of it is that of any error. */
export const hasNoTable = (error: unknown): boolean =>
  error instanceof CallError && error.message.includes('not supported');
