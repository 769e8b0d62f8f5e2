// The border guard's map (bpf/lib/guard-maps.h).
import { u32Key, viewOf, structure } from './layout.ts';

/** In dist/bpf/guard.bpf.o: tc ingress and egress of a border port. */
export const GUARD_PROGRAMS = { ingress: 'guard_ingress', egress: 'guard_egress' } as const;

export const GUARD_MAPS = { ports: 'guard_ports' } as const;

export const GUARD_PORT_SIZE = 4;

/** The key is the interface index. */
export const guardPortKey = (ifindex: number): Uint8Array => u32Key(ifindex);

/** `udpPort`: destination port of the notices that are dropped. */
export const encodeGuardPort = (port: { readonly udpPort: number }): Uint8Array => structure(GUARD_PORT_SIZE, (view) => view.setUint16(0, port.udpPort));

export const decodeGuardPort = (value: Uint8Array): { udpPort: number } => ({ udpPort: viewOf(value).getUint16(0) });
