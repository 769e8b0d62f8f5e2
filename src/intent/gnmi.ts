// The section `gnmi`: the northbound socket.
import type * as z from 'zod';
import { GNMI_SOCKET } from '../model/paths.ts';
import { defaulted, filled, section, value } from './schema-parts.ts';
import { groupName, socketPath } from './values.ts';

export interface GnmiIntent {
  readonly gnmiSocket: string;
  /** Name or number of the group that may connect besides root. */
  readonly gnmiSocketGroup?: string;
  /** The group that may also change members of groups (gNMI Set). */
  readonly gnmiSetGroup?: string;
}

export const schema = section(
  {
    socket: defaulted(socketPath, GNMI_SOCKET, 'unix socket of the gNMI service'),
    'socket-group': value(
      groupName,
      'members of this group may connect to the socket, as root may; default: only root, or the group cnpd runs in',
    ).optional(),
    'set-group': value(
      groupName,
      'members of this group may declare members of End.MT groups at run time (gNMI Set), as root may; ' +
        'default: only root',
    ).optional(),
  },
  'the unix sockets of gNMI, and who may connect',
);

export function build(declared: z.output<typeof schema> | undefined): GnmiIntent {
  const { socket, 'socket-group': group, 'set-group': setGroup } = filled(schema, declared);
  return {
    gnmiSocket: socket,
    ...(group !== undefined && { gnmiSocketGroup: group }),
    ...(setGroup !== undefined && { gnmiSetGroup: setGroup }),
  };
}
