// This router's ports as the proxy's program knows them (bpf/lib/proxy/port-roles.h), for the reverse-path check: keys
// and values of `port_roles` and `doubted_ports`.
import { LITTLE_ENDIAN, readU32Key, structure, u32Key } from './layout.ts';

/** PORT_SHARES in C: if there are more ports, some have a share in common. */
export const PORT_SHARES = 64;
/** struct port_role. */
export const PORT_ROLE_SIZE = 8;

export interface PortRole {
  readonly ifindex: number;
  /** The ports of a bridge or bond have its index in common; otherwise the port's own. */
  readonly link: number;
  /** Sources behind a next hop are believed at every core port. */
  readonly isCore: boolean;
  /** Share of the table of unconfirmed connections. */
  readonly share: number;
}

export const portRoleKey = ({ ifindex }: Pick<PortRole, 'ifindex'>): Uint8Array => u32Key(ifindex);

export const encodePortRole = ({ link, isCore, share }: PortRole): Uint8Array =>
  structure(PORT_ROLE_SIZE, (view, bytes) => {
    view.setUint32(0, link, LITTLE_ENDIAN);
    bytes[4] = Number(isCore);
    bytes[5] = share % PORT_SHARES;
  });

/** The port of an entry of `doubted_ports`. */
export const doubtedPort = (key: Uint8Array): number => readU32Key(key);
