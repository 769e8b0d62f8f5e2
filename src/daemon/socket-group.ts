// The group of a northbound socket, by name or number (`gnmi.socket-group`, `gnmi.set-group`).
import { groupNumber } from '../kernel/ffi/libc.ts';

/** @throws Error that names the missing group */
export function socketGroup(group: string, key: 'socket-group' | 'set-group' = 'socket-group'): number {
  const number = /^\d+$/.test(group) ? Number(group) : groupNumber(group);
  if (number === undefined)
    throw new Error(
      `gnmi.${key}: there is no group ${group}: \`groupadd --system ${group}\`, or change it in cnpd.yaml`,
    );
  return number;
}
