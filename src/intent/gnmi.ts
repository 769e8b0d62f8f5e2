// The section `gnmi`: the northbound socket.
import type * as z from 'zod';
import { GNMI_SOCKET } from '../model/paths.ts';
import { defaulted, filled, section, value } from './schema-parts.ts';
import { groupName, socketPath } from './values.ts';

export interface GnmiIntent {
  readonly gnmiSocket: string;
  /** Name or number of the group that may connect besides root. */
  readonly gnmiSocketGroup?: string;
}

export const schema = section(
  {
    socket: defaulted(socketPath, GNMI_SOCKET, 'unix socket of the gNMI service'),
    'socket-group': value(
      groupName,
      'members of this group may connect to the socket, as root may; default: only root, or the group cnpd runs in',
    ).optional(),
  },
  'northbound',
);

export function build(declared: z.output<typeof schema> | undefined): GnmiIntent {
  const { socket, 'socket-group': group } = filled(schema, declared);
  return { gnmiSocket: socket, ...(group !== undefined && { gnmiSocketGroup: group }) };
}
