// The section `northbound`: gNMI over TCP, with TLS 1.3 and client certificates. The unix sockets are in gnmi.ts.
import type * as z from 'zod';
import { formatAddress } from '../model/address.ts';
import { serverAddress } from './address-values.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, unique } from './seen.ts';
import { pemFile } from './bgp-values.ts';
import { certificateName, integer, onOff, statePath } from './values.ts';

/** What the holder of a certificate may do: paths of the state, with all that is below them. */
export interface RightIntent {
  /** A common name, or a subject alternative name, of the client's certificate. */
  readonly name: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface NorthboundIntent {
  readonly address: string;
  readonly port: number;
  /** Absent: no TLS, which the file must allow. PEM files. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientCa: string };
  readonly rights: readonly RightIntent[];
}

const paths = (description: string) => list(value(statePath, 'path'), description).optional();

const right = section(
  {
    name: value(certificateName, "common name, or a subject alternative name, of the client's certificate"),
    read: paths('paths that it may read, with all that is below; default: none'),
    write: paths('paths that it may change, with all that is below; /cnpd/configuration: this file; default: none'),
  },
  'what the holder of a certificate may do',
);

export const schema = section(
  {
    enabled: enabled(),
    address: defaulted(serverAddress, '::', 'where cnpd listens for gNMI over TCP'),
    port: defaulted(integer(1, 65_535), '9339', 'TCP port'),
    certificate: value(
      pemFile,
      "PEM file of this router's certificate, and of those between it and its authority",
    ).optional(),
    key: value(pemFile, 'PEM file of its private key').optional(),
    'client-ca': value(pemFile, 'PEM file of the authority that signs the certificates of clients').optional(),
    plaintext: defaulted(
      onOff,
      'off',
      'on: no TLS; everybody who reaches the port may read the whole state, and so may everybody on the path',
    ),
    rights: list(right, 'who may do what, by the name in the certificate').optional(),
  },
  'gNMI over TCP',
);

interface Sections {
  readonly northbound?: Seen<typeof schema> | undefined;
}

const TLS_KEYS = ['certificate', 'key', 'client-ca'] as const;

function tlsOrPlaintext({ northbound }: Sections, report: Report): void {
  if (!northbound) return;
  const { plaintext = false } = northbound;
  // A plaintext that could not be read may have been meant to be on.
  if ('plaintext' in northbound && northbound.plaintext === undefined) return;
  for (const key of TLS_KEYS) {
    if (!plaintext && !(key in northbound))
      report(['northbound', key], 'a PEM file', `TLS needs certificate, key and client-ca; or say plaintext: on`);
    if (plaintext && key in northbound)
      report(['northbound', 'plaintext'], `off, or no ${key}`, 'with plaintext: on there is no TLS');
  }
  if (!plaintext && (!('rights' in northbound) || northbound.rights?.length === 0))
    report(['northbound', 'rights'], 'at least one right', 'without rights no client may read anything');
  if (plaintext && 'rights' in northbound)
    report(['northbound', 'rights'], 'no rights', 'without certificates clients have no names');
}

function rightsOnce({ northbound }: Sections, report: Report): void {
  const named = (entry: { readonly name?: string | undefined }) => entry.name;
  unique(northbound?.rights, (i) => ['northbound', 'rights', i, 'name'], named, 'name', report);
}

export const rules: readonly Rule<Sections>[] = [tlsOrPlaintext, rightsOnce];

export function build(declared: z.output<typeof schema>): NorthboundIntent {
  const { address, port, certificate, key, 'client-ca': clientCa, rights = [] } = filled(schema, declared);
  return {
    address: formatAddress(address),
    port,
    ...(certificate !== undefined &&
      key !== undefined &&
      clientCa !== undefined && { tls: { certificate, key, clientCa } }),
    rights: rights.map(({ name, read = [], write = [] }) => ({ name, read, write })),
  };
}
