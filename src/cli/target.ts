// `--target`: a cnpd on another router, over TCP.
import type { Command } from 'commander';
import type { TcpTarget } from '../northbound/client.ts';

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

/** @throws Error when a file cannot be read */
export function tcpOf(
  { target, tlsCa, tlsCert, tlsKey, plaintext }: TargetOptions,
  readFile: (path: string) => string | undefined,
): TcpTarget | undefined {
  if (target === undefined) return undefined;
  if (plaintext) return { target };
  const read = (path: string): string => {
    const text = readFile(path);
    if (text === undefined) throw new Error(`${path}: cannot be read`);
    return text;
  };
  return { target, tls: { ca: read(tlsCa!), certificate: read(tlsCert!), key: read(tlsKey!) } };
}
