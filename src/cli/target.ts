// `--target`: a cnpd on another router, over TCP.
import type { Command } from 'commander';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../model/error-text.ts';
import type { TcpTarget } from '../northbound/client.ts';
import { FileError } from './file-error.ts';

export interface TargetOptions {
  /** HOST:PORT */
  readonly target?: string;
  /** PEM files. */
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly plaintext?: boolean;
}

/** What they examine or change is on this machine. */
const LOCAL = ['doctor', 'uninstall', 'clear', 'check', 'completion'];

/** What is wrong with the options, as a sentence. */
export function targetError(options: TargetOptions & { readonly socketGiven?: boolean }, command: Command) {
  const { target, tlsCa, tlsCert, tlsKey, plaintext } = options;
  const tls = [tlsCa, tlsCert, tlsKey].filter((file) => file !== undefined);
  if (target === undefined)
    return tls.length > 0 || plaintext ? '--tls-ca, --tls-cert, --tls-key and --plaintext need --target' : undefined;
  if (!/^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/]+):\d{1,5}$/.test(target))
    return '--target: allowed: HOST:PORT, with an IPv6 address in brackets, such as [2001:db8::1]:9339';
  if (options.socketGiven) return '--target and --socket name different cnpds: give one of them';
  if (plaintext && tls.length > 0) return '--plaintext has no certificates';
  if (!plaintext && tls.length < 3) return '--target needs --tls-ca, --tls-cert and --tls-key, or --plaintext';
  const name = topName(command);
  return LOCAL.includes(name) ? `${name} is about this machine: not with --target` : undefined;
}

function topName(command: Command): string {
  let at = command;
  while (at.parent?.parent) at = at.parent;
  return at.name();
}

/** @throws FileError when a file cannot be read */
export function tcpOf(
  { target, tlsCa, tlsCert, tlsKey, plaintext }: TargetOptions,
  readFile: (path: string) => string | undefined,
): TcpTarget | undefined {
  if (target === undefined) return undefined;
  if (plaintext) return { target };
  const read = (path: string): string => {
    const text = readFile(path);
    if (text === undefined) throw new FileError(`${path}: cannot be read`);
    return text;
  };
  return { target, tls: { ca: read(tlsCa!), certificate: read(tlsCert!), key: read(tlsKey!) } };
}

/** Which of the files OpenSSL refuses, whose own words name none. */
export function tlsFileError(
  { tlsCert, tlsKey }: TargetOptions,
  tls: NonNullable<TcpTarget['tls']>,
): FileError | undefined {
  const refusal = (options: Parameters<typeof createSecureContext>[0]): string | undefined => {
    try {
      createSecureContext(options);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  const cert = refusal({ cert: tls.certificate });
  if (cert !== undefined) return new FileError(`--tls-cert ${tlsCert} is no certificate in PEM: ${cert}`);
  const key = refusal({ key: tls.key });
  if (key !== undefined) return new FileError(`--tls-key ${tlsKey} is no private key in PEM: ${key}`);
  const both = refusal({ cert: tls.certificate, key: tls.key });
  return both === undefined
    ? undefined
    : new FileError(
        `--tls-cert ${tlsCert} and --tls-key ${tlsKey} do not belong together: give the key of that certificate`,
      );
}
