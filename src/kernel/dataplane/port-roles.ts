// What the proxy's program knows of this router's ports (bpf/lib/proxy/port-roles.h), for the reverse-path check: keys
// and values of `port_roles` and `doubted_ports`.
import { LITTLE_ENDIAN, readU32Key, structure, u32Key } from './layout.ts';

/** Of PORT_SHARES: more ports than these share. */
export const PORT_SHARES = 64;
/** struct port_role. */
export const PORT_ROLE_SIZE = 8;

export interface PortRole {
  readonly ifindex: number;
  /** Ports of one bridge or bond are one: its index; else the port's own. */
  readonly link: number;
  /** Sources behind a next hop are believed at any port of the core. */
  readonly isCore: boolean;
  /** Of the table of unconfirmed connections, by a number of its own. */
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
