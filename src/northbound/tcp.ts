// gNMI over TCP: TLS 1.3 with client certificates, or plaintext where the file says so. Connections are handed to the
// gRPC server as on the unix sockets. The files of the certificates are read when the listener is opened.
import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Server, type Socket, createServer, isIPv6 } from 'node:net';
import { type SecureContext, createSecureContext, createServer as createTlsServer } from 'node:tls';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { type Access, type Right, certificateAccess, plaintextAccess } from './rights.ts';

export interface TcpOptions {
  readonly address: string;
  readonly port: number;
  /** Absent: plaintext. PEM files. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientCa: string } | undefined;
  readonly rights: readonly Right[];
}

/** With what the files have. */
export interface TcpSettings extends TcpOptions {
  readonly pem: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
}

export class TcpError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TcpError';
  }
}

/** @throws TcpError when a file cannot be read, or is no certificate or key */
export function readTcpSettings(options: TcpOptions): TcpSettings {
  const { tls } = options;
  if (!tls) return { ...options, pem: undefined };
  const pem = { cert: readPem(tls.certificate), key: readPem(tls.key), ca: readPem(tls.clientCa) };
  contextOf(tls.certificate, { cert: pem.cert });
  contextOf(tls.key, { key: pem.key });
  // createSecureContext ignores what is no certificate.
  if (!pem.ca.includes('-----BEGIN CERTIFICATE-----')) throw new TcpError(`${tls.clientCa}: no certificate is in it`);
  contextOf(tls.clientCa, { ca: pem.ca });
  contextOf(`${tls.certificate} and ${tls.key}`, pem);
  return { ...options, pem };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new TcpError(`${file}: ${messageOf(cause)}`, { cause });
  }
}

function contextOf(what: string, options: Parameters<typeof createSecureContext>[0]): SecureContext {
  try {
    return createSecureContext(options);
  } catch (cause) {
    throw new TcpError(`${what}: ${messageOf(cause)}`, { cause });
  }
}

export const tcpAccess = ({ pem, rights }: TcpSettings): Access => (pem ? certificateAccess(rights) : plaintextAccess);

interface ListenOptions {
  readonly maxConnections: number;
  readonly log: Log;
  readonly count: Count;
  /** A client has so long for the handshake of TLS. */
  readonly handshakeMs: number;
}

/** @throws TcpError */
export async function listenTcp(
  { address, port, pem }: TcpSettings,
  { maxConnections, log, count, handshakeMs }: ListenOptions,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const server = pem
    ? createTlsServer(
        {
          ...pem,
          minVersion: 'TLSv1.3',
          requestCert: true,
          rejectUnauthorized: true,
          handshakeTimeout: handshakeMs,
          ALPNProtocols: ['h2'],
          // Who resumes a session shows no certificate, and would go on after it has expired.
          secureOptions: constants.SSL_OP_NO_TICKET,
        },
        onConnection,
      )
    : createServer(onConnection);
  server.maxConnections = maxConnections;
  // Node.js leaves the connection open, of a client whose handshake takes too long too.
  server.on('tlsClientError', (error: Error, socket: Socket) => {
    count('northbound.tls.refused');
    socket.destroy();
    log.debug({ error }, 'a client was refused in the handshake of TLS');
  });
  const where = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new TcpError(`${where}: ${messageOf(cause)}`, { cause })));
    server.listen({ host: address, port }, resolve);
  });
  server.removeAllListeners('error');
  return server;
}
