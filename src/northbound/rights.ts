// Who may read and change what. Over the unix sockets that is for the file system to say; over TCP the names in a
// client's certificate have rights to paths, each with all that is below it.
import type { PeerCertificate } from 'node:tls';
import { configSocketOf, setSocketOf } from '../model/paths.ts';
import { type CheckedPath, checkedNames, clip } from './paths.ts';
import { RpcError } from './rpc-error.ts';

export type Certificate = PeerCertificate | undefined;

/** @throws RpcError PERMISSION_DENIED */
export type CheckPath = (path: CheckedPath) => void;

/** A call of cnpd.v1.Control, as a right: what it amounts to. */
export interface ControlCall {
  readonly name: string;
  readonly what: 'read' | 'write';
  /** Names from the root. */
  readonly path: readonly string[];
}

/** `any`: needs no right. `set`: the call Set. */
export type CallKind = 'any' | 'read' | 'set';

export interface Access {
  /** Before the request is read: whether this client may call anything of this kind. @throws RpcError */
  checkCaller(what: CallKind, certificate: Certificate): void;
  /** @throws RpcError PERMISSION_DENIED */
  checkRead(path: CheckedPath, certificate: Certificate): void;
  /** @throws RpcError PERMISSION_DENIED */
  checkWrite(path: CheckedPath, certificate: Certificate): void;
  /** @throws RpcError PERMISSION_DENIED */
  checkControl(call: ControlCall, certificate: Certificate): void;
}

/** What a unix socket is for. Reloads, and levels of the log, are for whoever may connect to any. */
export type SocketRole = 'read' | 'set' | 'config';

const isConfiguration = (names: readonly string[]): boolean => names[1] === 'configuration';

/** Paths of the unix sockets beside the one that reads. */
export const SOCKETS: Readonly<Record<SocketRole, (reading: string) => string>> = {
  read: (reading) => reading,
  set: setSocketOf,
  config: configSocketOf,
};

/**
 * What may be changed on each socket is for the file system to say.
 * @param reading the path of the one that reads
 */
export function unixAccess(role: SocketRole, reading: string): Access {
  const denied = (what: string, ...roles: SocketRole[]): RpcError => {
    const where = roles.map((needed) => SOCKETS[needed](reading)).join(' and ');
    const why = role === 'read' ? 'this socket is for reading: ' : '';
    return new RpcError('PERMISSION_DENIED', `${why}${what} on ${where}`);
  };
  const check = (what: string, names: readonly string[]): void => {
    const needed = isConfiguration(names) ? 'config' : 'set';
    if (role !== needed) throw denied(what, needed);
  };
  return {
    checkCaller: (what) => {
      if (what === 'set' && role === 'read') throw denied('Set is served', 'set', 'config');
    },
    checkRead: () => undefined,
    checkWrite: ({ steps }) =>
      check(
        'this is changed',
        steps.map(({ name }) => name),
      ),
    checkControl: ({ name, what, path }) => {
      if (what === 'write' && path[1] !== 'status' && name !== 'Reload') check(`${name} is served`, path);
    },
  };
}

/** Without TLS: everybody reads, nobody changes. */
export const plaintextAccess: Access = {
  checkCaller: (what) => {
    if (what === 'set') refuseWithoutTls();
  },
  checkRead: () => undefined,
  checkWrite: () => refuseWithoutTls(),
  checkControl: ({ what }) => {
    if (what === 'write') refuseWithoutTls();
  },
};

function refuseWithoutTls(): never {
  throw new RpcError('PERMISSION_DENIED', 'without TLS nothing can be changed: use a unix socket, or TLS');
}

export interface Right {
  readonly name: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export function certificateAccess(rights: readonly Right[]): Access {
  const byName = new Map(rights.map((right) => [right.name, right]));
  const allowedTo = (what: 'read' | 'write', certificate: Certificate) => {
    const names = certificate ? namesIn(certificate) : [];
    const who = clip(names.map((name) => JSON.stringify(name)).join(', ')) || 'a certificate without a name';
    return { who, allowed: names.flatMap((name) => byName.get(name)?.[what] ?? []) };
  };
  const check = (what: 'read' | 'write', { steps }: CheckedPath, certificate: Certificate): void => {
    const { who, allowed } = allowedTo(what, certificate);
    if (allowed.some((path) => covers(path, steps))) return;
    const may = allowed.length === 0 ? `nothing` : clip([...new Set(allowed)].join(', '));
    throw new RpcError('PERMISSION_DENIED', `/${steps.map(({ name }) => name).join('/')}: ${who} may ${what} ${may}`);
  };
  return {
    checkCaller: (what, certificate) => {
      checkExpiry(certificate);
      if (what === 'any') return;
      const right = what === 'set' ? 'write' : 'read';
      const { who, allowed } = allowedTo(right, certificate);
      const call = what === 'set' ? 'Set: ' : '';
      if (allowed.length === 0) throw new RpcError('PERMISSION_DENIED', `${call}${who} may ${right} nothing`);
    },
    checkControl: ({ what, path }, certificate) => check(what, checkedNames(path), certificate),
    checkRead: (path, certificate) => check('read', path, certificate),
    checkWrite: (path, certificate) => check('write', path, certificate),
  };
}

/** When a certificate ends, milliseconds since 1970. */
export const expiryOf = (certificate: Certificate): number =>
  certificate === undefined ? Infinity : Date.parse(certificate.valid_to);

/** A connection may be older than the end of its certificate. @throws RpcError UNAUTHENTICATED */
function checkExpiry(certificate: Certificate): void {
  // Not a number: not a date that could be compared.
  if (Date.now() < expiryOf(certificate)) return;
  throw new RpcError('UNAUTHENTICATED', `the certificate has expired: ${clip(certificate?.valid_to ?? '')}`);
}

/** A wildcard in place of a name of the right reaches beyond it. */
const covers = (right: string, steps: CheckedPath['steps']): boolean =>
  right
    .split('/')
    .filter((name) => name !== '')
    .every((name, i) => steps[i]?.name === name);

/** Common names and subject alternative names. */
export function namesIn({ subject, subjectaltname }: Pick<PeerCertificate, 'subject' | 'subjectaltname'>): string[] {
  const common = (subject as { CN?: string | string[] } | undefined)?.CN ?? [];
  return [...new Set([...(Array.isArray(common) ? common : [common]), ...alternativeNames(subjectaltname ?? '')])];
}

/**
 * Node.js writes `DNS:a.example, URI:spiffe://b, IP Address:192.0.2.1`, and what has a comma or quotes as JSON. Each
 * entry is read, also of types that have no rights: what is within the quotes of one must not count as another.
 */
const ENTRY = /(?:^|, )([A-Za-z0-9 ]+):((?:[\w.-]+:)?"(?:[^"\\]|\\.)*"|[^,"]*)(?=, |$)/gy;
const WITH_RIGHTS: ReadonlySet<string> = new Set(['DNS', 'URI', 'email', 'IP Address']);

/** None at all of a text with anything that is no entry. */
function alternativeNames(text: string): string[] {
  const entries = [...text.matchAll(ENTRY)];
  if (entries.reduce((length, [entry]) => length + entry.length, 0) !== text.length) return [];
  return entries.flatMap(([, type, name]) => {
    if (!WITH_RIGHTS.has(type!) || name === '') return [];
    if (!name!.includes('"')) return [name!];
    try {
      return [String(JSON.parse(name!))];
    } catch {
      return [];
    }
  });
}
