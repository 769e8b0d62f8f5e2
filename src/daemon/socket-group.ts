// The group of the northbound socket, by name or number (`gnmi.socket-group`).
import { groupNumber } from '../kernel/ffi/libc.ts';

/** @throws Error that names the missing group */
export function socketGroup(group: string): number {
  const number = /^\d+$/.test(group) ? Number(group) : groupNumber(group);
  if (number === undefined)
    throw new Error(
      `gnmi.socket-group: there is no group ${group}: \`groupadd --system ${group}\`, or change it in cnpd.yaml`,
    );
  return number;
}
