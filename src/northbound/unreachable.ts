// Why cnpd cannot be reached, for who asks it, and what to do about it.
import { withoutChannelWords } from '../model/error-text.ts';
import { setSocketOf } from '../model/paths.ts';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket: check that cnpd is running and that gnmi.socket in cnpd.yaml is this path',
  ECONNREFUSED: 'no process listens on it: cnpd is not running',
  EACCES: 'permission denied: use root, or an account in the group of the socket',
  ENOTSOCK: 'this is not a socket',
};

/** @param errno of connecting to this socket */
export const unreachable = (socket: string, errno: string): string => `${socket}: ${WHY[errno] ?? errno}`;

/** Of a socket that is not there, beside one on which cnpd answers. */
export const noSuchSocket = (socket: string, mainSocket: string): string =>
  socket === setSocketOf(mainSocket)
    ? `cnpd runs, and there is nothing that this could change: ${socket} exists where cnpd.yaml has groups, ` +
      'srv6.end-mt, srv6.replication, source.enforce or flow-control.hold. Where it has, ' +
      '`cnpctl show status` names what is wrong with the socket'
    : `cnpd runs without ${socket}: \`cnpctl show status\` names what is wrong with the socket`;

/** The first that matches the words of Node.js and OpenSSL. */
const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/altnames?\b/i, "the router's certificate must have the name or address of --target among its alternative names"],
  [/wrong version number|packet length too long/i, 'the router answers without TLS: --plaintext'],
  [
    /Failed to connect/i,
    'the connection was closed at once: the router may want TLS, or a certificate of its client-ca',
  ],
  [/unable to (?:verify|get)|self[- ]signed/i, "--tls-ca has not signed the router's certificate"],
];

/** @param details of the error of a call, as grpc-js has them */
export function unreachableTcp(target: string, details: string): string {
  const reason = withoutChannelWords(details)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  const hint = HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return `${target}: ${reason}${hint === undefined ? '' : ` (${hint})`}`;
}
