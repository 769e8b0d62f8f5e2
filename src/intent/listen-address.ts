// A kind of value (values.ts): an address of this router, with the TCP port on which cnpd listens.
import { formatAddress, parseAddress } from '../model/address.ts';
import { fail, ok } from '../model/result.ts';
import { canListen } from './address-values.ts';
import type { ValueKind } from './values.ts';

export interface ListenAddress {
  /** Without brackets. */
  readonly address: string;
  readonly port: number;
}

/** cnpd gives up the capability for lower ones. */
const LEAST_PORT = 1024;
const MOST_PORT = 65_535;
const LISTEN = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9.]{7,15})):([1-9]\d{3,4})$/;

export const formatListenAddress = ({ address, port }: ListenAddress): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

export const listenAddress: ValueKind<ListenAddress> = {
  allowed: `ADDRESS:PORT such as 127.0.0.1:9464 or [::1]:9464, the port from ${LEAST_PORT} to ${MOST_PORT}`,
  json: {
    type: 'string',
    maxLength: 53,
    pattern: '^(\\[[0-9A-Fa-f:.]{2,45}\\]|[0-9.]{7,15}):[1-9]\\d{3,4}$',
  },
  parse: (text) => {
    const match = LISTEN.exec(text);
    const address = match && parseAddress(match[1] ?? match[2]!);
    const port = Number(match?.[3]);
    if (!address || (match[1] === undefined) !== (address.family === 4)) return fail(undefined);
    if (port < LEAST_PORT || port > MOST_PORT || !canListen(address)) return fail(undefined);
    return ok({ address: formatAddress(address), port });
  },
};
