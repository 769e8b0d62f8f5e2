// Who may read and change what. Over the unix sockets that is for the file system to say; over TCP each name in a
// client's certificate has paths.
import type { PeerCertificate } from 'node:tls';
import type { CheckedPath } from './paths.ts';

/** @throws RpcError PERMISSION_DENIED */
export type CheckRead = (path: CheckedPath, certificate: PeerCertificate | undefined) => void;

export const mayReadAll: CheckRead = () => undefined;
